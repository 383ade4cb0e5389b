package host

import (
	"strings"
	"unicode/utf8"

	"termhost/ahp"
	"termhost/ptypool/vt"
)

// maxTitle is the length of the longest title in bytes: more than any tab or list has room for.
const maxTitle = 256

// CleanTitle returns s as [Printable] does, not longer than 256 bytes.
func CleanTitle(s string) string {
	s = Printable(s)
	if len(s) > maxTitle {
		s = s[:maxTitle]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	return strings.TrimSpace(s)
}

// Printable is [vt.Printable].
func Printable(s string) string { return vt.Printable(s) }

// clip cuts a string of a peer's that is sent back to it.
func clip(s string) string { return s[:min(len(s), ahp.MaxURI)] }
