package host

import (
	"strings"
	"unicode/utf8"

	"termhost/ahp"
)

// maxTitle is the longest title in bytes: more than fits any tab or list.
const maxTitle = 256

// CleanTitle returns s without control characters and not longer than 256 bytes.
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

// Printable returns s as valid UTF-8 without control characters (C0, DEL, C1)
// and without the marks that turn the direction of what follows, so that it can
// be shown in somebody's terminal.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x20, r >= 0x7f && r < 0xa0, r == utf8.RuneError:
			return -1
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // Unicode TR 9, explicit directions
			return -1
		}
		return r
	}, s)
}

// clip bounds what of a peer's own words is sent back to it.
func clip(s string) string { return s[:min(len(s), ahp.MaxURI)] }
