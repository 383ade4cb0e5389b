package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/rpc/relay"
	"termhost/ahp/transport"
)

// Options bound one peer. Zero values take the defaults.
type Options struct {
	// MaxSubscriptions bounds the channels that are followed; default 1000.
	MaxSubscriptions int
	// RequestsPerSecond bounds the messages that are read, on average; default 1000; negative: no
	// limit. Excess messages are not refused but read later.
	RequestsPerSecond int
	// InitializeWait is how long a peer may take to initialize or reconnect; default 20 s.
	InitializeWait time.Duration
	// Log gets errors, never payloads; nil: none are logged.
	Log *slog.Logger
	// Extend, if not nil, gives a connection methods beside AHP's.
	Extend func(*host.Conn) Extension
	// Fleet is the way to the terminals of other hosts; nil: there is none.
	Fleet *relay.Doorway
	// Late returns by how much more than a host may be silent it is since this one has said the
	// heartbeat of a number; negative: it is less. nil: the peer is no door that carries others.
	Late func(heard uint64) time.Duration
}

const (
	defaultSubscriptions = 1000
	defaultRequests      = 1000
	// defaultWait is many round trips on the slowest line.
	defaultWait = 20 * time.Second
)

// peer is one connection being served.
type peer struct {
	transport   transport.Framer
	conn        *host.Conn
	opts        Options
	log         *slog.Logger
	ctx         context.Context
	rate        rateLimit // used by the reader only
	acks        ackWindow
	windows     windows
	screenFirst atomic.Pointer[screenFirst] // nil: the peer wants all output that is kept
	drops       incomingDrops               // used by the reader only
	elsewhere   elsewhere                   // used by the reader only

	endSearch context.CancelCauseFunc // ends the last one; used by the reader only; nil: none was

	initialized func() // called when the peer has initialized or reconnected

	closing error // set by a request whose answer ends the connection

	extension Extension    // nil: none
	waits     atomic.Int64 // requests of the extension that are waiting

	terminalWaits atomic.Int64 // requests termhost/wait that are waiting
	histories     atomic.Int64 // requests termhost/history and termhost/log that are read

	background sync.WaitGroup // requests that are answered later
	disposals  chan struct{}  // has an element for each running disposal
}

// Serve answers the peer until the transport or the connection's context ends, then closes the
// transport. It returns nil if the peer ended the connection normally, else why it ended.
func Serve(t transport.Framer, c *host.Conn, o Options) error {
	if o.MaxSubscriptions <= 0 {
		o.MaxSubscriptions = defaultSubscriptions
	}
	if o.RequestsPerSecond == 0 {
		o.RequestsPerSecond = defaultRequests
	}
	if o.InitializeWait <= 0 {
		o.InitializeWait = defaultWait
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancelCause(c.Context())
	defer cancel(nil)
	p := &peer{transport: t, conn: c, opts: o, log: o.Log, ctx: ctx,
		rate: rateLimit{rate: o.RequestsPerSecond}, disposals: make(chan struct{}, maxDisposals)}
	p.acks.acked, p.elsewhere.news = make(chan struct{}, 1), make(chan struct{}, 1)
	p.windows.signal, p.windows.grants = make(chan struct{}, 1), &grants{}
	late := time.AfterFunc(o.InitializeWait, func() {
		cancel(fmt.Errorf("not initialized within %s: send initialize or reconnect first",
			o.InitializeWait))
	})
	defer late.Stop()
	p.initialized = func() {
		late.Stop()
		if p.extension != nil {
			p.extension.Begin()
		}
	}
	if o.Extend != nil {
		p.extension = o.Extend(c)
		defer p.extension.Close()
	}

	written := make(chan struct{})
	go func() {
		defer close(written)
		cancel(p.writeLoop())
	}()
	closed := make(chan struct{})
	// No goroutine waits for ctx: that would cost an idle peer a third one.
	context.AfterFunc(ctx, func() {
		defer close(closed)
		t.Close(reasonOf(context.Cause(ctx)))
	})
	cancel(p.readLoop())
	p.drops.abort()
	p.elsewhere.close()
	<-written
	<-closed
	p.background.Wait()
	if err := context.Cause(ctx); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// reasonOf returns what the peer may read of an error.
func reasonOf(err error) string {
	if err == nil || errors.Is(err, io.EOF) {
		return transport.Goodbye
	}
	return err.Error()
}

var errInternal = errors.New(transport.InternalError)

// contain turns a panic into an error that ends only this connection.
func (p *peer) contain(err *error) {
	if v := recover(); v != nil {
		p.logPanic(v)
		*err = errInternal
	}
}

// logPanic logs where a panic happened, but not its value, which may contain what the peer has
// sent.
func (p *peer) logPanic(v any) {
	p.log.Error("panic in a connection", "kind", fmt.Sprintf("%T", v),
		"stack", string(debug.Stack()))
}

// readLoop answers messages until the transport ends.
func (p *peer) readLoop() (err error) {
	defer p.contain(&err)
	for {
		if err := p.waitToRead(); err != nil {
			return err
		}
		msg, err := p.transport.Read()
		var bad *transport.MessageError
		switch {
		case errors.As(err, &bad):
			p.refuse(nil, ahp.NewError(ahp.CodeParse, bad.Reason))
		case err != nil:
			if _, half := p.transport.(transport.HalfCloser); half && errors.Is(err, io.EOF) {
				return p.answerTheRest(err)
			}
			return err
		default:
			p.handle(msg)
		}
		if p.closing != nil {
			return p.flush(p.closing)
		}
	}
}

// waitToRead waits until the peer's next message may be read: there is room for the answer, and the
// peer is within its rates.
func (p *peer) waitToRead() error {
	if err := p.conn.Subscriber().WaitRoom(p.ctx); err != nil {
		return err
	}
	if err := p.rate.wait(p.ctx); err != nil {
		return err
	}
	if p.opts.RequestsPerSecond > 0 {
		if err := p.conn.Pace(p.ctx, 0, host.MessageParts); err != nil {
			return err
		}
	}
	return p.conn.WaitOutput(p.ctx)
}

// lastRequestsWait is how long open requests may take after the peer has closed its sending side. A
// disposal needs its two seconds of grace and little more. A wait for a program can take for ever,
// and the peer may have gone.
const lastRequestsWait = 10 * time.Second

// answerTheRest waits for the open requests of a peer that sends no more. It returns why the
// connection then ends.
func (p *peer) answerTheRest(end error) error {
	done := make(chan struct{})
	go func() { // Serve waits for these too, so this ends before it
		defer close(done)
		p.background.Wait()
	}()
	timer := time.NewTimer(lastRequestsWait)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-p.ctx.Done():
	}
	return p.flush(end)
}

// flushWait is how long a peer may take to read the rest when only that is left: 8 MiB, the largest
// answer to reconnect, at 110 kbit/s.
const flushWait = 10 * time.Minute

// errUnread ends a connection whose peer does not read the rest.
var errUnread = fmt.Errorf("what was left to be read was not read within %s", flushWait)

// flush waits until the writer has written everything, and returns why the
// connection then ends.
func (p *peer) flush(end error) error {
	written := make(chan struct{})
	p.conn.Subscriber().Post(func(dst []byte) []byte { close(written); return dst }, 0)
	timer := time.NewTimer(flushWait)
	defer timer.Stop()
	select {
	case <-written:
	case <-timer.C:
		return errUnread
	case <-p.ctx.Done():
	}
	return end
}
