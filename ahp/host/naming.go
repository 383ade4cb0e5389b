package host

import (
	"context"
	"slices"

	"termhost/ahp"
	"termhost/authz"
)

// maxFormer is how many of its earlier NAMEs a terminal is still found by.
const maxFormer = 8

// renamed returns n changed to a new NAME.
func (n *naming) renamed(name string) *naming {
	former := append([]string{n.name}, n.former...)
	former = slices.DeleteFunc(former, func(was string) bool { return was == name })
	return &naming{name: name, former: former[:min(len(former), maxFormer)]}
}

// reasonGuardedName is why an agent may not rename a guarded terminal: people know it by its NAME.
const reasonGuardedName = "the terminal is guarded: only a person renames it"

// GiveName renames t, for a connection that may dispose of it. The URI stays, and the old NAME
// still finds t as long as no other terminal has it. If the title is the old NAME, it becomes the
// new one. An agent may not rename a guarded terminal; if it gives a terminal a guarded NAME, the
// terminal is guarded from then on. GiveName returns the old NAME; its errors are *authz.Denied,
// *HeldError, *NameError, *ExistsError, *ahp.Error if the terminal is gone, or why the connection
// has ended.
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
		t.approvals.on, t.approvals.nameGuarded = true, true
	}
	stays := t.approvals.on && t.approvals.nameGuarded
	if !t.renamed && t.ch.Summary().Title == was {
		t.log.append(ahp.TerminalTitleChanged{Title: name}, nil)
	}
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Name, m.Guarded = t.otherName(), t.approvals.on })
	t.log.writeDecisions()
	t.log.keepDescription()
	t.viewers.wakeBelow()
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

// mayName returns why the connection's principal may not rename t.
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

// changeName renames t in the registry. guarded: t has to be guarded from now on, because an agent
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
	h.setNameLocked(t, name)
	if byAgent {
		return was, h.guarded.has(name), nil
	}
	h.noteGuardedLocked(name, false)
	return was, false, nil
}

// setNameLocked gives t a NAME that is free, and keeps the present one as a former one. Host.mu is
// held.
func (h *Host) setNameLocked(t *Terminal, name string) {
	was := t.naming.Load()
	now := was.renamed(name)
	for _, old := range was.former {
		if h.former[old] == t && !slices.Contains(now.former, old) {
			delete(h.former, old)
			h.taken.free(old)
		}
	}
	t.naming.Store(now)
	delete(h.names, was.name) // it is a former one, and so not free
	h.names[name], h.former[was.name] = t, t
	h.namesChangedLocked()
}

// freeURILocked returns a URI for a new terminal. It ends with the terminal's NAME, unless a
// terminal that had the NAME before has that URI. Host.mu is held.
func (h *Host) freeURILocked(name string) string {
	uri := ahp.TerminalURI(name)
	if h.terminals[uri] == nil {
		return uri
	}
	return ahp.TerminalURI(h.freeNameLocked(name, false))
}
