package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp"
	"termhost/ahp/rpc"
)

const (
	// maxLine bounds a message of a client, in bytes.
	maxLine = 4 << 20
	// maxCalls bounds the requests that a client has under way over lines, waiting calls included,
	// and maxCallBytes what they take together, in bytes. HTTP has such bounds for an account.
	maxCalls     = 128
	maxCallBytes = 16 << 20
)

// Lines is a transport of messages in lines, over one stream for each direction. A line that is no
// message, or too long, is answered with an error, and so is a request beyond the bounds; the
// session goes on. Close closes the stream to the peer. A Lines serves one session.
type Lines struct {
	in   *bufio.Reader
	out  io.WriteCloser
	one  sync.Once
	err  error
	pace func(ctx context.Context, bytes int) error // charges for a line; nil: lines are free

	writing sync.Mutex // one line is written at a time

	mu      sync.Mutex
	calls   map[jsonrpc.ID]int // bytes of the requests that are under way
	bytes   int                // all of them
	answers int                // that are being written
	written *sync.Cond         // signalled when there are fewer of them

	updates  map[string][]byte // that wait to be written, by what they are of
	updating bool              // a goroutine writes them
}

// NewLines returns a transport. in is read until it ends, which the caller has Close bring about.
func NewLines(in io.Reader, out io.WriteCloser) *Lines {
	l := &Lines{in: bufio.NewReader(in), out: out, calls: map[jsonrpc.ID]int{}}
	l.written = sync.NewCond(&l.mu)
	return l
}

// Connect returns the connection, which is the transport itself.
func (l *Lines) Connect(context.Context) (sdk.Connection, error) { return l, nil }

// Read returns the next message.
func (l *Lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		line, err := l.line()
		if err != nil && !errors.Is(err, errLongLine) {
			return nil, err
		}
		if l.pace != nil {
			if err := l.pace(ctx, len(line)); err != nil {
				return nil, err
			}
		}
		if len(line) == 0 && err == nil {
			continue
		}
		msg, refused := l.message(line, err)
		if refused == nil {
			return msg, nil
		}
		if err := l.Write(ctx, refused); err != nil {
			return nil, err
		}
	}
}

// message returns the message that a line is, or the answer that refuses it. failed is
// [errLongLine] or nil.
func (l *Lines) message(line []byte, failed error) (jsonrpc.Message, *jsonrpc.Response) {
	if failed != nil {
		return nil, refusal(jsonrpc.ID{}, ahp.CodeInvalidRequest, failed.Error())
	}
	if code, reason := fault(line); reason != "" {
		return nil, refusal(jsonrpc.ID{}, code, reason)
	}
	msg, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, refusal(jsonrpc.ID{}, ahp.CodeInvalidRequest,
			"this is not a JSON-RPC 2.0 message")
	}
	if r, ok := msg.(*jsonrpc.Request); ok && r.IsCall() {
		if refused := l.enter(r.ID, len(line)); refused != nil {
			return nil, refused
		}
	}
	return msg, nil
}

// enter adds a request to those that are under way, or refuses it. While the client does not take
// its answers, it waits.
func (l *Lines) enter(id jsonrpc.ID, bytes int) *jsonrpc.Response {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.answers >= maxCalls {
		l.written.Wait()
	}
	_, twice := l.calls[id]
	switch {
	case twice: // an answer with the id would be taken for that of the other one
		return refusal(jsonrpc.ID{}, ahp.CodeInvalidRequest,
			"another request with this id is under way")
	case len(l.calls) >= maxCalls:
		return refusal(id, ahp.CodeInvalidRequest, fmt.Sprintf("%d calls are under way already, "+
			"and this one was not begun: wait for one of them", maxCalls))
	case l.bytes+bytes > maxCallBytes:
		return refusal(id, ahp.CodeInvalidRequest, "the calls under way are too long together, "+
			"and this one was not begun: wait for one of them")
	}
	l.calls[id] = bytes
	l.bytes += bytes
	return nil
}

// fault returns what is wrong with a line; "": it may be a message.
func fault(line []byte) (code int, reason string) {
	if err := rpc.Check(line); err != nil {
		return err.Code, err.Message
	}
	switch line[0] {
	case '[':
		return ahp.CodeInvalidRequest, "batches are not supported: send one message at a time"
	case '{':
		return 0, ""
	}
	return ahp.CodeInvalidRequest, "a message is a JSON object"
}

var errLongLine = errors.New("a message has at most 4 MiB")

// line returns the next line, without the blanks around it. Of one that is too long it passes over
// the rest, and returns [errLongLine].
func (l *Lines) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		piece, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(piece) > maxLine; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(line) == 0:
			return nil, err
		case long:
			return nil, errLongLine
		}
		return trimmed(line), nil
	}
}

func trimmed(line []byte) []byte {
	for len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
		line = line[1:]
	}
	for len(line) > 0 {
		switch line[len(line)-1] {
		case '\n', '\r', ' ', '\t':
			line = line[:len(line)-1]
		default:
			return line
		}
	}
	return line
}

// refusal returns the answer to a request; without an id, to what has none that is known.
func refusal(id jsonrpc.ID, code int, reason string) *jsonrpc.Response {
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: int64(code), Message: reason}}
}

// Write writes a message.
func (l *Lines) Write(_ context.Context, m jsonrpc.Message) error {
	r, isAnswer := m.(*jsonrpc.Response)
	text, err := jsonrpc.EncodeMessage(m)
	if isAnswer && !r.ID.IsValid() { // the SDK leaves it out
		text, err = json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": r.Error})
	}
	if err != nil {
		return err
	}
	if isAnswer {
		defer l.answer(r.ID)()
	}
	if n, ok := m.(*jsonrpc.Request); ok && n.Method == resourceUpdated {
		l.update(string(n.Params), text)
		return nil
	}
	return l.writeLine(text)
}

func (l *Lines) writeLine(text []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err := l.out.Write(append(text, '\n'))
	return err
}

// resourceUpdated is the method of a notification that the SDK sends to one session after the
// other, so that one whose client reads nothing must not have others wait.
const resourceUpdated = "notifications/resources/updated"

// update writes an update, later, unless the same one waits to be written already.
func (l *Lines) update(of string, text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.updates == nil {
		l.updates = map[string][]byte{}
	}
	l.updates[of] = text
	if !l.updating {
		l.updating = true
		go l.writeUpdates()
	}
}

func (l *Lines) writeUpdates() {
	for {
		l.mu.Lock()
		var text []byte
		for of := range l.updates {
			text = l.updates[of]
			delete(l.updates, of)
			break
		}
		l.updating = text != nil
		l.mu.Unlock()
		if text == nil || l.writeLine(text) != nil { // an error is the stream's end
			return
		}
	}
}

// answer takes a request out of those that are under way: its client may use the id as soon as it
// has the answer. written is to be called when that is written.
func (l *Lines) answer(id jsonrpc.ID) (written func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes -= l.calls[id]
	delete(l.calls, id)
	l.answers++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.answers--
		l.written.Broadcast()
	}
}

// Close ends the connection.
func (l *Lines) Close() error {
	l.one.Do(func() { l.err = l.out.Close() })
	return l.err
}

// SessionID is empty: the stream is the session.
func (l *Lines) SessionID() string { return "" }
