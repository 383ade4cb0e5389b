package acp

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/host"
	"termhost/ahp/rpc"
	"termhost/ahp/visible"
	"termhost/authz"
	"termhost/ptypool"
)

const (
	// killGrace is the time between SIGTERM and SIGKILL for a command that is killed, and between
	// SIGHUP and SIGKILL for one that is released: the grace that the host gives a disposed one.
	killGrace = 2 * time.Second
	// maxTerminals bounds the terminals of one connection that are not released. Each keeps its
	// output. An agent has a handful.
	maxTerminals = 128
	// maxRequest, in bytes, bounds the id of a request for a permission, which is kept while it is
	// asked. Agents count, or take 36 characters.
	maxRequest = 256
)

// Terminals answers ACP's terminal methods on one AHP connection, with that connection's rights. It
// is an [rpc.Extension].
type Terminals struct {
	*Methods
	conn      *host.Conn // nil: of an earlier host, and the agent has not come back
	principal authz.Principal
	tasks     sync.WaitGroup // the goroutines of attend

	mu       sync.Mutex // not held while the host is called
	byID     map[string]*terminal
	reserved int // how many terminals are being created, which byID does not have yet
}

// terminal is a terminal that the connection's agent has made.
type terminal struct {
	id     string
	tag    tag // Killed and Released are guarded by Terminals.mu
	out    *tail
	old    bool             // an earlier host has started it
	fill   sync.Once        // fills out, if it is old
	host   *host.Terminal   // nil: the command could not be started
	failed *wire.ExitStatus // the exit of a command that could not be started; else nil

	killer   *time.Timer   // sends SIGKILL after a kill; nil: not killed. Guarded by Terminals.mu
	kept     chan struct{} // closed when it is left to the person who holds it
	left     chan struct{} // closed when it is left to the next host
	released chan struct{} // closed with its release
	release  uint64        // the number of its release; set before released is closed
}

func newTerminal(g tag) *terminal {
	return &terminal{tag: g, out: &tail{limit: g.Limit}, kept: make(chan struct{}),
		left: make(chan struct{}), released: make(chan struct{})}
}

// Has reports whether a method is one of ACP's terminal methods, or termhost/created.
func (s *Terminals) Has(method string) bool {
	return wire.IsTerminalMethod(method) || method == ahp.MethodACPCreated ||
		method == ahp.MethodACPPermission
}

// Handle answers one request.
func (s *Terminals) Handle(method string, params json.RawMessage) rpc.Reply {
	if err := s.conn.Ended(); err != nil {
		return rpc.Reply{Error: rpc.Error(s.conn, err)}
	}
	switch method {
	case wire.MethodCreate:
		return creation(params, s.create)
	case ahp.MethodACPCreated:
		return creation(params, s.created)
	}
	if method == ahp.MethodACPPermission {
		return s.permission(params)
	}
	var p wire.TerminalParams
	if e := ahp.DecodeParams(params, &p); e != nil {
		return rpc.Reply{Error: e}
	}
	t, e := s.find(&p)
	if e != nil {
		return rpc.Reply{Error: e}
	}
	switch method {
	case wire.MethodOutput:
		return rpc.Reply{Result: func(dst []byte) []byte {
			return append(dst, ahp.Encode(s.output(t))...)
		}}
	case wire.MethodWait:
		return t.wait()
	case wire.MethodKill:
		e = s.kill(t)
	case wire.MethodRelease:
		s.release(t)
	}
	if e != nil {
		return rpc.Reply{Error: e}
	}
	return resultReply(json.RawMessage("{}"))
}

// permission is termhost/permission. A command that has ended needs none any more.
func (s *Terminals) permission(params json.RawMessage) rpc.Reply {
	var p wire.PermissionParams
	if e := ahp.DecodeParams(params, &p); e != nil {
		return rpc.Reply{Error: e}
	}
	if p.Request == "" || len(p.Request) > maxRequest {
		return rpc.Reply{Error: ahp.FieldProblem("request", "must have 1 to 256 bytes")}
	}
	t, e := s.find(&p.TerminalParams)
	switch {
	case e != nil:
		return rpc.Reply{Error: e}
	case t.host == nil:
	case p.Over:
		s.conn.EndPermission(t.host, p.Request)
	default:
		err := s.conn.AskPermission(t.host, p.Request, p.Title)
		if err != nil && !errors.Is(err, host.ErrExited) {
			return rpc.Reply{Error: rpc.Error(s.conn, err)}
		}
	}
	return resultReply(json.RawMessage("{}"))
}

// creation is the reply to a request that is answered with a terminal, which find returns.
func creation[P any](
	params json.RawMessage, find func(*P) (*wire.CreateResult, *ahp.Error),
) rpc.Reply {
	var p P
	if e := ahp.DecodeParams(params, &p); e != nil {
		return rpc.Reply{Error: e}
	}
	result, e := find(&p)
	if e != nil {
		return rpc.Reply{Error: e}
	}
	return resultReply(ahp.Encode(result))
}

// resultReply is the reply that is a result.
func resultReply(result json.RawMessage) rpc.Reply {
	return rpc.Reply{Result: func(dst []byte) []byte { return append(dst, result...) }}
}

// Close kills and releases all terminals, and waits until their commands have ended. If it is the
// host that ends, it leaves them to the next one.
func (s *Terminals) Close() {
	s.mu.Lock()
	left := s.byID
	s.byID = nil
	s.mu.Unlock()
	end := func(t *terminal) { close(t.left) }
	if !s.host.Closing() {
		release := s.nextRelease() // one for all of them
		end = func(t *terminal) { s.end(t, release) }
	}
	for _, t := range left {
		end(t)
	}
	s.tasks.Wait()
}

// find returns the terminal that params name. Sessions do not know each other's terminals.
func (s *Terminals) find(p *wire.TerminalParams) (*terminal, *ahp.Error) {
	if e := p.Check(); e != nil {
		return nil, e
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.byID[p.TerminalID]; t != nil && t.tag.Session == p.SessionID {
		return t, nil
	}
	return nil, wire.NoTerminal()
}

// reserve takes a place for a terminal that is about to be created; it fails if there are too many.
func (s *Terminals) reserve() *ahp.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID)+s.reserved >= maxTerminals {
		why := "this agent has " + strconv.Itoa(maxTerminals) + " terminals; release some"
		return ahp.NewError(ahp.CodeLimit, why, "limit", "terminals per agent")
	}
	s.reserved++
	return nil
}

func (s *Terminals) unreserve() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved--
}

// add gives t, which has a reserved place, an id and makes it known. base begins the id if the host
// has no such terminal.
func (s *Terminals) add(t *terminal, base string) *wire.CreateResult {
	if t.host != nil {
		base = t.host.ID()
	}
	t.id = idOf(base, t.tag.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved--
	s.byID[t.id] = t
	if t.host != nil {
		s.tasks.Go(func() { s.attend(t) })
	}
	return t.result()
}

// kill sends the command's processes SIGTERM now, and SIGKILL after the grace.
func (s *Terminals) kill(t *terminal) *ahp.Error {
	if t.exit() != nil {
		return nil
	}
	switch err := s.conn.Signal(t.host, syscall.SIGTERM); {
	case err == host.ErrExited:
		return nil
	case err != nil:
		return rpc.Error(s.conn, err)
	}
	s.mu.Lock()
	first := t.killer == nil && s.byID[t.id] == t
	if first {
		t.tag.Killed = true
		s.killLaterLocked(t)
	}
	text := t.tag.text()
	s.mu.Unlock()
	if first {
		t.host.SetTag(text)
	}
	return nil
}

// killLaterLocked has t's processes sent SIGKILL after the grace. s.mu is held.
func (s *Terminals) killLaterLocked(t *terminal) {
	t.killer = time.AfterFunc(killGrace, func() {
		_ = s.host.Hangup(s.principal, t.host, 0) // refused if a person has taken it since
	})
}

// release forgets t's id and ends its processes. If a person has taken the terminal, and this agent
// may not take it back, it stays that person's.
func (s *Terminals) release(t *terminal) {
	s.mu.Lock()
	first := s.byID[t.id] == t
	delete(s.byID, t.id)
	s.mu.Unlock()
	if first {
		s.end(t, s.nextRelease())
	}
}

// end hangs up t's processes, those in the background included. It is called once, with the number
// of t's release.
func (s *Terminals) end(t *terminal, release uint64) {
	t.release = release
	defer close(t.released)
	s.mu.Lock()
	if t.killer != nil {
		t.killer.Stop()
	}
	t.tag.Released = true
	text := t.tag.text()
	s.mu.Unlock()
	if t.host == nil {
		return
	}
	t.host.SetTag(text)
	t.host.SetOver(true) // before its program ends
	if err := s.host.Hangup(s.principal, t.host, killGrace); err != nil {
		name := t.host.Name()
		s.log.Info("an agent's terminal stays with its holder", "name", name, "reason", err)
		t.host.SetTag("")
		t.host.SetOver(false)
		close(t.kept)
	}
}

// attend waits until t has exited and until it is released, and has it counted among the terminals
// that stay listed.
func (s *Terminals) attend(t *terminal) {
	select {
	case <-t.host.Done():
	case <-t.kept:
		return
	case <-t.left:
		return
	}
	held := false
	select {
	case <-t.released:
	default:
		held = true
		s.hold(s.principal, t.host)
		select {
		case <-t.released:
		case <-t.left:
			return
		}
	}
	s.shelve(s.principal, exited{t.host, t.release}, held)
}

// exit returns how the command ended; nil while it runs. Once there is a status, all output is in
// t.out.
func (t *terminal) exit() *wire.ExitStatus {
	if t.failed != nil {
		return t.failed
	}
	st, exited := t.host.Exit()
	if !exited {
		return nil
	}
	return exitOf(st)
}

// exitOf returns a status in the terms of ACP. A status that nobody could learn is neither a code
// nor a signal.
func exitOf(st ptypool.ExitStatus) *wire.ExitStatus {
	switch {
	case st.Signal != 0:
		name := unix.SignalName(st.Signal)
		if name == "" {
			name = "SIG" + strconv.Itoa(int(st.Signal))
		}
		return &wire.ExitStatus{Signal: &name}
	case st.Code < 0:
		return &wire.ExitStatus{}
	}
	return &wire.ExitStatus{ExitCode: &st.Code}
}

// output is terminal/output.
func (s *Terminals) output(t *terminal) *wire.OutputResult {
	exit := t.exit() // first: if it has exited, the text below is complete
	t.fill.Do(func() { s.fillTail(t) })
	text, truncated := t.out.text()
	text = visible.CleanOutput(text) // a model reads what people do not see
	r := &wire.OutputResult{Output: text, Truncated: truncated, ExitStatus: exit}
	if s.unlisted(t) {
		r.Meta = &wire.OutputMeta{}
		r.Meta.Termhost.Gone = true
	}
	return r
}

// unlisted reports whether the host has taken t from its list.
func (s *Terminals) unlisted(t *terminal) bool {
	if t.host == nil {
		return false // it has never been there
	}
	found, err := s.conn.Find(t.host.URI())
	return err != nil || found != t.host
}

// wait is terminal/wait_for_exit.
func (t *terminal) wait() rpc.Reply {
	if exit := t.exit(); exit != nil {
		return resultReply(ahp.Encode(exit))
	}
	return rpc.Reply{Wait: func(ctx context.Context) (json.RawMessage, *ahp.Error) {
		select {
		case <-t.host.Done():
			return ahp.Encode(t.exit()), nil
		case <-ctx.Done():
			return nil, ahp.EndedError(ahp.CodeInternal, "the connection has ended")
		}
	}}
}
