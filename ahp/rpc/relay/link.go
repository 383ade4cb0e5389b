package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/transport"
)

const (
	// greetTime bounds how long an owner that is there may take for its answer to initialize or
	// reconnect.
	greetTime = 20 * time.Second
	// minPause and maxPause bound the pause before a link that was lost is made again.
	minPause = 100 * time.Millisecond
	maxPause = 10 * time.Second
	// steady is how long a link has to last for the pause to be short again.
	steady = time.Second
)

var (
	// errAgain is for a client that the owner does not know, but that has a state.
	errAgain = errors.New("again")
	// errLost is for actions of which nobody knows whether the owner has taken them.
	errLost = errors.New("the connection was lost before it was answered")
)

// run keeps up the link as long as it is of use.
func (r *remote) run() {
	watched := make(chan struct{})
	ctx, cancel := context.WithCancel(r.all.ctx)
	go func() {
		defer close(watched)
		r.watch(ctx)
	}()
	defer func() {
		cancel()
		<-watched
	}()
	for pause := minPause; ; {
		begun := time.Now()
		err := r.session(ctx)
		if errors.Is(err, errAgain) {
			continue
		}
		if r.over(err) {
			return
		}
		if time.Since(begun) > steady {
			pause = minPause
		}
		if !r.await(ctx, pause) {
			return
		}
		pause = min(2*pause, maxPause)
	}
}

// over takes note that the link is lost, and reports whether nothing needs another one.
func (r *remote) over(err error) bool {
	if err.Error() == host.ErrTakenOver.Error() { // by another door's connection of this client
		r.all.peer.End(host.ErrTakenOver)
	}
	r.mu.Lock()
	r.ready = false
	r.link++
	clear(r.late)
	r.mu.Unlock()
	if silent := r.reachable(); silent != nil {
		r.silence(silent)
	} else {
		r.silence(fmt.Errorf("%s: %w", r.host, err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = r.all.ctx.Err() == nil &&
		(len(r.follows)+len(r.sent)+len(r.queue) > 0 || r.looked.on)
	return !r.running
}

// await waits until the host is there, and for a pause at least; false: the client or the host is
// gone.
func (r *remote) await(ctx context.Context, pause time.Duration) bool {
	for {
		timer := time.NewTimer(pause/2 + rand.N(pause/2))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
		err := r.reachable()
		if err == nil {
			return true
		}
		if !r.all.door.fleet.Has(r.host) {
			r.end(err)
			return false
		}
		pause = look
	}
}

// end ends what the client follows of a host that is no member any more.
func (r *remote) end(why error) {
	r.mu.Lock()
	sent, follows := r.sent, r.follows
	r.sent, r.follows, r.looked, r.running = nil, map[string]bool{}, looked{}, false
	r.mu.Unlock()
	r.all.peer.News()
	r.reject(sent, why.Error())
	for uri := range follows {
		r.unsubscribed(uri, why.Error())
	}
}

// unsubscribed tells the client that it follows a terminal no more.
func (r *remote) unsubscribed(uri, why string) {
	name, _ := ahp.FleetURI(r.host, uri)
	params := ahp.Encode(struct {
		Reason string `json:"reason"`
	}{why})
	text := appendNote(r.all.peer.Conn.NameOf(ahp.MethodUnsubscribed), params, name)
	r.all.passOn(r.host, func(dst []byte, _ uint64) []byte { return append(dst, text...) },
		len(text), 0, nil)
}

// watch refuses what waits for the host when it falls silent.
func (r *remote) watch(ctx context.Context) {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if err := r.reachable(); err != nil {
			r.silence(err)
		}
	}
}

// session makes a link, and reads from it until it is lost.
func (r *remote) session(ctx context.Context) error {
	peer := r.all.peer
	conn, err := r.all.door.fleet.Dial(ctx, peer.Conn.Principal(), peer.Conn.Source(), r.host)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	closing := context.AfterFunc(ctx, func() { conn.Close() })
	written := make(chan struct{})
	defer func() {
		cancel()
		closing()
		conn.Close()
		<-written
	}()
	go func() {
		defer close(written)
		r.write(ctx, conn)
	}()
	lines := transport.NewLines(conn, conn, maxMessage, func(string) error { return conn.Close() })
	late := time.AfterFunc(greetTime, func() { conn.Close() })
	err = r.greet(conn, lines)
	if !late.Stop() {
		err = errors.Join(err, errors.New("it does not answer"))
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.ready, r.toAck = true, 0
	r.lookAnewLocked()
	r.mu.Unlock()
	r.tellWriter()
	for {
		if err := r.all.waitRoom(ctx); err != nil {
			return err
		}
		line, err := lines.Read()
		if err != nil {
			return readError(err)
		}
		if err := r.read(ctx, line); err != nil {
			return err
		}
	}
}

// readError says why nothing can be read.
func readError(err error) error {
	var long *transport.MessageError
	switch {
	case errors.As(err, &long):
		return fmt.Errorf("it sends a message of more than %d MiB", maxMessage>>20)
	case errors.Is(err, io.EOF):
		return errLost
	}
	return err
}

// write writes what is queued until ctx ends.
func (r *remote) write(ctx context.Context, conn io.WriteCloser) {
	for {
		select {
		case <-r.wake:
		case <-ctx.Done():
			return
		}
		for text := r.take(); len(text) > 0; text = r.take() {
			if _, err := conn.Write(text); err != nil {
				conn.Close() // the reader returns the reason
				return
			}
		}
	}
}

// greet begins the conversation: as a new client, or as one that goes on.
func (r *remote) greet(conn io.Writer, lines *transport.Lines) error {
	if !r.known {
		return r.initialize(conn, lines)
	}
	r.mu.Lock()
	refs := []ahp.SubscriptionRef{}
	for uri := range r.follows {
		refs = append(refs, ahp.SubscriptionRef(uri))
	}
	r.mu.Unlock()
	params := ahp.Encode(struct {
		ahp.ReconnectParams
		Meta json.RawMessage `json:"_meta"`
	}{ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: r.all.peer.Conn.ClientID(),
		LastSeenServerSeq: r.lastSeen, Subscriptions: refs}, r.meta()})
	result, err := r.hello(conn, lines, ahp.MethodReconnect, params)
	var refused *ahp.Error
	if errors.As(err, &refused) && refused.Code == ahp.CodeNotFound {
		if err := r.initialize(conn, lines); err != nil {
			return err
		}
		r.lastSeen = 0
		r.resolve(nil)
		if len(refs) > 0 { // the owner resynchronises those who reconnect
			return errAgain
		}
		return nil
	}
	if err != nil {
		return err
	}
	r.receiving.Lock()
	defer r.receiving.Unlock()
	return r.replayed(result)
}

// initialize begins as a new client.
func (r *remote) initialize(conn io.Writer, lines *transport.Lines) error {
	c := r.all.peer.Conn
	params := ahp.Encode(struct {
		ahp.InitializeParams
		Meta json.RawMessage `json:"_meta"`
	}{ahp.InitializeParams{Channel: ahp.RootURI, ClientID: c.ClientID(),
		ProtocolVersions: []string{c.Version().String()}}, r.meta()})
	result, err := r.hello(conn, lines, ahp.MethodInitialize, params)
	if err != nil {
		return err
	}
	var hello struct {
		ServerSeq uint64 `json:"serverSeq"`
	}
	if json.Unmarshal(result, &hello) != nil {
		return errMessage
	}
	r.receiving.Lock()
	defer r.receiving.Unlock()
	r.known, r.lastSeen = true, max(r.lastSeen, hello.ServerSeq)
	return nil
}

// meta returns the client's capabilities, with a window for the link in place of its own. The owner
// of one that acknowledges promptly finds out how much the whole way carries.
func (r *remote) meta() json.RawMessage {
	return appendObject(nil, r.all.peer.Meta, func(dst []byte) []byte {
		return fmt.Appendf(dst, `"`+ahp.MethodAck+`":{"window":%d,"prompt":%t}`,
			r.all.window(), r.all.prompt)
	}, ahp.MethodAck, ahp.Reserved(ahp.MethodAck))
}

// hello sends the first request, and returns its result.
func (r *remote) hello(conn io.Writer, lines *transport.Lines, method string,
	params json.RawMessage) (json.RawMessage, error) {
	r.mu.Lock()
	id := r.nextIDLocked()
	r.mu.Unlock()
	if _, err := conn.Write(appendRequest(nil, id, method, params, ahp.RootURI)); err != nil {
		return nil, err
	}
	for {
		line, err := lines.Read()
		if err != nil {
			return nil, readError(err)
		}
		m, err := parse(line)
		switch {
		case err != nil:
			return nil, err
		case m.id != id: // nothing else is asked yet
		case m.err != nil:
			return nil, m.err
		default:
			return m.result, nil
		}
	}
}
