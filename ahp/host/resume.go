package host

import (
	"fmt"

	"termhost/ahp/journal"
	"termhost/ptypool"
	"termhost/ptypool/keeper"
	"termhost/ptypool/termlog"
)

// Keeper keeps the programs of terminals from one host to the next. A [keeper.Link] is one.
type Keeper interface {
	ptypool.Starter
	// Seals reports whether it gives shells their nonces.
	Seals() bool
	// List returns what is kept.
	List() ([]keeper.Info, error)
	// Take hands over one of them, which nobody else reads from then on.
	Take(id string) (*keeper.Child, error)
}

// takeKept takes all terminals from the keeper, by their IDs. Nobody writes to their logs any more.
func (h *Host) takeKept() map[string]*keeper.Child {
	kept := map[string]*keeper.Child{}
	from := h.cfg().Keeper
	if from == nil {
		return kept
	}
	list, err := from.List()
	if err != nil {
		h.log.Error("the keeper does not say which terminals it has", "err", err)
	}
	for _, info := range list {
		if kept[info.ID], err = from.Take(info.ID); err != nil {
			delete(kept, info.ID)
			h.log.Error("the keeper does not hand over a terminal", "id", info.ID, "err", err)
		}
	}
	return kept
}

// endUnknown ends what the keeper has and no description tells anything about: nobody could ever
// reach it.
func (h *Host) endUnknown(kept map[string]*keeper.Child) {
	for id, k := range kept {
		h.log.Warn("a program of the last host is ended: it is not known whose it is",
			"id", id, "process", k.Pid)
		go h.pool.EndKept(k) // the pool's shutdown waits until nothing is left
	}
}

// resume goes on with a terminal whose program runs.
func (h *Host) resume(r *remains) error {
	m := &r.Description
	t, err := h.reenter(r)
	if err != nil {
		return err
	}
	t.commands.integrated, t.commands.executed = m.Nonce != "", m.Outline.Commands
	h.goOn(t, r)
	h.creators.add(t.origin.marker, h.recalled(t.origin.creator, t.origin.proof))
	spec := ptypool.Spec{Marker: t.origin.marker, Cols: m.Outline.Cols, Rows: m.Outline.Rows,
		VT: t.origin.screen, Keep: t.log.journal.Keep()}
	if m.Piped {
		t.exec = &pipesExecutor{serverExecutor: serverExecutor{t}, detached: m.Detached}
		_, err = h.pool.TakePiped(r.kept, spec, events{t})
	} else {
		t.exec = &serverExecutor{t}
		_, err = h.pool.Take(r.kept, spec, events{t})
	}
	if err != nil {
		h.lose(t)
		return fmt.Errorf("its program is lost: %w", err)
	}
	t.log.tellDamage(r)
	if r.FromKeeper || r.Damaged {
		t.warn(t.log.journal.Describe(t.log.describe(), h.now()))
	}
	if piped, ok := t.exec.(*pipesExecutor); ok && !piped.detached || t.origin.forced {
		t.ending("with the connection that it was started on")
		t.exec.end(hangupGrace, "")
	}
	t.term.Lock()
	t.keyboard.typed = h.now()
	t.keyboard.watchIdle(h.cfg().KeyboardIdle)
	t.term.Unlock()
	h.resumed = append(h.resumed, t)
	return nil
}

// await goes on with a terminal whose program runs elsewhere, and waits for its owner.
func (h *Host) await(r *remains, owner *client) error {
	m := &r.Description
	t, err := h.reenter(r)
	if err != nil {
		return err
	}
	e := &clientExecutor{t: t, client: owner, cwd: m.Outline.Cwd, stream: !m.IsPty,
		grace: m.Grace}
	t.exec = e
	h.goOn(t, r)
	if mark := m.Outline.Owner; mark != nil {
		e.taken, e.half = mark.Seq, mark.Half
		if missing := mark.End - t.log.journal.Position(); mark.N > 0 && missing > 0 {
			// The owner sends all of it again.
			e.taken, e.half = mark.Seq-1, mark.Was
			e.again = journal.OwnerMark{Seq: mark.Seq, N: mark.N - missing}
		}
	}
	if _, err := h.pool.Virtual(m.Outline.Cols, m.Outline.Rows, t.origin.screen, events{t}); err != nil {
		h.lose(t)
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	grace := e.grace
	if expires := t.origin.creator.Expires; !expires.IsZero() {
		grace = min(grace, expires.Sub(h.now()))
	}
	e.waitLocked(grace)
	h.resumed = append(h.resumed, t)
	return nil
}

// lose takes back what reenter has done for a terminal that cannot go on.
func (h *Host) lose(t *Terminal) {
	h.mu.Lock()
	h.forgetLocked(t)
	h.mu.Unlock()
	t.ch.Remove()
}

// goOn has t's journal go on where an earlier host's has ended.
func (h *Host) goOn(t *Terminal, r *remains) {
	if err := t.log.journal.Continue(r.Remains, h.logPlace()); err != nil {
		h.log.Warn("a log that cannot be read is in the way of a new one", "folder", r.Dir,
			"err", err)
	}
	if log := r.Log; log != nil {
		t.kept.past.Store(&past{open: func() (*termlog.Log, error) { return log, nil }})
	}
}

// openResumed has the output read of the terminals that go on, and then reads their logs, one after
// the other: whether they wait for somebody to type is seen on the screen. Those that print or are
// looked at meanwhile do not wait for their turn.
func (h *Host) openResumed() {
	for _, t := range h.resumed {
		close(t.life.started)
	}
	h.waking.Go(func() {
		for _, t := range h.resumed {
			t.term.Lock()
			t.kept.loadLocked()
			if !t.life.exited {
				t.waiting.stir()
				t.waiting.stirQuiet()
				if t.keyboard.idle == nil || !t.keyboard.holder.viaSSH() { // else idleness takes it from a person
					t.keyboard.awaitTaker(h.cfg().ClientGrace)
				}
			}
			t.term.Unlock()
		}
		h.resumed = nil
	})
}
