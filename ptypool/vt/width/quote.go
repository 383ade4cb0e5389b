package width

import (
	"fmt"
	"strconv"
)

// Quote returns p as a Go string literal, which a person may type again. If the literal takes more
// than that many cells, or p is only the beginning of so many bytes, Quote returns its beginning
// and the number of bytes.
func Quote(p []byte, bytes, cells int) string {
	text := strconv.QuoteToGraphic(string(p))
	if String(text) > cells || bytes > len(p) {
		text = Cut(text, cells, "…") + fmt.Sprintf(" (%d bytes)", bytes)
	}
	return text
}
