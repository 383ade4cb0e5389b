package transport

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Lines is a Transport that writes each message as a line, such as AHP's SSH
// subsystem.
type Lines struct {
	r     *bufio.Reader
	w     io.Writer
	close func(reason string) error
	max   int
}

// NewLines returns a Transport that reads messages of at most max bytes from r
// and writes messages to w. close ends both and may be called more than once.
func NewLines(r io.Reader, w io.Writer, max int, close func(reason string) error) *Lines {
	const buffer = 4 << 10
	return &Lines{r: bufio.NewReaderSize(r, buffer), w: w, max: max, close: close}
}

// Read returns the next line that is not empty. It skips a line that is too long
// and returns a [*MessageError] for it.
func (l *Lines) Read() ([]byte, error) {
	var msg []byte
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		if !tooLong {
			msg = append(msg, part...)
			tooLong = len(msg) > l.max
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err // a line without its end is not a message
		case tooLong:
			return nil, &MessageError{fmt.Sprintf("the message is longer than %d bytes", l.max)}
		}
		if msg = bytes.TrimSpace(msg); len(msg) > 0 {
			return msg, nil
		}
		msg = nil
	}
}

// HalfCloses makes Lines a [HalfCloser]: after io.EOF from Read the peer may still
// be reading.
func (l *Lines) HalfCloses() {}

// Write sends a message and its line end.
func (l *Lines) Write(p []byte) error {
	return l.WriteFrames(append(p, '\n'))
}

// BeginFrame begins a line.
func (l *Lines) BeginFrame(dst []byte) (framed []byte, at int) { return dst, len(dst) }

// EndFrame ends a line.
func (l *Lines) EndFrame(dst []byte, _ int) []byte { return append(dst, '\n') }

// WriteFrames sends lines.
func (l *Lines) WriteFrames(p []byte) error {
	_, err := l.w.Write(p)
	return err
}

// Close ends the transport.
func (l *Lines) Close(reason string) error { return l.close(reason) }
