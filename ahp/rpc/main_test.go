package rpc_test

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"termhost/ahp/host"
	"termhost/ahp/rpc"
	"termhost/authz"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what a test waits for and must come.
const patience = 20 * time.Second

// principals are who may speak in a test.
func principals() map[string]authz.Principal {
	return map[string]authz.Principal{
		"alice": {ID: "SHA256:alice", Name: "alice", Role: authz.Admin},
		"bob":   {ID: "SHA256:bob", Name: "bob", Role: authz.Operator},
		"eve":   {ID: "SHA256:eve", Name: "eve", Role: authz.Observer},
		"gone":  {ID: "SHA256:gone", Name: "gone", Role: authz.Admin, Expires: time.Unix(1, 0)},
	}
}

// clock is a time that only tests move.
type clock struct{ ns atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.ns.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(0, c.ns.Load()) }
func (c *clock) advance(d time.Duration) { c.ns.Add(int64(d)) }

func newHost(t testing.TB, cfg host.Config) *host.Host {
	t.Helper()
	cfg.Shell, cfg.Version, cfg.MaxExited = "/bin/sh", "test", 64
	h, err := host.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := h.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return h
}

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
	case <-time.After(patience):
		t.Errorf("the host does not read %.200s", msg)
	}
}

// next returns the host's next message; nil: it has closed the pipe, or says
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
	case <-time.After(patience):
		return nil
	}
}

// serve has the host serve a pipe as one of the principals, and waits for its
// end when the test ends.
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
