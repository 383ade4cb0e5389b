package vt

import (
	"strings"
	"unicode/utf8"
)

// Printable returns s as valid UTF-8 without what is [Invisible], so that it can be shown in
// anybody's terminal and hides nothing.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || Invisible(r) {
			return -1
		}
		return r
	}, s)
}
