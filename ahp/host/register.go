package host

import (
	"errors"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool"
)

// register gives t its NAME, URI and channel. cwd is the directory that it starts in, a file URI,
// and base what a NAME that the host chooses begins with. Others find t once it has started.
func (h *Host) register(t *Terminal, o CreateOptions, cwd, base string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	name := ""
	switch {
	case o.URI != "":
		t.uri = o.URI
		name, _ = ahp.TerminalName(o.URI)
	case o.Name != "":
		name = o.Name
	default:
		name = h.freeNameLocked(base, o.Fresh)
	}
	if h.names[name] != nil {
		return &ExistsError{name}
	}
	if t.uri == "" {
		t.uri = h.freeURILocked(name)
	}
	t.id, _ = ahp.TerminalName(t.uri)
	t.naming.Store(&naming{name: name})
	if err := h.mayCreateLocked(t.origin.creator); err != nil {
		return err
	}
	title := CleanTitle(o.Title)
	if title == "" {
		title = name
	}
	st := ahp.TerminalState{
		Title: title, Cwd: cwd, Cols: o.Cols, Rows: o.Rows, Claim: o.Claim,
		Client: t.Client(), IsPty: t.exec.isPty(),
	}
	t.output.lastCwd = st.Cwd
	keyboard := t.exec.kind() == authz.Server && !t.Piped()
	h.guardNewLocked(t, o, keyboard)
	st.Termhost.Guarded, st.Termhost.Holder = t.approvals.on, t.keyboard.holder.text()
	st.Termhost.Name, st.Termhost.Labels = t.otherName(), o.Labels
	st.Termhost.Program = ahp.LineBeginning(t.programLocked())
	t.labels.Store(&o.Labels)
	ch, err := h.store.Add(t.uri, st)
	if errors.Is(err, store.ErrExists) {
		return &ExistsError{name}
	}
	if err != nil {
		return err
	}
	t.ch = ch
	t.viewers.pixels = o.Pixels
	h.names[name] = t
	return nil
}

// run starts the Term of a registered terminal, for by, which may be nil. From then on others find
// the terminal; if it fails, the registration is taken back.
func (h *Host) run(t *Terminal, by *Conn, start func() error) error {
	t.log.keep()
	if err := start(); err != nil {
		close(t.life.started) // a process that started during a shutdown is read to its end
		h.mu.Lock()
		h.forgetLocked(t)
		h.mu.Unlock()
		close(t.life.listed)
		h.janitor.sweep(t.log.journal.Remove())
		t.ch.Remove()
		t.log.endTrail()
		if errors.Is(err, ptypool.ErrShutdown) {
			if t.term != nil {
				<-t.term.Done() // the pool is killing it
			}
			return ErrClosed
		}
		return err
	}
	t.emit(Event{Kind: EventCreated, By: t.origin.createdBy, from: by}) // nobody else knows t yet
	h.mu.Lock()
	h.order = append(h.order, t)
	h.terminals[t.uri] = t
	h.namesChangedLocked()
	if h.closed {
		t.exec.forget() // Shutdown did not see this terminal
	}
	h.mu.Unlock()
	close(t.life.listed)
	t.ch.List()
	h.watchers.tellConns() // it may be in a group
	h.list.changed()
	h.janitor.created()
	return nil
}
