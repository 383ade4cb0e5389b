package keyboard

import "bytes"

// FirstLine returns the length of the first line of p with its end, \r or \n; all of p if it does
// not end. pastes: what is between the brackets of a paste ends no line (xterm ctlseqs, "Bracketed
// Paste Mode").
func FirstLine(p []byte, pastes bool) int {
	n := 0
	for {
		end := bytes.IndexAny(p[n:], "\r\n")
		if end < 0 {
			return len(p)
		}
		begin := bytes.Index(p[n:n+end], []byte(pasteBegin))
		if !pastes || begin < 0 {
			return n + end + 1
		}
		n += begin + len(pasteBegin)
		closed := bytes.Index(p[n:], []byte(pasteEnd))
		if closed < 0 {
			return len(p)
		}
		n += closed + len(pasteEnd)
	}
}
