package viewer

import "io"

// keptBytes is the largest buffer, in bytes, that a converter keeps for its next write: a packet's
// worth (RFC 4253 section 6.1).
const keptBytes = 32 << 10

// fromCRLF removes the \r of line ends, however the output is split, so that a program's output on
// a pty reads as if it had been on a pipe.
type fromCRLF struct {
	w    io.Writer
	held bool // the last write ended with \r
	buf  []byte
}

// Write converts p, which is not kept.
func (w *fromCRLF) Write(p []byte) (int, error) {
	out := w.buf[:0]
	for _, b := range p {
		if w.held && b != '\n' {
			out = append(out, '\r')
		}
		// Of \r\r\n one \r stays: the program itself ended the line with \r\n.
		if w.held = b == '\r'; !w.held {
			out = append(out, b)
		}
	}
	w.buf = out
	if len(out) > 0 {
		if _, err := w.w.Write(out); err != nil {
			return 0, err
		}
	}
	if cap(w.buf) > keptBytes {
		w.buf = nil
	}
	return len(p), nil
}

// flush writes what is held back. It is called at the end.
func (w *fromCRLF) flush() error {
	if !w.held {
		return nil
	}
	w.held = false
	_, err := w.w.Write([]byte{'\r'})
	return err
}
