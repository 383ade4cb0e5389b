package acp

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/rpc"
	"termhost/ptypool"
)

const (
	// killGrace is what a killed command has between SIGTERM and SIGKILL, and what
	// a released one has after SIGHUP: the host's own grace of a dispose.
	killGrace = 2 * time.Second
	// maxTerminals bounds the terminals of one peer that are not released: each
	// keeps its output. An agent has a handful.
	maxTerminals = 128
)

// Terminals answers ACP's terminal methods for one AHP connection, with that
// connection's rights. It is an [rpc.Extension].
type Terminals struct {
	*Methods
	conn  *host.Conn
	tasks sync.WaitGroup // one for each terminal that has not exited or is not released

	mu       sync.Mutex // not held while the host is asked
	byID     map[string]*terminal
	reserved int // of byID's places, by creates that are under way
}

// terminal is one that an agent has made.
type terminal struct {
	id      string
	session string
	out     *tail
	// host is nil if the command could not be started; then failed is its exit.
	host   *host.Terminal
	failed *exitStatus

	killer   *time.Timer   // guarded by Terminals.mu; nil: not killed
	kept     chan struct{} // closed when it is left to the person that holds it
	released chan struct{} // closed with its release
}

// Has reports whether a method is one of the five.
func (s *Terminals) Has(method string) bool { return isTerminalMethod(method) }

// Handle answers one request.
func (s *Terminals) Handle(method string, params json.RawMessage) rpc.Reply {
	if s.conn.Context().Err() != nil {
		return rpc.Reply{Error: ahp.NewError(ahp.CodeNotPermitted, context.Cause(s.conn.Context()).Error())}
	}
	if method == methodCreate {
		var p createParams
		if e := decode(params, &p); e != nil {
			return rpc.Reply{Error: e}
		}
		result, e := s.create(&p)
		if e != nil {
			return rpc.Reply{Error: e}
		}
		return answered(encode(result))
	}
	var p terminalParams
	if e := decode(params, &p); e != nil {
		return rpc.Reply{Error: e}
	}
	t, e := s.find(&p)
	if e != nil {
		return rpc.Reply{Error: e}
	}
	switch method {
	case methodOutput:
		return rpc.Reply{Result: func(dst []byte) []byte { return append(dst, encode(s.output(t))...) }}
	case methodWait:
		return t.wait()
	case methodKill:
		e = s.kill(t)
	case methodRelease:
		s.release(t)
	}
	if e != nil {
		return rpc.Reply{Error: e}
	}
	return answered(json.RawMessage("{}"))
}

// answered is a small result.
func answered(result json.RawMessage) rpc.Reply {
	return rpc.Reply{Result: func(dst []byte) []byte { return append(dst, result...) }}
}

// Close kills and releases everything, and waits for the commands' ends.
func (s *Terminals) Close() {
	s.mu.Lock()
	left := s.byID
	s.byID = nil
	s.mu.Unlock()
	for _, t := range left {
		s.end(t)
	}
	s.tasks.Wait()
}

// find returns the terminal of an id. Those of another session are unknown.
func (s *Terminals) find(p *terminalParams) (*terminal, *ahp.Error) {
	if e := p.check(); e != nil {
		return nil, e
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.byID[p.TerminalID]; t != nil && t.session == p.SessionID {
		return t, nil
	}
	return nil, errNoTerminal()
}

// reserve takes a place for a terminal that is about to be made.
func (s *Terminals) reserve() *ahp.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID)+s.reserved >= maxTerminals {
		return ahp.NewError(ahp.CodeLimit, "this agent has "+strconv.Itoa(maxTerminals)+" terminals; release some", "limit", "terminals per agent")
	}
	s.reserved++
	return nil
}

func (s *Terminals) unreserve() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved--
}

// add makes t known under a new id, in its reserved place.
func (s *Terminals) add(t *terminal, base string) *createResult {
	r := &createResult{}
	if t.host != nil {
		base = t.host.Name()
		r.Meta.Termhost.Name, r.Meta.Termhost.URI = t.host.Name(), t.host.URI()
	}
	t.id = newID(host.Printable(base))
	r.TerminalID = t.id
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved--
	s.byID[t.id] = t
	if t.host != nil {
		s.tasks.Go(func() { s.attend(t) })
	}
	return r
}

// kill has the command's processes end. It returns at once.
func (s *Terminals) kill(t *terminal) *ahp.Error {
	if t.exit() != nil {
		return nil
	}
	p := s.conn.Principal()
	switch err := s.host.Signal(p, t.host, syscall.SIGTERM); {
	case err == host.ErrExited:
		return nil
	case err != nil:
		return t.refused(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.killer == nil && s.byID[t.id] == t {
		t.killer = time.AfterFunc(killGrace, func() {
			// Who has lost the right meanwhile has lost it to a person.
			_ = s.host.Hangup(p, t.host, 0)
		})
	}
	return nil
}

// release forgets t's id and ends its processes. A terminal whose keyboard a
// person has taken, from an agent that may not take it back, stays theirs.
func (s *Terminals) release(t *terminal) {
	s.mu.Lock()
	first := s.byID[t.id] == t
	delete(s.byID, t.id)
	s.mu.Unlock()
	if first {
		s.end(t)
	}
}

// end hangs t's processes up, those in the background included. It is called once.
func (s *Terminals) end(t *terminal) {
	defer close(t.released)
	s.mu.Lock()
	if t.killer != nil {
		t.killer.Stop()
	}
	s.mu.Unlock()
	if t.host == nil {
		return
	}
	if err := s.host.Hangup(s.conn.Principal(), t.host, killGrace); err != nil {
		s.log.Info("an agent's terminal stays with its holder", "name", t.host.Name(), "reason", err)
		close(t.kept)
	}
}

// attend has a terminal counted as exited once it is, and then as released.
func (s *Terminals) attend(t *terminal) {
	select {
	case <-t.host.Done():
	case <-t.kept:
		return
	}
	s.shelve(s.conn.Principal(), t.host, false)
	<-t.released
	s.shelve(s.conn.Principal(), t.host, true)
}

func (t *terminal) refused(err error) *ahp.Error {
	return ahp.NewError(ahp.CodeNotPermitted, err.Error())
}

// exit returns how the command ended, once its last output is in out; nil: it
// runs.
func (t *terminal) exit() *exitStatus {
	if t.failed != nil {
		return t.failed
	}
	st, exited := t.host.Exit()
	if !exited {
		return nil
	}
	return exitOf(st)
}

// exitOf returns a status as ACP has it. One that nobody could learn is neither
// a code nor a signal.
func exitOf(st ptypool.ExitStatus) *exitStatus {
	switch {
	case st.Signal != 0:
		name := unix.SignalName(st.Signal)
		if name == "" {
			name = "SIG" + strconv.Itoa(int(st.Signal))
		}
		return &exitStatus{Signal: &name}
	case st.Code < 0:
		return &exitStatus{}
	}
	return &exitStatus{ExitCode: &st.Code}
}

func (s *Terminals) output(t *terminal) *outputResult {
	exit := t.exit() // first: what is there afterwards is all
	text, truncated := t.out.text()
	r := &outputResult{Output: text, Truncated: truncated, ExitStatus: exit}
	if s.unlisted(t) {
		r.Meta = &outputMeta{}
		r.Meta.Termhost.Gone = true
	}
	return r
}

// unlisted reports whether the host does not list t any more.
func (s *Terminals) unlisted(t *terminal) bool {
	if t.host == nil {
		return false // it never did
	}
	found, err := s.host.Find(s.conn.Principal(), t.host.Name())
	return err != nil || found != t.host
}

func (t *terminal) wait() rpc.Reply {
	if exit := t.exit(); exit != nil {
		return answered(encode(exit))
	}
	return rpc.Reply{Wait: func(ctx context.Context) (json.RawMessage, *ahp.Error) {
		select {
		case <-t.host.Done():
			return encode(t.exit()), nil
		case <-ctx.Done():
			return nil, ahp.NewError(ahp.CodeInternal, "the connection has ended")
		}
	}}
}
