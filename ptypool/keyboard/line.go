package keyboard

import "bytes"

// FirstLine returns the length of the first line of p with its end, \r or \n; all of p if it does
// not end. pastes: what is between the brackets of a paste that p begins with ends no line (xterm
// ctlseqs, "Bracketed Paste Mode"). Behind other keys a bracket may be what was typed.
func FirstLine(p []byte, pastes bool) int {
	n := 0
	for pastes && bytes.HasPrefix(p[n:], []byte(PasteBegin)) {
		closed := bytes.Index(p[n:], []byte(pasteEnd))
		if closed < 0 {
			return len(p)
		}
		n += closed + len(pasteEnd)
	}
	if end := bytes.IndexAny(p[n:], "\r\n"); end >= 0 {
		return n + end + 1
	}
	return len(p)
}
