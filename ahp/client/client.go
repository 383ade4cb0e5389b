package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"termhost/ahp"
)

// Config is what a Client is made from. Dial is required.
type Config struct {
	Dial Dialer
	// ClientID is the client's name at the host; "": a random one. One that is
	// in use by the same principal is taken over.
	ClientID string
	// Versions are the protocol versions to offer; nil: all that are known.
	Versions []string
	// NoReconnect ends the client with its first transport.
	NoReconnect bool
	// MinBackoff and MaxBackoff bound the pause before the n-th attempt to
	// connect again, a random time up to MinBackoff * 2^n; 100 ms and 10 s.
	MinBackoff, MaxBackoff time.Duration
	// Keepalive is how often a host that says nothing is asked for a sign of life;
	// one that gives none four times in a row is lost. 0: it is never asked, and
	// what notices its loss is the transport.
	Keepalive time.Duration
	// MirrorBytes bounds the output that a mirror keeps, in bytes; 4 MiB.
	MirrorBytes int
	// OnState, if not nil, is told of every connection and every loss. It is
	// called by the client's own goroutine and must not block or call back.
	OnState func(State)
	// OnAction, if not nil, is told of actions on channels that are not followed,
	// such as the end of a client-executed terminal of this client's. It is called
	// by the client's own goroutine and must not block or call back.
	OnAction func(channel string, a ahp.Action)
	// Log gets connections and losses; nil: dropped.
	Log *slog.Logger
}

// State is a change of a client's connection.
type State struct {
	Connected bool
	// Link numbers the connections, from 1; see [Client.Post].
	Link int64
	// Resumed says that the host still knew this client; Owned are then the
	// client-executed terminals that it owns, or that the host ended.
	Resumed bool
	Owned   map[string]ahp.OwnedTerminal
	// Err is why the connection was lost; nil if connected.
	Err error
	// Retry is how long the client waits before it dials again.
	Retry time.Duration
}

const (
	defaultMinBackoff  = 100 * time.Millisecond
	defaultMaxBackoff  = 10 * time.Second
	defaultMirrorBytes = 4 << 20
	// outQueue is how many messages wait for the writer; more make their callers
	// wait.
	outQueue = 64
	// handshakeWait bounds a connection up to the answer to initialize or
	// reconnect, which may be all that was missed: 8 MiB of output over a slow line.
	handshakeWait = 5 * time.Minute
)

// Errors of the methods; match them with errors.Is.
var (
	// ErrClosed: the client has been closed.
	ErrClosed = errors.New("client: closed")
	// ErrLost: the connection was lost before the answer came. What was asked
	// for may or may not have happened.
	ErrLost = errors.New("client: the connection was lost before the answer came")
	// ErrGone: the channel is no more, or not for this client any more.
	ErrGone = errors.New("client: the channel is gone")
)

// Rejected is the host's refusal of an action.
type Rejected struct {
	Action string // its type
	Reason string
}

func (e *Rejected) Error() string { return "client: " + e.Action + " was rejected: " + e.Reason }

// Client is one AHP client. All methods may be called concurrently.
type Client struct {
	cfg    Config
	id     string
	log    *slog.Logger
	ctx    context.Context // ends with Close, or for good
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when both goroutines have ended

	mu      sync.Mutex // leaf, but for a Mirror's
	link    *link      // nil: not connected
	links   int64      // how many connections there were
	linked  chan struct{}
	resumed bool                         // the present conversation goes on from an earlier connection
	owned   map[string]ahp.OwnedTerminal // as the answer to reconnect said
	hello   ahp.InitializeResult
	lastSeq uint64 // the newest action seen
	nextID  int64
	nextSeq int64
	mirrors map[string]*Mirror
	acts    map[int64]*dispatched // by clientSeq
}

// dispatched is an action whose echo is awaited.
type dispatched struct {
	kind string
	tell func(notice string, err error) // must not block or call back
}

// link is one transport.
type link struct {
	t       Transport
	out     chan []byte
	ended   chan struct{} // closed when the transport is over
	written chan struct{} // closed when the writer has ended
	heard   atomic.Bool   // a message has come since keepAlive looked
	silent  atomic.Bool   // keepAlive has closed the transport

	// Guarded by Client.mu.
	calls map[int64]*call // by id
	over  bool            // nobody answers calls any more
}

// call is a request whose answer is awaited.
type call struct {
	// take, if not nil, is given the result by the reader, before it reads on.
	take func(result json.RawMessage) error
	done chan error // 1 deep
}

// Connect dials, initializes and returns the client, which must be closed. ctx
// bounds the first connection only.
func Connect(ctx context.Context, cfg Config) (*Client, error) {
	cfg.ClientID = cmp.Or(cfg.ClientID, "go-"+rand.Text())
	cfg.MinBackoff = cmp.Or(cfg.MinBackoff, defaultMinBackoff)
	cfg.MaxBackoff = cmp.Or(cfg.MaxBackoff, defaultMaxBackoff)
	cfg.MirrorBytes = cmp.Or(cfg.MirrorBytes, defaultMirrorBytes)
	if cfg.Versions == nil {
		cfg.Versions = ahp.SupportedVersions()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	c := &Client{cfg: cfg, id: cfg.ClientID, log: cfg.Log, done: make(chan struct{}), linked: make(chan struct{}),
		mirrors: map[string]*Mirror{}, acts: map[int64]*dispatched{}}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	first := make(chan error, 1)
	go c.run(ctx, first)
	if err := <-first; err != nil {
		<-c.done
		return nil, err
	}
	return c, nil
}

// ID returns the clientId.
func (c *Client) ID() string { return c.id }

// Hello returns what the host said of itself, without the snapshots.
func (c *Client) Hello() ahp.InitializeResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hello
}

// Close ends the connection and waits for the client's goroutines. Calls that
// wait return ErrClosed.
func (c *Client) Close() error {
	c.cancel(ErrClosed)
	<-c.done
	return nil
}

// Done is closed when the client has ended, by Close or for good.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns why the client has ended; nil while it has not.
func (c *Client) Err() error { return context.Cause(c.ctx) }

// run keeps the client connected.
func (c *Client) run(ctx context.Context, first chan<- error) {
	defer close(c.done)
	dialCtx, stop := context.WithCancel(ctx)
	release := context.AfterFunc(c.ctx, stop)
	err := c.connect(dialCtx, c.initialize)
	release()
	stop()
	if err != nil {
		c.cancel(err)
		first <- err
		return
	}
	first <- nil
	for attempt := 0; ; {
		err := c.serve()
		if c.ctx.Err() != nil {
			break
		}
		if c.cfg.NoReconnect || isFinal(err) {
			c.cancel(err)
			break
		}
		for {
			pause := c.backoff(attempt)
			c.tell(State{Err: err, Retry: pause})
			if !c.pause(pause) {
				break
			}
			if err = c.connect(c.ctx, c.resume); err == nil {
				attempt = 0
				break
			}
			if isFinal(err) {
				c.cancel(err)
				break
			}
			attempt++
		}
		if c.ctx.Err() != nil {
			break
		}
	}
	c.end()
}

// backoff returns how long to wait before the n-th attempt: full jitter, so that
// a host that comes back is not met by all its clients at once.
func (c *Client) backoff(n int) time.Duration {
	const maxShift = 20
	limit := c.cfg.MinBackoff << min(n, maxShift)
	if limit <= 0 || limit > c.cfg.MaxBackoff {
		limit = c.cfg.MaxBackoff
	}
	return time.Duration(mathrand.Int64N(int64(limit) + 1))
}

func (c *Client) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.ctx.Done():
		return false
	}
}

func (c *Client) tell(s State) {
	if s.Connected {
		c.log.Info("connected", "clientId", c.id)
	} else {
		c.log.Info("connection lost", "clientId", c.id, "reason", s.Err.Error(), "retry", s.Retry)
	}
	if c.cfg.OnState != nil {
		c.cfg.OnState(s)
	}
}

// end fails everything that waits.
func (c *Client) end() {
	cause := context.Cause(c.ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failActsLocked(cause)
	for uri, m := range c.mirrors {
		delete(c.mirrors, uri)
		m.fail(cause)
	}
}

func (c *Client) failActsLocked(err error) {
	for seq, d := range c.acts {
		delete(c.acts, seq)
		d.tell("", err)
	}
}

// connected waits until there is a connection.
func (c *Client) connected(ctx context.Context) (*link, error) {
	for {
		c.mu.Lock()
		l, linked := c.link, c.linked
		c.mu.Unlock()
		if l != nil {
			return l, nil
		}
		select {
		case <-linked:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-c.ctx.Done():
			return nil, c.Err()
		}
	}
}

// send hands a message to the writer.
func (c *Client) send(ctx context.Context, l *link, v any) error {
	msg, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("client: the message cannot be encoded: %w", err)
	}
	select {
	case l.out <- msg:
		return nil
	case <-l.ended:
		return ErrLost
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.ctx.Done():
		return c.Err()
	}
}
