package acpproxy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"termhost/ahp"
)

// ACP's methods that the proxy looks at, apart from the terminal methods.
const (
	methodInitialize = "initialize"
	methodUpdate     = "session/update"
	methodPermission = "session/request_permission"
	methodCancel     = "$/cancel_request"
)

// message is a JSON-RPC message, as far as the proxy looks at it. Its fields are parts of line.
type message struct {
	line   []byte // the whole message, with its line end
	id     []byte // nil: there is none, or it is null
	nullID bool   // there is an id, and it is null
	method string // "": the message is a response
	params value
	result value
}

// parsedDepth is how deep parse looks into a message: as deep as the content of a tool call, which
// is a member of an object that is a member of the params.
const parsedDepth = 3

// parse looks at a line. ok is false if that is not a JSON object; such lines are passed on like
// all others.
func parse(line []byte) (m message, ok bool) {
	top, err := locate(line, parsedDepth)
	if err != nil || !top.isObject(line) {
		return message{}, false
	}
	m = message{line: line, params: top.get("params"), result: top.get("result")}
	if id := top.get("id").of(line); bytes.Equal(id, []byte("null")) {
		m.nullID = true
	} else if len(id) > 0 {
		m.id = id
	}
	m.method = textOf(top.get("method").of(line))
	return m, true
}

func (m *message) isRequest() bool  { return m.method != "" && m.id != nil }
func (m *message) isResponse() bool { return m.method == "" && m.id != nil }

// maxLine bounds one message, in bytes. It is more than ten times the largest that either of the
// official SDKs takes.
const maxLine = 128 << 20

// maxKeptBuffer is how large the buffer of a long line may be to be kept for the next one, in
// bytes.
const maxKeptBuffer = 1 << 20

var errTooLong = errors.New("a message is longer than 128 MiB")

// lines reads messages, one per line.
type lines struct {
	r   *bufio.Reader
	buf []byte // for lines that do not fit into r's buffer
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line with its line end. It is valid until next is called again. The last
// line may lack its line end.
func (l *lines) next() ([]byte, error) {
	if cap(l.buf) > maxKeptBuffer {
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

// messageWriter writes messages to the editor or to the agent, each as a whole.
type messageWriter struct {
	mu sync.Mutex // held while a message is written, for as long as the other side takes to read it
	w  io.Writer
}

// write writes p, a message with its line end.
func (w *messageWriter) write(p []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writeLocked(p)
}

// writeLocked is write for a caller that holds mu.
func (w *messageWriter) writeLocked(p []byte) error {
	_, err := w.w.Write(p)
	return err
}

// answer writes the response to a request.
func (w *messageWriter) answer(id, result []byte) error {
	msg := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	msg = append(append(msg, `,"result":`...), result...)
	return w.write(append(msg, "}\n"...))
}

// refuse writes the response to a request that has failed.
func (w *messageWriter) refuse(id []byte, e *ahp.Error) error {
	return w.write(append(ahp.Encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *ahp.Error      `json:"error"`
	}{"2.0", id, e}), '\n'))
}
