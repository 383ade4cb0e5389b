package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp"
	"termhost/ahp/rpc"
)

// maxLine bounds a message of a client, in bytes.
const maxLine = 4 << 20

// Lines is a transport of messages in lines, over one stream for each direction. A line that is no
// message is answered with an error, and the session goes on. Close closes the stream to the peer.
type Lines struct {
	in  *bufio.Reader
	out io.WriteCloser
	mu  sync.Mutex // one line is written at a time
	one sync.Once
	err error
}

// NewLines returns a transport. in is read until it ends, which the caller has Close bring about.
func NewLines(in io.Reader, out io.WriteCloser) *Lines {
	return &Lines{in: bufio.NewReader(in), out: out}
}

// Connect returns the connection, which is the transport itself.
func (l *Lines) Connect(context.Context) (sdk.Connection, error) { return l, nil }

// Read returns the next message.
func (l *Lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			continue
		}
		if code, reason := fault(line); reason != "" {
			if err := l.refuse(code, reason); err != nil {
				return nil, err
			}
			continue
		}
		msg, err := jsonrpc.DecodeMessage(line)
		if err == nil {
			return msg, nil
		}
		const reason = "this is no message of JSON-RPC 2.0"
		if err := l.refuse(ahp.CodeInvalidRequest, reason); err != nil {
			return nil, err
		}
	}
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

var errLongLine = errors.New("a line is longer than 4 MiB")

// line returns the next line, without the blanks around it.
func (l *Lines) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := l.in.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > maxLine:
			return nil, errLongLine
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(line) == 0:
			return nil, err
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

// refuse answers what has no id that is known.
func (l *Lines) refuse(code int, reason string) error {
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil,
		"error": map[string]any{"code": code, "message": reason}})
	if err != nil {
		return err
	}
	return l.write(answer)
}

// Write writes a message.
func (l *Lines) Write(_ context.Context, m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return l.write(text)
}

func (l *Lines) write(text []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.out.Write(append(text, '\n'))
	return err
}

// Close ends the connection.
func (l *Lines) Close() error {
	l.one.Do(func() { l.err = l.out.Close() })
	return l.err
}

// SessionID is empty: the stream is the session.
func (l *Lines) SessionID() string { return "" }
