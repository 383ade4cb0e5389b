package host_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/ahptest"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/ahp/store"
	"termhost/authz"
)

// sees reports whether a terminal exists for somebody.
func (tm *modelTerm) sees(p authz.Principal) bool {
	return p.Sees(tm.t.Name(), tm.t.Info(alice).CreatedAt)
}

// at returns the terminal of a URI; nil: there is none.
func (m *hostModel) at(uri string) *modelTerm {
	i := slices.IndexFunc(m.terms, func(tm *modelTerm) bool { return tm.uri == uri })
	if i < 0 {
		return nil
	}
	return m.terms[i]
}

// create makes a terminal, or fails as it must.
func (m *hostModel) create(c *modelConn) {
	i := m.c.N(modelTerminals)
	name, p := fmt.Sprintf("t%d", i), c.client.principal
	uri := ahp.TerminalURI(name)
	claim := m.claimOf(c)
	params := ahp.CreateTerminalParams{Channel: uri, Claim: &claim}
	tm := &modelTerm{uri: uri, title: name, holder: modelHolder{claim, p.ID}}
	if i < modelServers {
		params.Meta = &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{Command: "/bin/cat"}}
	} else {
		tm.owner, tm.stays = c.client, m.c.N(2) == 0
		x := &ahp.CreateTerminalExtras{}
		if tm.stays {
			x.Grace = "1h"
		}
		params.ExecutionTarget, params.Meta = ahp.ExecutorClient, &ahp.CreateTerminalMeta{Termhost: x}
	}
	bad := created(rpc.CreateTerminal(c.c, params))
	own := claim == ahp.ClientClaim(c.client.id)
	may := p.Role >= authz.Operator && p.Guest == "" && m.at(uri) == nil && validClaim(claim) &&
		(own || claim.Kind == ahp.ClaimSession && tm.owner == nil)
	m.did("%s creates %s claimed by %+v: %v", c.client.id, name, claim, bad)
	if may != (bad == nil) {
		m.fail("it may: %v", may)
	}
	if bad == nil {
		tm.t = lookup(m.h, uri)
		m.terms = append(m.terms, tm)
	}
}

// claimOf returns a claim that the client may make, or one that is none of its business.
func (m *hostModel) claimOf(c *modelConn) ahp.Claim {
	switch m.c.N(6) {
	case 0:
		return ahp.ClientClaim(fmt.Sprintf("c%d", m.c.N(modelClients+1))) // the last is nobody's
	case 1:
		session := fmt.Sprintf("agent:/%d", m.c.N(2))
		return ahp.Claim{Kind: ahp.ClaimSession, Session: session}
	case 2:
		return ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-root://"}
	default:
		return ahp.ClientClaim(c.client.id)
	}
}

// uri returns the URI of a terminal of the pool, the root's, or one that never is.
func (m *hostModel) uri() string {
	if n := m.c.N(modelTerminals + 2); n > 1 {
		return ahp.TerminalURI(fmt.Sprintf("t%d", n-2))
	} else if n == 1 {
		return ahp.RootURI
	}
	return "ahp-terminal:/none"
}

func (m *hostModel) subscribe(c *modelConn, uri string) {
	tm := m.at(uri)
	exists := uri == ahp.RootURI || tm != nil && tm.sees(c.client.principal)
	m.read(c) // a client has one question at a time
	e := c.c.Subscribe(uri, func(dst []byte, v store.View) []byte {
		// Actions of other channels may come that are older than the snapshot.
		c.client.mirrors[uri] = m.mirror(tm, v)
		return dst
	})
	m.did("%s subscribes to %s: %v", c.client.id, uri, e)
	if exists != (e == nil) {
		m.fail("it exists: %v", exists)
	}
	m.read(c)
}

// mirror returns a client's copy of a view, as it comes over the wire.
func (m *hostModel) mirror(of *modelTerm, v store.View) *modelMirror {
	mi := &modelMirror{of: of, from: v.Seq}
	var w ahp.Snapshot
	err := json.Unmarshal(v.AppendJSON(nil, ahp.ShapeExitCode), &w)
	if err == nil && of == nil {
		err = mi.root.UnmarshalJSON(w.State)
	} else if err == nil {
		err = mi.terminal.UnmarshalJSON(w.State)
	}
	if err != nil {
		m.fail("a view: %v", err)
	}
	return mi
}

func (m *hostModel) unsubscribe(c *modelConn) {
	uri := m.uri()
	m.read(c)
	m.did("%s unsubscribes from %s", c.client.id, uri)
	c.c.Unsubscribe(uri)
	delete(c.client.mirrors, uri)
}

// read reads all that there is for a connection.
func (m *hostModel) read(c *modelConn) {
	for {
		items := c.c.Subscriber().Pull(nil, 1<<20)
		if len(items) == 0 {
			return
		}
		for _, it := range items {
			if it.Post != nil {
				it.Post(nil)
			} else {
				m.receive(c, it.Entry)
			}
		}
	}
}

// receive applies an action as it comes over the wire.
func (m *hostModel) receive(c *modelConn, e *store.Entry) {
	if e.Seq() <= c.client.seen {
		m.fail("%s got %d after %d", c.client.id, e.Seq(), c.client.seen)
	}
	c.client.seen = e.Seq()
	var w ahp.Envelope
	raw := e.AppendEnvelope(nil, ahp.ShapeExitCode)
	if err := json.Unmarshal(raw, &w); err != nil {
		m.fail("%s: %v", raw, err)
	}
	a, err := ahp.DecodeAction(w.Action)
	if err != nil {
		m.fail("%s: %v", raw, err)
	}
	if o := w.Origin; o != nil && o.ClientID == c.client.id {
		want, due := c.due[o.ClientSeq]
		if !due && o.ClientSeq > c.first {
			m.fail("%s was answered again: %s", c.client.id, raw)
		}
		if due && !strings.Contains(w.RejectionReason, want) ||
			due && want == "" && w.RejectionReason != "" {
			m.fail("%s was answered with %q, want %q", c.client.id, w.RejectionReason, want)
		}
		delete(c.due, o.ClientSeq)
	} else if a.Type() == (ahp.TerminalInput{}).Type() || w.RejectionReason != "" {
		m.fail("%s was shown an answer to somebody else: %s", c.client.id, raw)
	}
	mi := c.client.mirrors[w.Channel]
	if mi == nil || w.RejectionReason != "" {
		return
	}
	if mi.of == nil {
		mi.root.Apply(a)
	} else {
		mi.terminal.ApplyCopy(a)
	}
}

func (m *hostModel) dispose(c *modelConn) {
	uri := m.uri()
	tm, p := m.at(uri), c.client.principal
	bad := rpc.DisposeTerminal(c.c, uri)
	m.did("%s disposes of %s: %v", c.client.id, uri, bad)
	may := tm != nil && tm.sees(p) && p.Guest == "" && p.Role >= authz.Operator &&
		(p.Role == authz.Admin || tm.owner == c.client || tm.owner == nil && tm.holder.principal == p.ID)
	if may != (bad == nil) {
		m.fail("it may: %v", may)
	}
	if may {
		m.gone(tm)
	}
}

// gone forgets a terminal that was disposed of.
func (m *hostModel) gone(tm *modelTerm) {
	m.terms = slices.DeleteFunc(m.terms, func(o *modelTerm) bool { return o == tm })
	if lookup(m.h, tm.uri) != nil {
		m.fail("%s is still there", tm.uri)
	}
	host.FlushList(m.h) // then its readers are let go
	for _, cl := range m.clients {
		if cl.conn != nil {
			m.read(cl.conn)
			delete(cl.mirrors, tm.uri)
		}
	}
}

// close ends a connection. Terminals that the client runs end, or wait for it.
func (m *hostModel) close(c *modelConn) {
	m.did("%s leaves", c.client.id)
	c.c.Close()
	m.forget(c)
	c.client.conn = nil
	for _, tm := range slices.Clone(m.terms) {
		if tm.owner == c.client && !tm.stays && !tm.exited {
			m.gone(tm)
		}
	}
}

// forget takes a connection that has ended out of the model.
func (m *hostModel) forget(c *modelConn) {
	m.conns = slices.DeleteFunc(m.conns, func(o *modelConn) bool { return o == c })
}

// resume applies what a reconnect has brought.
func (m *hostModel) resume(c *modelConn, r host.Replay) {
	missing := map[string]bool{}
	for _, uri := range r.Missing {
		missing[uri] = true
	}
	for uri, mi := range c.client.mirrors {
		tm := m.at(uri)
		stands := uri == ahp.RootURI || tm != nil && tm == mi.of && tm.sees(c.client.principal)
		if stands == missing[uri] {
			m.fail("%s is missing: %v", uri, missing[uri])
		}
	}
	maps.DeleteFunc(c.client.mirrors, func(uri string, _ *modelMirror) bool { return missing[uri] })
	for _, e := range r.Actions {
		m.receive(c, e)
	}
}

// settle has everybody read everything and compares.
func (m *hostModel) settle() {
	host.FlushList(m.h)
	for _, c := range m.conns {
		m.read(c)
		if len(c.due) > 0 {
			m.fail("%s has not been answered: %v", c.client.id, c.due)
		}
		for uri, mi := range c.client.mirrors {
			m.compare(c, uri, mi)
		}
	}
	for _, tm := range m.terms {
		if got := tm.t.Info(alice).Claim; got != tm.holder.claim {
			m.fail("%s is claimed by %+v, not %+v", tm.uri, got, tm.holder.claim)
		}
		if got := state(m.t, m.h, tm.t).Title; got != tm.title {
			m.fail("%s has the title %q, not %q", tm.uri, got, tm.title)
		}
		who := host.HolderOf(tm.t).Principal
		if who != tm.holder.principal {
			m.fail("%s is held by %s, not %s", tm.uri, who, tm.holder.principal)
		}
	}
}

// compare waits until a mirror equals the host's state: a pty may still echo what was typed.
func (m *hostModel) compare(c *modelConn, uri string, mi *modelMirror) {
	if mi.of == nil {
		list := host.RootOf(c.c)
		got, want := jsonOf(m.t, mi.root.Terminals), jsonOf(m.t, list)
		if got != want && len(list)+len(mi.root.Terminals) > 0 {
			m.fail("%s has the list\n%s, not\n%s", c.client.id, got, want)
		}
		return
	}
	deadline := time.After(hosttest.Patience)
	for {
		m.read(c)
		st := state(m.t, m.h, mi.of.t)
		st.Termhost, mi.terminal.Meta = ahp.TerminalMeta{}, nil // only snapshots have it
		got := mi.terminal.AppendJSON(nil, ahp.ShapeExitCode)
		want := st.AppendJSON(nil, ahp.ShapeExitCode)
		if string(got) == string(want) {
			return
		}
		select {
		case <-c.c.Subscriber().Signal():
		case <-deadline:
			m.fail("%s has of %s\n%s, not\n%s", c.client.id, uri, got, want)
		}
	}
}

func jsonOf(t *testing.T, v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestModel(t *testing.T) {
	t.Parallel()
	const runs = 5 // and FuzzDispatch makes more
	for seed := range uint64(runs) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			newHostModel(t, ahptest.RandomChoices(seed, 400)).run()
		})
	}
}

func FuzzDispatch(f *testing.F) {
	ahptest.FuzzChoices(f, 300, 1<<11, func(t *testing.T, c ahptest.Choices) { newHostModel(t, c).run() })
}
