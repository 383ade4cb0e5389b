package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"termhost/ahp"
)

// Config configures a Client. Dial is required.
type Config struct {
	Dial Dialer
	// ClientID is the client's name at the host; "": a random one. If another
	// connection of the same principal uses it, this one takes it over.
	ClientID string
	// Versions are the protocol versions to offer; nil: all that are known.
	Versions []string
	// NoReconnect ends the client with its first connection.
	NoReconnect bool
	// MinBackoff and MaxBackoff bound the pause before the n-th attempt to
	// reconnect, a random time up to MinBackoff * 2^n; 100 ms and 10 s.
	MinBackoff, MaxBackoff time.Duration
	// Keepalive is how often a silent host is asked for a sign of life; one that
	// stays silent four times in a row is lost. 0: never, so that only the
	// transport can notice that the host is gone.
	Keepalive time.Duration
	// MirrorBytes bounds the output that a mirror keeps, in bytes; 4 MiB.
	MirrorBytes int
	// OnState, if not nil, is called with every connection and every loss. The client's own
	// goroutine calls it; it must not block or call the Client.
	OnState func(State)
	// OnAction, if not nil, gets actions on channels without a mirror, such as the end of a
	// client-executed terminal of this client's. The client's own goroutine calls it; it must not
	// block or call the Client.
	OnAction func(channel string, a ahp.Action)
	// Log gets connections and losses; nil: they are not logged.
	Log *slog.Logger
}

// State is a change of whether a client is connected.
type State struct {
	Connected bool
	// Conn numbers the connections, from 1; see [Client.Post].
	Conn int64
	// Resumed says that the host still knew this client. Owned then has the client-executed
	// terminals that the client owns, also those that the host has ended.
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
)

// Errors of the methods; match them with errors.Is.
var (
	// ErrClosed: the client has been closed.
	ErrClosed = errors.New("client: closed")
	// ErrLost: the connection was lost before the answer came. What was asked
	// for may or may not have happened.
	ErrLost = errors.New("client: the connection was lost before the answer came")
	// ErrGone: the channel no longer exists, or not for this client.
	ErrGone = errors.New("client: the channel is gone")
)

// Client is one AHP client. All methods may be called concurrently.
type Client struct {
	cfg    Config
	id     string
	log    *slog.Logger
	ctx    context.Context // ends with Close, or when the client cannot go on
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when both goroutines have ended

	// mu guards what follows. It is held over no I/O; a Mirror's lock is taken
	// under it, and the functions of Post and OnAction are called under it.
	mu        sync.Mutex
	conn      *connection   // nil: not connected
	conns     int64         // how many connections there have been
	connected chan struct{} // closed while there is a connection
	resumed   bool          // the connection continues an earlier one
	owned     map[string]ahp.OwnedTerminal
	hello     ahp.InitializeResult
	lastSeq   uint64 // the newest serverSeq seen
	nextID    int64  // of requests
	nextSeq   int64  // of actions
	mirrors   map[string]*Mirror
	pending   map[int64]*pendingAction // by clientSeq
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
	c := &Client{cfg: cfg, id: cfg.ClientID, log: cfg.Log, done: make(chan struct{}),
		connected: make(chan struct{}), mirrors: map[string]*Mirror{},
		pending: map[int64]*pendingAction{}}
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
// are waiting return ErrClosed.
func (c *Client) Close() error {
	c.cancel(ErrClosed)
	<-c.done
	return nil
}

// Done is closed when the client has ended, by Close or because it cannot go on.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns why the client has ended; nil while it has not.
func (c *Client) Err() error { return context.Cause(c.ctx) }

// run connects, reports the result to first, and keeps the client connected.
func (c *Client) run(ctx context.Context, first chan<- error) {
	defer close(c.done)
	dialCtx, stop := context.WithCancel(ctx)
	release := context.AfterFunc(c.ctx, stop)
	err := c.connect(dialCtx, c.initialize)
	release()
	stop()
	first <- err
	if err != nil {
		c.cancel(err)
		return
	}
	for c.ctx.Err() == nil {
		err := c.serve()
		if c.cfg.NoReconnect {
			c.cancel(err)
		}
		c.reconnect(err)
	}
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	if conn != nil { // the client was closed while it was being made
		c.hangUp(conn)
	}
	c.end()
}

// reconnect connects again after a loss, as often as it takes; err is why the
// connection was lost.
func (c *Client) reconnect(err error) {
	for attempt := 0; c.ctx.Err() == nil; attempt++ {
		if isFinal(err) {
			c.cancel(err)
			return
		}
		pause := c.backoff(attempt)
		c.tell(State{Err: err, Retry: pause})
		if !c.pause(pause) {
			return
		}
		if err = c.connect(c.ctx, c.resume); err == nil {
			return
		}
	}
}

// backoff returns how long to wait before the n-th attempt: any time up to a bound
// that doubles (full jitter), so that the clients of a host that comes back do not
// all arrive at once.
func (c *Client) backoff(n int) time.Duration {
	const maxShift = 20
	limit := c.cfg.MinBackoff << min(n, maxShift)
	if limit <= 0 || limit > c.cfg.MaxBackoff {
		limit = c.cfg.MaxBackoff
	}
	return time.Duration(mathrand.Int64N(int64(limit) + 1))
}

// pause waits; it is false if the client ends meanwhile.
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

// end fails everything that is waiting.
func (c *Client) end() {
	cause := context.Cause(c.ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failPendingLocked(cause)
	for uri, m := range c.mirrors {
		delete(c.mirrors, uri)
		m.fail(cause)
	}
}
