package host

import (
	"context"
	"crypto/rand"
	"errors"

	"termhost/ahp"
	"termhost/authz"
)

// ShareOptions say what an SSH session shares.
type ShareOptions struct {
	Name       string // NAME; "": chosen by the host
	Cols, Rows int    // 0: 80x24; otherwise clamped to 1..MaxCols and 1..MaxRows
	Pty        bool   // what comes is a terminal's output, not a plain stream
}

// Share is a client-executed terminal whose owner is one SSH session. Its
// clientId is its own, so no other SSH session of the key, and no AHP peer, is
// its owner. Its methods may be called concurrently. It must be closed.
type Share struct {
	c *Conn // of no door: nobody is written to
	t *Terminal
}

// errShareClosed ends a share whose SSH session is over.
var errShareClosed = errors.New("the share was closed")

// Share makes a terminal of what the connection's peer will print. Errors are
// those of [Host.Create].
func (c *Conn) Share(o ShareOptions) (*Share, error) {
	if c.ctx.Err() != nil {
		return nil, context.Cause(c.ctx)
	}
	h := c.host
	own := &Conn{host: h, principal: c.principal, door: c.door, sub: h.store.NewSubscriber(false)}
	own.track = c.track
	own.sub.Close() // answers go nowhere
	own.ctx, own.cancel = context.WithCancelCause(c.ctx)
	id := SSHClientID(c.principal) + "#" + rand.Text()
	h.mu.Lock()
	own.client = &client{id: id, principal: c.principal.ID, name: c.principal.Name, conn: own}
	h.clients[id] = own.client
	h.mu.Unlock()
	s := &Share{c: own}
	t, err := h.Create(c.principal, CreateOptions{Name: o.Name, Cols: o.Cols, Rows: o.Rows, Claim: ahp.ClientClaim(id),
		client: &clientOptions{owner: own, stream: !o.Pty}})
	if err != nil {
		s.Close()
		return nil, err
	}
	s.t = t
	return s, nil
}

// Terminal returns what is shared.
func (s *Share) Terminal() *Terminal { return s.t }

// Output shows p, which is not kept, to whoever watches, and returns when more
// may be sent. notice, if not empty, is for the owner. It returns ErrExited if
// the terminal has ended, *authz.Denied, or ctx's cause.
func (s *Share) Output(ctx context.Context, p []byte) (notice string, err error) {
	h := s.c.host
	notice = s.c.client.flow.take(len(p), h.cfg.ClientOutputRate, h.now())
	if err := s.output(p); err != nil {
		return notice, err
	}
	return notice, s.c.WaitOutput(ctx)
}

func (s *Share) output(p []byte) error {
	t := s.t
	t.term.Lock()
	defer t.term.Unlock()
	if t.exited {
		return ErrExited
	}
	if err := authz.Check(s.c.principal, authz.Output, t.targetOf(s.step())); err != nil {
		return err
	}
	if !t.feed(p) {
		return ErrExited
	}
	return nil
}

// Exit ends the terminal with an exit code, as its program did. It stays listed.
func (s *Share) Exit(code int) {
	t := s.t
	t.term.Lock()
	defer t.term.Unlock()
	if !t.exited && authz.Check(s.c.principal, authz.Exited, t.targetOf(s.step())) == nil {
		t.endOwned(code, nil)
	}
}

// Disposed returns by whom the terminal was ended, as a sentence; "": by nobody.
func (s *Share) Disposed() string {
	s.t.term.Lock()
	defer s.t.term.Unlock()
	return s.t.owned.notice
}

// Close gives the terminal up: one that has not exited ends with -1 and is gone.
func (s *Share) Close() {
	h, cl := s.c.host, s.c.client
	s.c.cancel(errShareClosed)
	h.mu.Lock()
	cl.conn = nil
	cl.left = h.now()
	then := h.leaveLocked(s.c)
	if s.t == nil || h.terminals[s.t.uri] != s.t {
		delete(h.clients, cl.id)
	}
	h.mu.Unlock()
	then()
}

func (s *Share) step() step { return step{conn: s.c, principal: s.c.principal} }
