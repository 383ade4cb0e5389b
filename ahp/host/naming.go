package host

import (
	"context"
	"slices"

	"termhost/ahp"
	"termhost/authz"
)

// naming is what a terminal is called. It never changes: a terminal that gets another NAME gets
// another naming.
type naming struct {
	name   string
	former []string // its earlier NAMEs, the last one first
}

// maxFormer is how many earlier NAMEs lead to a terminal.
const maxFormer = 8

// renamed returns the naming of a terminal that is called name from now on.
func (n *naming) renamed(name string) *naming {
	former := append([]string{n.name}, n.former...)
	former = slices.DeleteFunc(former, func(was string) bool { return was == name })
	return &naming{name: name, former: former[:min(len(former), maxFormer)]}
}

// Name returns the terminal's NAME.
func (t *Terminal) Name() string { return t.naming.Load().name }

// ID returns the last segment of the terminal's URI, which is its NAME until it gets another one.
func (t *Terminal) ID() string { return t.id }

// otherName returns the NAME of a terminal whose URI does not end with it; "" of any other.
func (t *Terminal) otherName() string {
	if name := t.Name(); name != t.id {
		return name
	}
	return ""
}

// reasonGuardedName refuses agents to rename a guarded terminal: people know it by its NAME.
const reasonGuardedName = "the terminal is guarded: only a person renames it"

// GiveName gives t another NAME, for a connection that may dispose of it. The URI stays, and the
// old NAME leads to t as long as no other terminal has it. A title that is the old NAME becomes the
// new one. An agent may not rename a guarded terminal, and one to which it gives a guarded NAME is
// guarded. GiveName returns the old NAME, *authz.Denied, *HeldError, *NameError, *ExistsError,
// [ErrGone], or why the connection has ended.
func (c *Conn) GiveName(t *Terminal, name string) (was string, err error) {
	if !ahp.ValidName(name) {
		return "", &NameError{name}
	}
	if err := c.mayName(t); err != nil {
		return "", err
	}
	was, guarded, err := c.host.changeName(t, name, c.agent())
	if err != nil || was == name {
		return was, err
	}
	t.term.Lock()
	if guarded && !t.Client() && !t.Piped() {
		t.approvals.on, t.approvals.named = true, true
	}
	stays := t.approvals.on && t.approvals.named
	if !t.renamed && t.ch.Summary().Title == was {
		t.log.append(ahp.TerminalTitleChanged{Title: name}, nil)
	}
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Name, m.Guarded = t.otherName(), t.approvals.on })
	t.log.keepDescription()
	t.emit(Event{Kind: EventRenamed, By: c.Name(), Was: was, from: c})
	t.term.Unlock()
	if stays && !c.host.cfg().GuardAgents {
		c.host.mu.Lock()
		c.host.noteGuardedLocked(was, true)
		c.host.mu.Unlock()
	}
	c.host.list.changed()
	c.host.log.Info("terminal renamed", "from", was, "name", name, "principal", c.principal.Name)
	return was, nil
}

// mayName returns why the connection's principal may not give t another NAME.
func (c *Conn) mayName(t *Terminal) error {
	t.kept.load()
	t.term.Lock()
	defer t.term.Unlock()
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	// The owner of a client-executed terminal is known by its key: see Dispose.
	err := t.check(step{principal: c.principal}, authz.Name)
	if err == nil && t.approvals.on && c.agent() {
		return t.denied(&authz.Denied{Verb: authz.Name, Rule: reasonGuardedName})
	}
	return err
}

// changeName changes the registry. guarded: the terminal has to be guarded now, because an agent
// has given it a NAME that people know as guarded.
func (h *Host) changeName(t *Terminal, name string, byAgent bool) (
	was string, guarded bool, err error,
) {
	h.mu.Lock()
	defer h.mu.Unlock()
	was = t.Name()
	switch {
	case h.terminals[t.uri] != t:
		return was, false, ErrGone
	case was == name:
		return was, false, nil
	case h.names[name] != nil:
		return was, false, &ExistsError{name}
	}
	h.callLocked(t, name)
	if byAgent {
		return was, h.guarded.has(name), nil
	}
	h.noteGuardedLocked(name, false)
	return was, false, nil
}

// callLocked has a NAME that is free lead to t, and the one that t had as a former one. Host.mu is
// held.
func (h *Host) callLocked(t *Terminal, name string) {
	was := t.naming.Load()
	now := was.renamed(name)
	for _, old := range was.former {
		if h.former[old] == t && !slices.Contains(now.former, old) {
			delete(h.former, old)
		}
	}
	t.naming.Store(now)
	delete(h.names, was.name)
	h.names[name], h.former[was.name] = t, t
}

// freeURILocked returns a URI for a terminal of a NAME. It ends with the NAME, unless the URI is
// that of a terminal which was called so before. Host.mu is held.
func (h *Host) freeURILocked(name string) string {
	uri := ahp.TerminalURI(name)
	if h.terminals[uri] == nil {
		return uri
	}
	return ahp.TerminalURI(h.freeNameLocked(name, false))
}

// keepDescription writes the terminal's description anew. The Term's lock is held.
func (l *terminalLog) keepDescription() {
	l.t.warn(l.journal.Describe(l.describe(), l.t.host.now()))
}
