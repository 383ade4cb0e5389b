package vt

import "bytes"

// LineEnds replaces each \n without a \r before it by \r\n, however the stream is cut. The line
// discipline of a pty does the same (termios(3), ONLCR); LineEnds is for the output of a program
// without a terminal.
type LineEnds struct{ last byte } // last is the last byte of what came before

// Append appends p, converted, to dst. At most twice the length of p is appended.
func (l *LineEnds) Append(dst, p []byte) []byte {
	if len(p) == 0 {
		return dst
	}
	last := l.last
	l.last = p[len(p)-1]
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			return append(dst, p...)
		}
		if i > 0 {
			last = p[i-1]
		}
		dst = append(dst, p[:i]...)
		if last != '\r' {
			dst = append(dst, '\r')
		}
		dst, last, p = append(dst, '\n'), '\n', p[i+1:]
	}
}
