package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strconv"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/store"
)

// Transport carries messages, each a JSON text. Read and Write are called by
// one goroutine each; Close may be called at any time and makes both return.
type Transport interface {
	// Read returns the next message, which is the caller's. io.EOF is a peer
	// that went away in good order, or of a [HalfCloser] one that says no more. A
	// [*MessageError] is a message that cannot be had; the next one may be.
	Read() ([]byte, error)
	// Write sends a message and does not keep p. It fails if the peer takes no
	// byte for [Stall].
	Write(p []byte) error
	// Close ends the transport, telling the peer why if it can be told.
	Close(reason string) error
}

// HalfCloser is a Transport whose peer can end what it says and go on listening:
// what it has asked for is answered before the transport is closed.
type HalfCloser interface {
	Transport
	// HalfCloses does nothing; it tells the two kinds of transport apart.
	HalfCloses()
}

// Stall is how long a peer may take no byte before its transport is closed: a
// laptop that changes networks comes back within that time.
const Stall = 60 * time.Second

// MessageError is a message that a transport could not take.
type MessageError struct{ Reason string }

func (e *MessageError) Error() string { return e.Reason }

// Options bound one peer. Zero values take the defaults.
type Options struct {
	MaxSubscriptions  int          // channels; default 1000
	RequestsPerSecond int          // messages, on average; default 1000; more are read later; negative: no limit
	Log               *slog.Logger // what went wrong, never payloads; default: dropped
	// Extend, if not nil, gives a connection methods beside AHP's.
	Extend func(*host.Conn) Extension
}

const (
	defaultSubscriptions = 1000
	defaultRequests      = 1000
	// pullBytes is how much output the writer takes at a time: enough to write
	// large frames, little enough to hold.
	pullBytes = 256 << 10
)

// Serve answers the peer until the transport or the connection's context ends,
// then closes the transport. It returns nil if the peer went away in good order,
// and otherwise why the connection ended.
func Serve(t Transport, c *host.Conn, o Options) error {
	if o.MaxSubscriptions <= 0 {
		o.MaxSubscriptions = defaultSubscriptions
	}
	if o.RequestsPerSecond == 0 {
		o.RequestsPerSecond = defaultRequests
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancelCause(c.Context())
	defer cancel(nil)
	p := &peer{t: t, c: c, opts: o, log: o.Log, ctx: ctx, pace: pace{rate: o.RequestsPerSecond},
		disposals: make(chan struct{}, maxDisposals)}
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
	context.AfterFunc(ctx, func() { // no goroutine until then: an idle peer costs two
		defer close(closed)
		t.Close(reasonOf(context.Cause(ctx)))
	})
	cancel(p.readLoop())
	<-written
	<-closed
	p.background.Wait()
	if err := context.Cause(ctx); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// reasonOf returns what the peer is told.
func reasonOf(err error) string {
	if err == nil || errors.Is(err, io.EOF) {
		return Goodbye
	}
	return err.Error()
}

// Goodbye is the reason that a transport is closed for when there is none but that
// all has been said.
const Goodbye = "goodbye"

// contain turns a panic into an error that ends this connection only. The
// panic's value may hold what the peer sent, so only its place is logged.
func (p *peer) contain(err *error) {
	if v := recover(); v != nil {
		p.log.Error("panic in a connection", "kind", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
		*err = errInternal
	}
}

// readLoop answers messages until the transport ends.
func (p *peer) readLoop() (err error) {
	defer p.contain(&err)
	for {
		if err := p.c.Subscriber().WaitRoom(p.ctx); err != nil {
			return err
		}
		if err := p.pace.wait(p.ctx); err != nil {
			return err
		}
		if err := p.c.WaitOutput(p.ctx); err != nil {
			return err
		}
		msg, err := p.t.Read()
		var bad *MessageError
		switch {
		case errors.As(err, &bad):
			p.refuse(nil, ahp.NewError(ahp.CodeParse, bad.Reason))
		case err != nil:
			if _, half := p.t.(HalfCloser); half && errors.Is(err, io.EOF) {
				return p.lastAnswers(err)
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

// underWay is how long what a peer has asked for may go on once it says no more: a
// disposal takes its two seconds of grace and little more, while a wait for a program
// may take for ever, and nobody may be left to hear of it.
const underWay = 10 * time.Second

// lastAnswers lets what the peer has asked for be answered, once it says no more.
func (p *peer) lastAnswers(end error) error {
	done := make(chan struct{})
	go func() { // at the latest until Serve, which waits for the same
		defer close(done)
		p.background.Wait()
	}()
	timer := time.NewTimer(underWay)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-p.ctx.Done():
	}
	return p.flush(end)
}

// lastWords is how long a peer may take to read what is left to be said: 8 MiB, the
// most that a reconnect is answered with, at 110 kbit/s.
const lastWords = 10 * time.Minute

// errUnread ends a connection that has nothing left but to be read.
var errUnread = fmt.Errorf("what was left to be read was not read within %s", lastWords)

// flush waits until the writer has written everything, and returns why the
// connection then ends.
func (p *peer) flush(end error) error {
	written := make(chan struct{})
	p.c.Subscriber().Post(func(dst []byte) []byte { close(written); return dst })
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case <-written:
	case <-timer.C:
		return errUnread
	case <-p.ctx.Done():
	}
	return end
}

var errInternal = errors.New("internal error; the host's log says more")

// writeLoop writes what there is to write, in order, until the context ends.
func (p *peer) writeLoop() (err error) {
	defer p.contain(&err)
	sub := p.c.Subscriber()
	var items []store.Item
	var buf []byte
	for {
		items = sub.Pull(items[:0], pullBytes)
		if len(items) == 0 {
			var quiet <-chan time.Time
			if cap(buf) > keepBuffer || cap(items) > keepItems {
				quiet = time.After(quietTime)
			}
			select {
			case <-sub.Signal():
			case <-quiet:
				buf, items = nil, nil
			case <-p.ctx.Done():
				return context.Cause(p.ctx)
			}
			continue
		}
		for i := range items {
			if buf = p.encode(buf[:0], items[i]); len(buf) == 0 {
				continue
			}
			if err := p.t.Write(buf); err != nil {
				return err
			}
			items[i] = store.Item{}
		}
	}
}

// What a writer keeps when there has been nothing to write for a while, so that
// a thousand idle peers hold little: a buffer of some bytes, and a list of some
// items.
const (
	keepBuffer = 4 << 10
	keepItems  = 16
	quietTime  = time.Second
)

func (p *peer) encode(buf []byte, it store.Item) []byte {
	if it.Post != nil {
		return it.Post(buf)
	}
	buf = append(buf, `{"jsonrpc":"2.0","method":"action","params":`...)
	buf = it.Entry.AppendEnvelope(buf, p.c.Shape())
	return append(buf, '}')
}

// pace spaces messages out. The reader uses it. A burst of a second's worth passes at once.
type pace struct {
	rate int
	due  time.Time // when the bucket will be full again
}

func (p *pace) wait(ctx context.Context) error {
	if p.rate < 0 {
		return nil
	}
	now := time.Now()
	if p.due.Before(now) {
		p.due = now
	}
	p.due = p.due.Add(p.each())
	return host.Pause(ctx, p.due.Sub(now)-time.Second)
}

// lightShare is how many light messages count as one: at the default rate 32,000 a
// second, more than any program prints lines.
const lightShare = 32

// light says that the message which was waited for last is a light one: output of
// the owner of a client-executed terminal, which comes in pieces as small as its
// program prints them. Its bytes have a rate of their own: see
// [host.Conn.WaitOutput].
func (p *pace) light() {
	if p.rate > 0 {
		p.due = p.due.Add(-p.each() * (lightShare - 1) / lightShare)
	}
}

// each is what a message takes of the time.
func (p *pace) each() time.Duration { return time.Second / time.Duration(p.rate) }

// respond answers a request; result appends the result as JSON.
func (p *peer) respond(id []byte, result func(dst []byte) []byte) {
	p.c.Subscriber().Post(func(dst []byte) []byte {
		dst = appendHead(dst, id)
		dst = append(dst, `,"result":`...)
		dst = result(dst)
		return append(dst, '}')
	})
}

// refuse answers with an error; id is nil where none is known.
func (p *peer) refuse(id []byte, e *ahp.Error) {
	p.c.Subscriber().Post(func(dst []byte) []byte { return appendError(dst, id, e) })
}

// snapshots answers a request whose result holds snapshots. The answer takes
// its place in the order before they are taken, and the writer stops there until
// take has returned: what a snapshot does not contain follows it, and cannot
// overtake it.
func (p *peer) snapshots(id []byte, take func() (result func(dst []byte) []byte, e *ahp.Error)) {
	var result func(dst []byte) []byte
	e := ahp.NewError(ahp.CodeInternal, errInternal.Error()) // what a panic in take leaves
	taken := make(chan struct{})
	defer close(taken)
	p.c.Subscriber().Post(func(dst []byte) []byte {
		<-taken
		if e != nil {
			return appendError(dst, id, e)
		}
		return append(result(append(appendHead(dst, id), `,"result":`...)), '}')
	})
	result, e = take()
}

func appendError(dst, id []byte, e *ahp.Error) []byte {
	dst = appendHead(dst, id)
	dst = append(dst, `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(e.Code), 10)
	dst = append(dst, `,"message":`...)
	dst = ahp.AppendJSONString(dst, e.Message)
	if len(e.Data) > 0 {
		dst = append(dst, `,"data":`...)
		dst = append(dst, e.Data...)
	}
	return append(dst, "}}"...)
}

func appendHead(dst, id []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		return append(dst, "null"...)
	}
	return append(dst, id...)
}
