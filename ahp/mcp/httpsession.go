package mcp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp/host"
	"termhost/authz"
	"termhost/authz/admit"
)

// httpSession is what requests have in common: a session of the older versions, or, in the newest,
// all requests of a principal's client. It has a connection of the host.
type httpSession struct {
	*session
	key       httpKey
	transport *sdk.StreamableServerTransport // nil: the newest version
	sdk       *sdk.ServerSession             // with transport
	conn      *host.Conn

	// ctx ends with the session. Its cause may be shown to the peer.
	ctx     context.Context
	cancel  context.CancelCauseFunc
	release func()        // stops following the peer's credentials
	ended   chan struct{} // closed when nothing is left of it

	answered chan struct{} // closed when the session has ended and no message is under way

	// Guarded by the lock of sessions.
	busy     int       // requests under way
	messages int       // those of them that have a message
	since    time.Time // of the end of the last one
	idle     *time.Timer
	removed  bool // from the table, so that no request enters
}

// httpKey is by what a request finds its session. Nobody finds another principal's.
type httpKey struct {
	principal authz.Principal
	id        string // "": the newest version has none
	client    string // the name that it gives itself; with an id: ""
}

func keyOf(p HTTPPeer, id, client string) httpKey {
	who := p.Principal
	who.Expires = who.Expires.Round(0).UTC() // so that equal times are equal values
	return httpKey{who, id, client}
}

// sessions are those of an HTTP.
type sessions struct {
	HTTPOptions

	running sync.WaitGroup // goroutines that end sessions; see addLocked

	beginning sync.Mutex // held while a session begins, so that no bound is exceeded
	mu        sync.Mutex // taken under beginning; nothing is locked under it
	table     map[httpKey]*httpSession
	closed    bool
}

func (s *sessions) init(o HTTPOptions) {
	const send, idle, most, all = 40 * time.Second, 10 * time.Minute, 64, 1024
	s.HTTPOptions, s.table = o, map[httpKey]*httpSession{}
	if o.SendTime <= 0 {
		s.SendTime = send
	}
	if o.Idle <= 0 {
		s.Idle = idle
	}
	if o.MaxSessions <= 0 {
		s.MaxSessions = most
	}
	if o.MaxAllSessions <= 0 {
		s.MaxAllSessions = all
	}
}

// find enters the session that a key names, with a message or without; nil: there is none.
func (s *sessions) find(key httpKey, message bool) *httpSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.table[key]
	if k == nil || k.ctx.Err() != nil {
		return nil
	}
	k.enterLocked(message)
	return k
}

// enter enters the session that a key names, with a message. If there is none, begin makes it.
func (s *sessions) enter(key httpKey, begin func() (*httpSession, error)) (*httpSession, error) {
	if k := s.find(key, true); k != nil {
		return k, nil
	}
	s.beginning.Lock()
	defer s.beginning.Unlock()
	if k := s.find(key, true); k != nil { // another request was faster
		return k, nil
	}
	if err := s.room(key.principal.Account()); err != nil {
		return nil, err
	}
	k, err := begin()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addLocked(k)
	if s.closed {
		k.cancel(host.ErrClosed)
		return nil, errShutdown
	}
	k.enterLocked(true)
	return k, nil
}

// addLocked puts a session into the table, and has it end with its context.
func (s *sessions) addLocked(k *httpSession) {
	s.table[k.key] = k
	s.running.Add(1)
	context.AfterFunc(k.ctx, func() {
		defer s.running.Done()
		s.remove(k)
		k.finish()
	})
}

func (s *sessions) remove(k *httpSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(k)
}

func (s *sessions) removeLocked(k *httpSession) {
	if k.removed {
		return
	}
	k.removed = true
	if k.idle != nil {
		k.idle.Stop()
	}
	if s.table[k.key] == k { // otherwise a request has found that it ends, and made another
		delete(s.table, k.key)
	}
	if k.messages == 0 {
		close(k.answered)
	}
}

func (k *httpSession) enterLocked(message bool) {
	k.busy++
	if message {
		k.messages++
	}
	if k.idle != nil {
		k.idle.Stop()
	}
}

// leave says that a request is done, which has entered.
func (s *sessions) leave(k *httpSession, message bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if message {
		if k.messages--; k.messages == 0 && k.removed {
			close(k.answered)
		}
	}
	if k.busy--; k.busy > 0 || k.ctx.Err() != nil {
		return
	}
	k.since = time.Now()
	k.idle = time.AfterFunc(s.Idle, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if k.busy == 0 {
			k.cancel(errIdle)
		}
	})
}

var (
	errIdle     = errors.New("the session was idle for too long")
	errEvicted  = errors.New("the session made room for another one")
	errShutdown = refuse(http.StatusServiceUnavailable, host.ErrClosed.Error())
)

// answerTime is how long the calls of a session that ends may take to answer.
const answerTime = 5 * time.Second

// finish ends what a session has, when its context has ended.
func (k *httpSession) finish() {
	defer close(k.ended)
	k.release()
	k.conn.End(context.Cause(k.ctx))
	late := time.NewTimer(answerTime)
	defer late.Stop()
	select {
	case <-k.answered: // calls have ended with the context, and said why
	case <-late.C:
	}
	if k.sdk != nil {
		_ = k.sdk.Close() // from now on nothing is answered
	}
	k.session.close()
}

// end ends a session, and returns when it has ended.
func (k *httpSession) end(cause error) {
	k.cancel(cause)
	<-k.ended
}

// close ends all sessions, and lets none begin.
func (s *sessions) close() {
	s.mu.Lock()
	s.closed = true
	for _, k := range s.table {
		k.cancel(host.ErrClosed)
	}
	s.mu.Unlock()
	s.running.Wait()
}

// room ends idle sessions until there is room for one more of an account.
func (s *sessions) room(account string) error {
	for {
		victim, err := s.victim(account)
		if victim == nil {
			return err
		}
		victim.end(errEvicted)
	}
}

// victim takes the session out of the table that must end before one more may begin: of the
// account if it has its share, else of the account that has most. nil: there is room, or none.
func (s *sessions) victim(account string) (*httpSession, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := 0
	for _, k := range s.table {
		if k.account() == account {
			own++
		}
	}
	switch {
	case own >= s.MaxSessions:
		if k := s.idlestLocked(account); k != nil {
			return k, nil
		}
		return nil, refuse(http.StatusTooManyRequests, "this key, with its tokens and guests, has "+
			"too many sessions with requests under way")
	case len(s.table) >= s.MaxAllSessions:
		if k := s.idlestLocked(""); k != nil {
			return k, nil
		}
		return nil, refuse(http.StatusServiceUnavailable,
			"too many sessions have requests under way")
	}
	return nil, nil
}

// idlestLocked takes the session out of the table that has been idle for longest, of an account or,
// if that is "", of the account with most idle ones; nil: all are in use.
func (s *sessions) idlestLocked(account string) *httpSession {
	var idle []*httpSession
	for _, k := range s.table {
		if k.busy == 0 && (account == "" || k.account() == account) {
			idle = append(idle, k)
		}
	}
	if len(idle) == 0 {
		return nil
	}
	slices.SortFunc(idle, func(a, b *httpSession) int { return a.since.Compare(b.since) })
	one := func(*httpSession) int64 { return 1 }
	k := idle[admit.OldestOfLargest(idle, (*httpSession).account, one)]
	s.removeLocked(k)
	return k
}

func (k *httpSession) account() string { return k.key.principal.Account() }

// begin makes the session of a key, with a connection of the host. It is in no table yet.
func (h *HTTP) begin(key httpKey, p HTTPPeer, client string) (*httpSession, error) {
	k := &httpSession{session: h.server.session(p.Peer), key: key,
		release: func() {}, ended: make(chan struct{}), answered: make(chan struct{})}
	var err error
	if k.conn, err = h.connect(k, client); err != nil {
		return nil, err
	}
	k.ctx, k.cancel = context.WithCancelCause(k.conn.Context())
	if key.id != "" {
		k.transport = &sdk.StreamableServerTransport{SessionID: key.id}
		if k.sdk, err = h.server.sdk.Connect(k.ctx, k.transport, nil); err != nil {
			k.session.close()
			return nil, err
		}
	}
	if p.Follow != nil {
		k.release = p.Follow(k.cancel)
	}
	return k, nil
}

// connect opens the session's connection of the host. If its account has as many as it may have,
// an idle session of it ends.
func (h *HTTP) connect(k *httpSession, client string) (*host.Conn, error) {
	for {
		conn, _, err := k.session.connect(client)
		var quota *admit.QuotaError
		switch {
		case err == nil:
			return conn, nil
		case errors.Is(err, host.ErrClosed):
			return nil, errShutdown
		case !errors.As(err, &quota):
			return nil, refuse(http.StatusUnauthorized,
				"the credentials have expired; authenticate again")
		}
		h.sessions.mu.Lock()
		victim := h.sessions.idlestLocked(k.account())
		h.sessions.mu.Unlock()
		if victim == nil {
			return nil, refuse(http.StatusTooManyRequests, err.Error()+"; close some")
		}
		victim.end(errEvicted)
	}
}
