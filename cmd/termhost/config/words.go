package config

import (
	"strconv"
	"strings"
)

// quoteAll writes words as `"a", "b" or "c"`.
func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	return joinOr(quoted)
}

// joinOr writes words as "a, b or c".
func joinOr(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
