package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/ahp/transport"
)

// slowSink takes each write after a pause, and none once it is closed.
type slowSink struct {
	pause time.Duration

	mu     sync.Mutex
	text   strings.Builder
	closed chan struct{}
	reason string
}

func (s *slowSink) Write(p []byte) (int, error) {
	select {
	case <-time.After(s.pause):
	case <-s.closed:
		return 0, io.ErrClosedPipe
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *slowSink) close(reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason == "" {
		s.reason = reason
		close(s.closed)
	}
	return nil
}

// answers has the host serve a peer that sends these lines and then half-closes. It
// returns what the host has sent, and why it ended.
func answers(t *testing.T, h *host.Host, sink *slowSink, extend func(*host.Conn) rpc.Extension,
	lines ...string) (string, error) {
	t.Helper()
	c, err := h.Connect(principals()["alice"], host.DoorSubsystem)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sink.closed = make(chan struct{})
	in := strings.NewReader(strings.Join(lines, "\n") + "\n")
	l := transport.NewLines(in, sink, 1<<20, sink.close)
	err = rpc.Serve(l, c, rpc.Options{Extend: extend})
	return sink.text.String(), err
}

const (
	helloLine = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{` +
		`"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":"once",` +
		`"initialSubscriptions":["ahp-root://"]}}`
	sharedLine = `{"jsonrpc":"2.0","id":2,"method":"createTerminal","params":{` +
		`"channel":"ahp-terminal:/laptop","claim":{"kind":"client","clientId":"once"},` +
		`"executionTarget":"client"}}`
	disposeLine = `{"jsonrpc":"2.0","id":3,"method":"disposeTerminal","params":{` +
		`"channel":"ahp-terminal:/laptop"}}`
)

// `printf ... | ssh -s HOST ahp` has sent everything before anything is answered.
// synctest's clock jumps over the pauses.
func TestAPeerThatHalfClosesIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hosttest.New(t)
		sink := &slowSink{pause: time.Second}
		lines := []string{helloLine, sharedLine, disposeLine}
		for i := range 20 {
			lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i+10))
		}
		text, err := answers(t, h, sink, nil, lines...)
		for _, id := range append([]int{1, 2, 3}, 10, 29) {
			if !strings.Contains(text, fmt.Sprintf(`"id":%d,"result"`, id)) {
				t.Errorf("request %d was not answered:\n%s", id, text)
			}
		}
		if err != nil || sink.reason != transport.Goodbye {
			t.Errorf("it ended with %v, %q", err, sink.reason)
		}
	})
}

func TestAPeerThatHalfClosesIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hosttest.New(t)
		sink := &slowSink{pause: time.Hour}
		_, err := answers(t, h, sink, nil, helloLine)
		if err == nil || sink.reason == transport.Goodbye {
			t.Errorf("a peer that does not read was left with %v, %q", err, sink.reason)
		}
		extend := func(*host.Conn) rpc.Extension { return endless{} }
		text, err := answers(t, h, &slowSink{}, extend, helloLine,
			`{"jsonrpc":"2.0","id":2,"method":"endless"}`)
		if err != nil || !strings.Contains(text, `"id":1,"result"`) {
			t.Errorf("a request without an answer left %v and\n%s", err, text)
		}
	})
}

// endless is an Extension whose only request is never answered.
type endless struct{}

func (endless) Begin() {}

func (endless) Has(method string) bool { return method == "endless" }

func (endless) Handle(string, json.RawMessage) rpc.Reply {
	return rpc.Reply{Wait: func(ctx context.Context) (json.RawMessage, *ahp.Error) {
		<-ctx.Done()
		return nil, ahp.NewError(ahp.CodeInternal, "the peer has left")
	}}
}

func (endless) Announcement() (string, json.RawMessage) { return "endless", json.RawMessage("{}") }

func (endless) Close() {}
