package host

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"termhost/ahp"
	"termhost/ptypool/vt"
)

// maxTitle is the length of the longest title in bytes: more than any tab or list has room for.
const maxTitle = 256

// WantTitle returns what stands before a terminal's title at a viewer whose person n terminals
// want.
func WantTitle(n int) string {
	if n == 1 {
		return "1 wants you · "
	}
	return fmt.Sprintf("%d want you · ", n)
}

// wantTitle finds what WantTitle returns, also within the title of a program such as tmux.
var wantTitle = regexp.MustCompile(`[0-9]+ wants? you ·( |$)`)

// CleanTitle returns s as [Printable] does, not longer than 256 bytes, and without what a viewer
// has put before it: in a terminal that shows another one, a viewer's title comes back as that of a
// program.
func CleanTitle(s string) string {
	s = wantTitle.ReplaceAllString(Printable(s), "")
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
