package mcpproxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
)

const (
	// maxLine bounds a message of the client's, in bytes: as at the host.
	maxLine = 4 << 20
	// maxAnswer bounds one of the host's.
	maxAnswer = 64 << 20
	// maxKnown is how much is kept of the head and of the tail of a line that is too long.
	maxKnown = 4 << 10
	// maxQueue is how many bytes wait for a side that does not read. Then the other side is not
	// read either.
	maxQueue = 16 << 20
)

// input is a line.
type input struct {
	link *link // it has come from there; nil: from the client
	line []byte
	// long: the line was too long, and this is its head. tail is its end.
	long bool
	tail []byte
	err  error // there are no more lines; io.EOF: they have ended
}

// readLines passes the lines of r on, without the blanks around them, until emit returns false or
// r ends. Empty lines are left out.
func readLines(r io.Reader, limit int, emit func(input) bool) {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		next, err := readLine(in, limit)
		next.line = bytes.Trim(next.line, " \t\r\n")
		if len(next.line) > 0 && !emit(next) {
			return
		}
		if err != nil {
			emit(input{err: err})
			return
		}
	}
}

// readLine reads a line. The last one may lack its line end; then there is an error, too.
func readLine(in *bufio.Reader, limit int) (next input, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		switch {
		case next.long:
			next.tail = append(next.tail, piece...)
			next.tail = bytes.Clone(next.tail[max(0, len(next.tail)-maxKnown):])
		case len(next.line)+len(piece) > limit:
			whole := append(next.line, piece...)
			next.tail = bytes.Clone(whole[max(0, len(whole)-maxKnown):])
			next.line, next.long = bytes.Clone(whole[:min(maxKnown, len(whole))]), true
		default:
			next.line = append(next.line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return next, err
		}
	}
}

// outbox writes lines in their order. It has a goroutine of its own, so that nobody waits for a
// side that does not read.
type outbox struct {
	w      io.Writer
	room   chan struct{} // 1 deep; has an element after something was written
	broken chan struct{} // closed when a write has failed
	done   chan struct{} // closed when nothing is written any more

	mu     sync.Mutex
	more   *sync.Cond // lines or closed have changed
	lines  [][]byte
	size   int // of lines, and of what is being written
	closed bool
}

func newOutbox(w io.Writer) *outbox {
	o := &outbox{w: w, room: make(chan struct{}, 1), broken: make(chan struct{}),
		done: make(chan struct{})}
	o.more = sync.NewCond(&o.mu)
	go o.write()
	return o
}

// put has a line written.
func (o *outbox) put(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.lines = append(o.lines, line)
	o.size += len(line)
	o.more.Signal()
}

// full reports whether too much waits to be written.
func (o *outbox) full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.size > maxQueue
}

// close takes no more lines. What there is is written on, and then done is closed.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.more.Signal()
}

// next waits for a line; ok is false if there will be none.
func (o *outbox) next() (line []byte, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.lines) == 0 && !o.closed {
		o.more.Wait()
	}
	if len(o.lines) == 0 {
		return nil, false
	}
	line, o.lines = o.lines[0], o.lines[1:]
	return line, true
}

func (o *outbox) write() {
	defer close(o.done)
	for {
		line, ok := o.next()
		if !ok {
			return
		}
		if _, err := o.w.Write(append(bytes.Clone(line), '\n')); err != nil {
			close(o.broken)
			return
		}
		o.mu.Lock()
		o.size -= len(line)
		o.mu.Unlock()
		select {
		case o.room <- struct{}{}:
		default:
		}
	}
}
