package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"termhost/ahp"
)

// message is a JSON-RPC message as far as the proxy looks at it. Its fields are
// parts of line.
type message struct {
	line   []byte // all of it, with its end
	id     []byte // nil: it has none, or null
	nullID bool   // it has an id, which is null
	method string // "": a response
	params span   // empty: there are none
	result span   // empty: there is none
}

// parse looks at a line. ok is false for what is no JSON object; such lines are
// passed on like all others.
func parse(line []byte) (m message, ok bool) {
	top, ok := object(line, 0)
	if !ok {
		return message{}, false
	}
	m = message{line: line, params: top["params"], result: top["result"]}
	if id := top["id"].of(line); bytes.Equal(id, []byte("null")) {
		m.nullID = true
	} else if len(id) > 0 {
		m.id = id
	}
	m.method = textOf(top["method"].of(line))
	return m, true
}

func (m *message) isRequest() bool  { return m.method != "" && m.id != nil }
func (m *message) isResponse() bool { return m.method == "" && m.id != nil }

// maxLine bounds one message, in bytes: more than ten of the largest that either
// of the official SDKs takes.
const maxLine = 128 << 20

// keepLine is how large a line's memory may be to be used for the next one.
const keepLine = 1 << 20

var errTooLong = errors.New("a message is longer than 128 MiB")

// lines reads one message per line.
type lines struct {
	r   *bufio.Reader
	buf []byte
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line with its end, which is valid until the call after
// this one. What comes behind the last line end is a line too.
func (l *lines) next() ([]byte, error) {
	if cap(l.buf) > keepLine {
		l.buf = nil
	}
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.buf) == 0 && err == nil {
			return part, nil
		}
		l.buf = append(l.buf, part...)
		switch {
		case err == nil, err == io.EOF && len(l.buf) > 0:
			return l.buf, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(l.buf) > maxLine:
			return nil, errTooLong
		}
	}
}

// outlet writes whole messages to one side.
type outlet struct {
	mu sync.Mutex // held while a message is written, for as long as the side takes
	w  io.Writer
}

// write writes p, a message with its line end.
func (o *outlet) write(p []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.writeLocked(p)
}

func (o *outlet) writeLocked(p []byte) error {
	_, err := o.w.Write(p)
	return err
}

// answer writes the response to a request.
func (o *outlet) answer(id, result []byte) error {
	msg := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	msg = append(append(msg, `,"result":`...), result...)
	return o.write(append(msg, "}\n"...))
}

// refuse writes a response that is an error.
func (o *outlet) refuse(id []byte, e *ahp.Error) error {
	return o.write(append(encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *ahp.Error      `json:"error"`
	}{"2.0", id, e}), '\n'))
}
