package host_test

import (
	"fmt"
	"strings"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/authz"
)

// action returns an action that a client may dispatch, in ways that are right and wrong.
func (m *hostModel) action(c *modelConn) ahp.Action {
	code := m.c.N(3)
	switch m.c.N(14) {
	case 0, 1:
		return ahp.TerminalInput{Data: []byte("k")}
	case 2:
		return ahp.TerminalResized{Cols: m.c.N(3) * 50, Rows: 24}
	case 3:
		return ahp.TerminalTitleChanged{Title: strings.Repeat("t", m.c.N(3))}
	case 4, 5, 6:
		return ahp.TerminalClaimed{Claim: m.claimOf(c)}
	case 7:
		return ahp.TerminalCleared{}
	case 8, 9:
		return ahp.TerminalOutput{Data: []byte(fmt.Sprintf("\x1b[3%dmo\u00e9\r\n", code))}
	case 10:
		if m.c.N(4) > 0 {
			return ahp.TerminalOutput{}
		}
		return ahp.TerminalExited{ExitCode: &code}
	case 11:
		return ahp.TerminalCommandExecuted{CommandID: "1", CommandLine: "make", Timestamp: 1}
	case 12:
		return ahp.TerminalCommandFinished{CommandID: "1", ExitCode: &code}
	default:
		return ahp.TerminalData{Data: []byte("forged")}
	}
}

// dispatch dispatches an action of some kind.
func (m *hostModel) dispatch(c *modelConn) {
	uri, a := m.uri(), m.action(c)
	if m.c.N(4) > 0 {
		m.read(c)
	}
	m.send(c, uri, a)
}

// race has two connections that follow a terminal claim it, of which the second does not know of
// the first one's claim.
func (m *hostModel) race(a *modelConn) {
	b, uri := m.conns[m.c.N(len(m.conns))], ahp.TerminalURI(fmt.Sprintf("t%d", m.c.N(modelServers)))
	m.subscribe(a, uri)
	m.subscribe(b, uri)
	m.send(a, uri, ahp.TerminalClaimed{Claim: ahp.ClientClaim(a.client.id)})
	m.send(b, uri, ahp.TerminalClaimed{Claim: ahp.ClientClaim(b.client.id)})
}

// send dispatches an action and checks what has come of it.
func (m *hostModel) send(c *modelConn, uri string, a ahp.Action) {
	want := m.expect(c, uri, a)
	c.client.seq++
	seq := c.client.seq
	c.due[seq] = want
	m.did("%s (%s) dispatches %s %+v to %s, which is refused for %q",
		c.client.id, c.client.principal.Name, a.Type(), a, uri, want)
	taken := c.c.Dispatch(uri, seq, a)
	if taken != (want == "") {
		m.fail("taken: %v", taken)
	}
	if taken {
		m.take(c, m.at(uri), a)
	}
	if m.c.N(2) == 0 {
		m.read(c)
		if _, due := c.due[seq]; due {
			m.fail("it was not answered")
		}
	}
}

// expect returns a part of the reason for which an action must be refused; "": it must be taken.
func (m *hostModel) expect(c *modelConn, uri string, a ahp.Action) string {
	tm := m.at(uri)
	switch {
	case uri == ahp.RootURI:
		return reasonReadOnly
	case tm == nil, !tm.sees(c.client.principal):
		return reasonUnknown
	case a.Type() == (ahp.TerminalData{}).Type():
		return "not dispatched by clients"
	case c.client.principal.Guest != "" && fromOwner(a):
		return "a guest may only"
	case tm.owner != nil:
		return m.expectOfClient(c, tm, a)
	}
	p := c.client.principal
	holds := tm.holder.principal == p.ID
	if !mayDispatch(p, holds, a) {
		return ruleOf(p, a)
	}
	return m.refusal(c, tm, a)
}

// fromOwner reports whether only the owner of a client-executed terminal may say that.
func fromOwner(a ahp.Action) bool {
	switch a.(type) {
	case ahp.TerminalOutput, ahp.TerminalExited, ahp.TerminalCommandExecuted,
		ahp.TerminalCommandFinished:
		return true
	}
	return false
}

func (m *hostModel) expectOfClient(c *modelConn, tm *modelTerm, a ahp.Action) string {
	switch a.(type) {
	case ahp.TerminalInput:
		return "observation-only"
	case ahp.TerminalClaimed:
		return "stays with its owner"
	}
	switch {
	case c.client.principal.Role == authz.Observer:
		return "observers may only look"
	case tm.owner != c.client:
		return "comes from its owner only"
	}
	return m.refusal(c, tm, a)
}

// refusal returns why an action is refused that the policy permits.
func (m *hostModel) refusal(c *modelConn, tm *modelTerm, a ahp.Action) string {
	switch a := a.(type) {
	case ahp.TerminalResized:
		if a.Cols == 0 {
			return reasonSize
		}
	case ahp.TerminalTitleChanged:
		if a.Title == "" {
			return reasonTitle
		}
		return ""
	case ahp.TerminalClaimed:
		switch {
		case !validClaim(a.Claim):
			return reasonNoClaim
		case m.holderOf(c, a.Claim).principal == "":
			return reasonClaim
		case m.crosses(c, tm):
			return "took the keyboard at the same moment"
		}
		return ""
	case ahp.TerminalCommandExecuted:
		if tm.running && !tm.exited {
			return "a command of this commandId is running"
		}
	case ahp.TerminalCommandFinished:
		if !tm.running && !tm.exited {
			return "no command of this commandId is running"
		}
	}
	if tm.exited {
		return reasonExited
	}
	return ""
}

// holderOf returns who a claim of the client's makes the holder; nobody: it cannot be made.
func (m *hostModel) holderOf(c *modelConn, claim ahp.Claim) modelHolder {
	if claim.Kind == ahp.ClaimSession {
		return modelHolder{claim, c.client.principal.ID}
	}
	if cl := m.clients[claim.ClientID]; cl != nil {
		return modelHolder{claim, cl.principal.ID}
	}
	return modelHolder{}
}

// crosses reports whether a client claims without having read of the last claim, by a connection of
// the same role or a higher one.
func (m *hostModel) crosses(c *modelConn, tm *modelTerm) bool {
	mi := c.client.mirrors[tm.uri]
	return tm.last != nil && tm.last != c && c.client.principal.Role <= tm.role &&
		tm.holder.claim != ahp.ClientClaim(c.client.id) &&
		mi != nil && mi.of == tm && max(c.client.seen, mi.from) < tm.claimedAt
}

// take changes the model by an action that was taken.
func (m *hostModel) take(c *modelConn, tm *modelTerm, a ahp.Action) {
	switch a := a.(type) {
	case ahp.TerminalTitleChanged:
		tm.title = a.Title
	case ahp.TerminalClaimed:
		tm.holder = m.holderOf(c, a.Claim)
		tm.last, tm.role = c, c.client.principal.Role
		tm.claimedAt = host.HolderOf(tm.t).ClaimedAt
	case ahp.TerminalExited:
		tm.exited, tm.running = true, false
	case ahp.TerminalCommandExecuted:
		tm.running = true
	case ahp.TerminalCommandFinished:
		tm.running = false
	}
}

// validClaim reports whether a claim of claimOf names a client, or a session that is no channel.
func validClaim(c ahp.Claim) bool {
	return c.Kind == ahp.ClaimClient && c.ClientID != "" ||
		c.Kind == ahp.ClaimSession && strings.HasPrefix(c.Session, "agent:")
}
