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
	Name       string // NAME; "": the host chooses
	Cols, Rows int    // 0: 80x24; otherwise clamped to 1..MaxCols and 1..MaxRows
	Pty        bool   // the output is a terminal's, not a plain stream
}

// Share is a client-executed terminal whose owner is one SSH session. It has a clientId of its own,
// so that no other SSH session of the key is its owner, and no AHP peer. Its methods may be called
// concurrently. It must be closed.
type Share struct {
	c *Conn // the owner's, which nobody reads
	e *clientExecutor
}

// errShareClosed ends a share whose SSH session is over.
var errShareClosed = errors.New("the share was closed")

// Share makes a terminal for what the peer is going to show. Errors are those of [Conn.Create].
func (c *Conn) Share(o ShareOptions) (*Share, error) {
	if c.ctx.Err() != nil {
		return nil, context.Cause(c.ctx)
	}
	h := c.host
	own := &Conn{host: h, principal: c.principal, door: c.door, sub: h.store.NewSubscriber(false)}
	own.proof, own.name, own.source = c.proof, c.name, c.source
	own.root.Store(c.root.Load())
	own.sub.Close() // the answers are for nobody
	own.ctx, own.cancel = context.WithCancelCause(c.ctx)
	id := SSHClientID(c.principal) + "#" + rand.Text()
	h.mu.Lock()
	own.client = &client{id: id, principal: c.principal.ID, name: c.name, conn: own}
	h.clients[id] = own.client
	h.mu.Unlock()
	made, err := own.Create(CreateOptions{Name: o.Name, Cols: o.Cols, Rows: o.Rows,
		Claim: ahp.ClientClaim(id), Client: &ClientOptions{Stream: !o.Pty}})
	s := &Share{c: own}
	if err != nil {
		s.Close()
		return nil, err
	}
	s.e = made.Terminal.exec.(*clientExecutor)
	return s, nil
}

// Terminal returns what is shared.
func (s *Share) Terminal() *Terminal { return s.e.t }

// Output shows p, which is not kept, to those who watch, and returns when more may be sent. notice,
// if not empty, is for the owner. It returns ErrExited if the terminal has ended, *authz.Denied, or
// ctx's cause.
func (s *Share) Output(ctx context.Context, p []byte) (notice string, err error) {
	h := s.c.host
	notice = s.c.client.output.chargeOutput(len(p), h.cfg().ClientOutputRate, h.now())
	if err := s.output(p); err != nil {
		return notice, err
	}
	return notice, s.c.WaitOutput(ctx)
}

func (s *Share) output(p []byte) error {
	t := s.e.t
	t.term.Lock()
	defer t.term.Unlock()
	if t.life.exited {
		return ErrExited
	}
	if err := authz.Check(s.c.principal, authz.Output, t.target(s.step())); err != nil {
		return err
	}
	if !s.e.feed(p) {
		return ErrExited
	}
	return nil
}

// Exit ends the terminal with the exit code of its program. The terminal stays listed.
func (s *Share) Exit(code int) {
	t := s.e.t
	t.term.Lock()
	defer t.term.Unlock()
	if !t.life.exited && authz.Check(s.c.principal, authz.Exited, t.target(s.step())) == nil {
		s.e.finishOwn(code, nil)
	}
}

// Disposed returns by whom the terminal was disposed, such as "disposed by ann"; "": by nobody.
func (s *Share) Disposed() string {
	s.e.t.term.Lock()
	defer s.e.t.term.Unlock()
	return s.e.notice
}

// Close ends the share. If the terminal has not exited, it ends with -1 and is forgotten.
func (s *Share) Close() {
	h, cl := s.c.host, s.c.client
	s.c.cancel(errShareClosed)
	h.mu.Lock()
	cl.conn = nil
	cl.left = h.now()
	then := h.leaveLocked(s.c)
	if s.e == nil || h.terminals[s.e.t.uri] != s.e.t {
		delete(h.clients, cl.id)
	}
	h.mu.Unlock()
	then()
}

func (s *Share) step() step { return step{conn: s.c, principal: s.c.principal} }
