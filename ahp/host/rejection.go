package host

import (
	"encoding/json"

	"termhost/ahp"
)

// refuse tells the sender, and nobody else, that its action was refused. Of the action only that
// much is sent back as is needed to recognise it: nothing that was typed, nothing that a client
// which applies refused actions would add to its mirror, and nothing large, because answers wait in
// memory until the peer reads them.
func (s step) refuse(uri string, a ahp.Action, reason string) {
	s.conn.sub.Answer(uri, s.rejection(a), s.origin, reason)
}

// rejection returns an action of a's type without what it would do.
func (s step) rejection(a ahp.Action) ahp.Action {
	switch a := a.(type) {
	case ahp.TerminalData:
		return ahp.TerminalData{}
	case ahp.TerminalInput:
		return ahp.TerminalInput{}
	case ahp.TerminalOutput:
		return ahp.TerminalOutput{}
	case ahp.TerminalTitleChanged:
		return ahp.TerminalTitleChanged{Title: CleanTitle(a.Title)}
	case ahp.TerminalCwdChanged:
		return ahp.TerminalCwdChanged{Cwd: Printable(clip(a.Cwd))}
	case ahp.TerminalCommandExecuted:
		a.CommandID, a.CommandLine = clip(a.CommandID), clip(a.CommandLine)
		return a
	case ahp.TerminalCommandFinished:
		a.CommandID = clip(a.CommandID)
		return a
	case ahp.TerminalClaimed:
		if !validClaim(a.Claim) {
			c := &a.Claim
			c.ClientID, c.Session, c.Chat = clip(c.ClientID), clip(c.Session), clip(c.Chat)
			c.TurnID, c.ToolCallID = clip(c.TurnID), clip(c.ToolCallID)
		}
		return a
	case ahp.TerminalExited:
		return ahp.TerminalExited{ExitCode: a.ExitCode}
	case ahp.TerminalResized, ahp.TerminalCleared, ahp.TerminalCommandDetectionAvailable:
		return a
	}
	if harmless := s.harmless(a.Type()); harmless != nil {
		return harmless
	}
	name := clip(a.Type())
	raw := append(ahp.AppendJSONString([]byte(`{"type":`), name), '}')
	return ahp.Unknown{Name: name, Raw: raw}
}

// harmless returns a valid action of a type, which changes as little as is possible. It stands for
// an action that could not be read, or that only the host may send. It is nil for types that AHP
// does not know, and for those for which only the terminal has one: see [Terminal.current].
func (s step) harmless(name string) ahp.Action {
	for _, a := range []ahp.Action{
		ahp.TerminalData{}, ahp.TerminalInput{}, ahp.TerminalOutput{}, ahp.TerminalExited{},
		ahp.TerminalCommandExecuted{}, ahp.TerminalCommandFinished{},
		ahp.RootAgentsChanged{}, ahp.RootActiveSessionsChanged{},
		ahp.RootConfigChanged{Config: map[string]json.RawMessage{}},
	} {
		if a.Type() == name {
			return a
		}
	}
	if name == (ahp.RootTerminalsChanged{}).Type() {
		return ahp.RootTerminalsChanged{Terminals: s.conn.root.Load().Terminals()}
	}
	return nil
}

// reject tells the sender of an action on t, and nobody else, that it was refused. The Term's lock
// is held.
func (t *Terminal) reject(s step, a ahp.Action, reason string) {
	current := t.current(a)
	if _, unread := a.(ahp.Unknown); unread && current != nil {
		s.refuse(t.uri, current, reason)
	} else {
		s.refuse(t.uri, a, reason)
	}
	if current != nil {
		// Official clients apply a rejected action to their mirror all the same. This puts it
		// right.
		s.conn.sub.Answer(t.uri, current, nil, "")
	}
}

// current returns an action with the present value of what a rejected action would have changed;
// nil where a client that applies a rejection has changed nothing.
func (t *Terminal) current(a ahp.Action) ahp.Action {
	sum := t.ch.Summary()
	switch a.Type() { // not the Go type, which is ahp.Unknown if the action could not be read
	case ahp.TerminalClaimed{}.Type():
		return ahp.TerminalClaimed{Claim: sum.Claim}
	case ahp.TerminalResized{}.Type():
		return ahp.TerminalResized{Cols: sum.Cols, Rows: sum.Rows}
	case ahp.TerminalTitleChanged{}.Type():
		return ahp.TerminalTitleChanged{Title: sum.Title}
	case ahp.TerminalCwdChanged{}.Type():
		if sum.Cwd != "" { // a client-executed terminal may have none
			return ahp.TerminalCwdChanged{Cwd: sum.Cwd}
		}
	}
	return nil
}
