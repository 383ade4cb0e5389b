package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Lines is a Transport of one message per line, as the SSH subsystem has it.
type Lines struct {
	r     *bufio.Reader
	w     io.Writer
	close func(reason string) error
	max   int
}

// NewLines returns a Transport that reads messages of at most max bytes from r
// and writes them to w. close ends both and may be called more than once.
func NewLines(r io.Reader, w io.Writer, max int, close func(reason string) error) *Lines {
	const buffer = 4 << 10
	return &Lines{r: bufio.NewReaderSize(r, buffer), w: w, max: max, close: close}
}

// Read returns the next line that is not empty. A line that is too long is
// passed over and reported.
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
			return nil, err // half a line is no message
		case tooLong:
			return nil, &MessageError{Reason: fmt.Sprintf("the message is longer than %d bytes", l.max)}
		}
		if msg = bytes.TrimSpace(msg); len(msg) > 0 {
			return msg, nil
		}
		msg = nil
	}
}

// HalfCloses says that io.EOF of Read is the end of what the peer says and no more.
func (l *Lines) HalfCloses() {}

// Write sends a message and its line end.
func (l *Lines) Write(p []byte) error {
	// The caller's buffer has room for one more byte or grows; either way it
	// is overwritten next time.
	_, err := l.w.Write(append(p, '\n'))
	return err
}

// Close ends the transport.
func (l *Lines) Close(reason string) error { return l.close(reason) }
