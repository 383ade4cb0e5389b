package host

import "time"

// remove ends t with all its processes and forgets it. by is the name of whoever wants that; "":
// nobody does. It may be called by several at a time; each call returns when t cannot be found any
// more.
func (h *Host) remove(t *Terminal, by string) {
	_ = h.removeFor(t, by, nil) // if that fails, the terminal is listed when the keeper goes on
}

// removeFor is remove; from is the connection of by, or nil. It fails with *keeper.StoppedError if
// the keeper does not say that the program has ended. Then the terminal stays listed.
func (h *Host) removeFor(t *Terminal, by string, from *Conn) error {
	notice := ""
	if by != "" {
		notice = "disposed by " + Printable(by)
	}
	t.exec.end(hangupGrace, notice)
	if err := h.awaitEnd(t); err != nil {
		return err
	}
	h.forgetFor(t, by, from)
	return nil
}

const (
	// firstCheck is when awaitEnd first asks whether the keeper answers: most programs have ended.
	firstCheck = 100 * time.Millisecond
	// nextCheck is the pause between two such questions.
	nextCheck = time.Second
)

// awaitEnd waits for t's end, as long as the keeper, which tells that, answers. It fails with
// *keeper.StoppedError.
func (h *Host) awaitEnd(t *Terminal) error {
	pause := time.NewTimer(firstCheck)
	defer pause.Stop()
	for {
		select {
		case <-t.life.done:
			return nil
		case <-pause.C:
		}
		from := h.cfg().Keeper
		if from == nil || t.Client() {
			<-t.life.done
			return nil
		}
		if err := from.Check(); err != nil && !t.exitedNow() {
			return err
		}
		pause.Reset(nextCheck)
	}
}

// forget takes an exited terminal out of the host, for by as in remove. Processes that it left in
// the background go on, as they do after a logout from OpenSSH's sshd: nobody has asked for their
// end.
func (h *Host) forget(t *Terminal, by string) { h.forgetFor(t, by, nil) }

// forgetFor is forget; from is the connection of by, or nil.
func (h *Host) forgetFor(t *Terminal, by string, from *Conn) {
	t.term.Lock()
	t.endRecording() // it may have been behind
	t.output.usage.forgotten = true
	t.output.countMemory()
	guarded := t.approvals.on && t.approvals.nameGuarded
	for id := range t.inputs {
		h.typists.remove(id, t)
	}
	t.inputs = nil
	t.term.Unlock()
	h.indexes.Drop(t)
	h.mu.Lock()
	first := h.terminals[t.uri] == t
	if first {
		h.forgetLocked(t)
		if guarded && !h.cfg().GuardAgents {
			h.noteGuardedLocked(t.Name(), true)
		}
		t.ch.Retire()
		h.janitor.sweep(t.log.journal.Remove()) // before another terminal may get the NAME
		h.janitor.sweep(h.drops.Remove(t.id))
	}
	h.mu.Unlock()
	if first {
		h.watchers.tell() // it wants nobody any more
		t.emit(Event{Kind: EventDisposed, By: by, from: from})
		h.list.changedThen(func() {
			t.ch.Remove()
			t.log.endTrail()
			close(t.life.gone)
		})
	}
}
