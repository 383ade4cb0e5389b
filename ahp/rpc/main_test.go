package rpc_test

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/rpc"
	"termhost/authz"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

// principals are who may speak in a test.
func principals() map[string]authz.Principal {
	return map[string]authz.Principal{
		"alice": hosttest.Principal("alice", authz.Admin),
		"bob":   hosttest.Principal("bob", authz.Operator),
		"eve":   hosttest.Principal("eve", authz.Observer),
		"page":  pageOf(hosttest.Principal("alice", authz.Admin)),
		"gone":  {ID: "SHA256:gone", Name: "gone", Role: authz.Admin, Expires: time.Unix(1, 0)},
	}
}

// pageOf returns a web page that somebody has opened.
func pageOf(p authz.Principal) authz.Principal {
	p.Token, p.Role = "page", authz.Operator
	p.ID += "/page"
	return p
}

// clock is a clock that only tests put forward.
type clock struct{ ns atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.ns.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(0, c.ns.Load()) }
func (c *clock) advance(d time.Duration) { c.ns.Add(int64(d)) }

// pipe is a Transport in memory, and its other end.
type pipe struct {
	in, out chan []byte
	done    chan struct{}
	once    sync.Once
	reason  string // why the host closed it; read after done
}

func newPipe() *pipe {
	return &pipe{in: make(chan []byte), out: make(chan []byte, 16), done: make(chan struct{})}
}

func (p *pipe) Read() ([]byte, error) {
	select {
	case msg := <-p.in:
		return msg, nil
	case <-p.done:
		return nil, io.EOF
	}
}

func (p *pipe) Write(msg []byte) error {
	select {
	case p.out <- append([]byte(nil), msg...):
		return nil
	case <-p.done:
		return io.ErrClosedPipe
	}
}

// Messages are framed by the ends of lines, which no message contains.
func (p *pipe) BeginFrame(dst []byte) (framed []byte, at int) { return dst, len(dst) }
func (p *pipe) EndFrame(dst []byte, _ int) []byte             { return append(dst, '\n') }

func (p *pipe) WriteFrames(msgs []byte) error {
	for msg := range bytes.Lines(msgs) {
		if err := p.Write(msg[:len(msg)-1]); err != nil {
			return err
		}
	}
	return nil
}

func (p *pipe) Close(reason string) error {
	p.once.Do(func() { p.reason = reason; close(p.done) })
	return nil
}

// send gives the host a message, unless it has closed the pipe.
func (p *pipe) send(t testing.TB, msg []byte) {
	t.Helper()
	select {
	case p.in <- msg:
	case <-p.done:
	case <-time.After(slowtest.PatienceOf(t)):
		t.Errorf("the host does not read %.200s", msg)
	}
}

// sendf formats a message and sends it.
func (p *pipe) sendf(t testing.TB, format string, args ...any) {
	t.Helper()
	p.send(t, fmt.Appendf(nil, format, args...))
}

// next returns the host's next message; nil: it has closed the pipe, or sends
// nothing more.
func (p *pipe) next(t testing.TB) []byte {
	t.Helper()
	select {
	case msg := <-p.out:
		return msg
	default:
	}
	select {
	case msg := <-p.out:
		return msg
	case <-p.done:
		select { // what it wrote before it closed
		case msg := <-p.out:
			return msg
		default:
			return nil
		}
	case <-time.After(slowtest.PatienceOf(t)):
		return nil
	}
}

// serve has the host serve a new pipe to a principal until the test ends.
func serve(t testing.TB, h *host.Host, p authz.Principal, o rpc.Options) *pipe {
	t.Helper()
	c, err := h.Connect(p, host.DoorSubsystem)
	if err != nil {
		t.Fatal(err)
	}
	end := newPipe()
	var served sync.WaitGroup
	served.Go(func() {
		defer c.Close()
		_ = rpc.Serve(end, c, o) // the pipe has the reason
	})
	t.Cleanup(func() {
		end.Close("the test is over")
		served.Wait()
	})
	return end
}
