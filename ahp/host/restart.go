package host

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool"
	"termhost/ptypool/keeper"
	"termhost/ptypool/termlog"
)

// How a terminal ended whose end no host has seen.
const (
	endedWithHost    = "because the host was restarted"
	endedWithMachine = "because the machine was restarted"
	endedUnstarted   = "before it had started: nobody had approved it when the host ended"
	endedDamaged     = "unseen, because its log is damaged"
)

// remains are what an earlier host has left of a terminal.
type remains struct {
	*journal.Remains
	id   string        // of the folder, and of the keeper's terminal
	kept *keeper.Child // nil: no keeper has it
}

// This is the whole restart: a host lists the terminals that an earlier one has left in the state
// folder and with the keeper.
//
//	takeKept                       takes them from the keeper
//	restore                        finds them, readAll from the folder
//	  restoreTerminal              decides what becomes of each; restoreListed lists it
//	    restoreRunning             its program runs, and the keeper has it
//	    restoreClientExecuted      its program runs elsewhere, and its owner may come back
//	    restoreEnded               its program has ended, seen or unseen
//	openRestored                   reads the output of those that run
//	keptLog.load                   reads a terminal's log when it is needed; restart_replay.go

// restore lists the terminals that an earlier host has left, and sets aside what cannot be read.
// New calls it, before anybody knows the host.
func (h *Host) restore(kept map[string]*keeper.Child) {
	dir := h.cfg().StateDir
	if dir == "" {
		return
	}
	var err error
	if h.folders, err = journal.OpenFolders(dir); err != nil {
		h.log.Warn("what terminals print is not kept on disk", "err", err)
	}
	h.boot = keeper.BootID()
	if err := h.spares.Open(dir); err != nil {
		h.log.Warn("no folders are made ahead for terminals, which start later", "err", err)
	}
	left, err := h.folders.Left()
	if err != nil {
		h.log.Warn("the terminals of the last host are not listed", "err", err)
	}
	for _, file := range left.Others {
		h.log.Warn("something among the terminals of the last host is not a terminal: move it away",
			"file", file)
	}
	found := h.readAll(left, kept)
	// The youngest of a NAME is the one that counts.
	slices.SortFunc(found, func(a, b *remains) int {
		return b.Description.Created.Compare(a.Description.Created)
	})
	for _, r := range found {
		if err := h.restoreTerminal(r); err != nil {
			r.Close()
			h.setAside(r.id, err)
		} else {
			delete(kept, r.id)
		}
	}
	h.endUnknown(kept)
	slices.Reverse(h.order)
	for _, t := range h.order {
		t.ch.List()
	}
	if len(h.order) > 0 {
		h.list.changed()
	}
}

// takeKept takes all terminals from the keeper, by their IDs. The keeper no longer writes their
// logs. If the keeper does not answer, no host may go on: it would take the terminals for ended.
func (h *Host) takeKept() (map[string]*keeper.Child, error) {
	kept := map[string]*keeper.Child{}
	from := h.cfg().Keeper
	if from == nil {
		return kept, nil
	}
	var stopped *keeper.StoppedError
	list, err := from.List()
	if errors.As(err, &stopped) {
		return nil, err
	}
	if err != nil {
		h.log.Error("the keeper does not say which terminals it has", "err", err)
	}
	for _, info := range list {
		if kept[info.ID], err = from.Take(info.ID); err != nil {
			delete(kept, info.ID)
			if errors.As(err, &stopped) {
				return nil, err
			}
			h.log.Error("the keeper does not hand over a terminal", "id", info.ID, "err", err)
		}
	}
	return kept, nil
}

// readAll reads the folders of terminals, several at a time.
func (h *Host) readAll(
	left journal.Left, kept map[string]*keeper.Child,
) (found []*remains) {
	var mu sync.Mutex
	var readers sync.WaitGroup
	next := make(chan string)
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for id := range next {
				r, err := journal.Restore(h.folders.Of(id), kept[id], h.now())
				if err != nil {
					h.setAside(id, err)
					continue
				}
				mu.Lock()
				found = append(found, &remains{r, id, kept[id]})
				mu.Unlock()
			}
		})
	}
	for id := range kept {
		if !slices.Contains(left.Terminals, id) && !slices.Contains(left.Removed, id) {
			next <- id // the disk was full when it was made
		}
	}
	for _, id := range left.Terminals {
		next <- id
	}
	close(next)
	readers.Wait()
	return found
}

// setAside moves the folder of a terminal that cannot be listed out of the way.
func (h *Host) setAside(id string, why error) {
	h.log.Warn("a terminal of the last host cannot be read, and is left aside", "folder",
		journal.SetAside(h.folders.Of(id)), "err", why)
}

// restoreTerminal restores one terminal, as running or as ended.
func (h *Host) restoreTerminal(r *remains) error {
	m := &r.Description
	if !validClaim(ahp.Claim(m.Outline.Holder.Claim)) {
		return journal.ErrNotTerminal
	}
	if m.End == nil && r.Damaged && r.kept == nil {
		m.End = h.endedNow(ptypool.UnknownExit, endedDamaged)
	}
	unseen := m.End == nil
	if r.kept != nil && unseen && !r.kept.Drained() {
		return h.restoreRunning(r)
	}
	if r.kept != nil && unseen && r.kept.Exit != nil {
		m.End = &journal.Ending{Status: r.kept.Exit.Ended()}
	}
	if cl := h.clients[m.Outline.Holder.Claim.ClientID]; m.Client && unseen && m.Grace > 0 &&
		cl != nil && cl.principal == m.Creator.ID {
		return h.restoreClientExecuted(r, cl)
	}
	if m.End != nil && m.End.Code == ptypool.UnknownExit && m.End.Why == "" && !m.Client {
		m.End.Why = endedUnseen
	}
	if m.End == nil {
		if m.Marker != "" && m.Boot == h.boot {
			h.pool.EndLeft(m.Marker) // such as what ignores the loss of its terminal
		}
		switch {
		case m.Unstarted:
			m.End = h.endedNow(ptypool.NotStarted, endedUnstarted)
		case m.Boot != h.boot:
			m.End = h.endedNow(ptypool.UnknownExit, endedWithMachine)
		default:
			m.End = h.endedNow(ptypool.UnknownExit, endedWithHost)
		}
	}
	t, err := h.restoreListed(r)
	if err != nil {
		return err
	}
	t.log.restoreTrail(r)
	open := func() (*termlog.Log, error) { return termlog.Open(r.Dir) }
	if log := r.Log; log != nil && r.Memory {
		open = func() (*termlog.Log, error) { return log, nil }
	} else {
		r.Close()
	}
	close(t.life.started)
	t.exec = &pastExecutor{t: t, client: m.Client, pty: m.IsPty, onPipes: m.Piped}
	t.kept.setPast(func() error {
		log, err := open()
		if err != nil {
			return err
		}
		defer log.Close()
		return t.kept.read(log)
	})
	h.pool.Restore(ptypool.Restored{Cols: m.Outline.Cols, Rows: m.Outline.Rows, VT: t.origin.screen,
		Piped: m.Piped}, events{t})
	t.restoreEnded(m.End)
	t.log.journal.Conclude(r.Remains)
	t.log.tellDamage(r)
	if unseen || r.Damaged {
		t.warn(t.log.journal.Describe(t.log.describe(), h.now()))
	}
	if r.kept != nil {
		r.kept.Forget()
		r.kept.Close()
	}
	return nil
}

// restoreListed makes the Terminal, with its NAME and its channel, which has everything but the
// content. The caller adds what depends on whether the program runs: the executor, the Term, the
// journal and the log to be read.
func (h *Host) restoreListed(r *remains) (*Terminal, error) {
	m, o := &r.Description, &r.Description.Outline
	if h.names[m.Name] != nil {
		return nil, fmt.Errorf("a younger terminal has its name, %s", m.Name)
	}
	by := restoredHolder(o.Holder)
	prior, lent := restoredLoans(o.Loans)
	ch, err := h.store.Add(m.URI, ahp.TerminalState{
		Title: o.Title, Cwd: o.Cwd, Cols: o.Cols, Rows: o.Rows, Claim: ahp.Claim(o.Holder.Claim),
		Client: m.Client, IsPty: m.IsPty, Detection: o.Detection,
		Termhost: ahp.TerminalMeta{Guarded: m.Guarded, Holder: by.text(), Name: m.OtherName(),
			Labels: m.Labels, Program: ahp.LineBeginning(m.Program),
			Lender: lenderName(prior, by, nil)},
	})
	if errors.Is(err, store.ErrExists) {
		return nil, fmt.Errorf("a younger terminal has its URI, %s", m.URI)
	}
	if err != nil {
		return nil, err
	}
	t := &Terminal{
		host: h, uri: m.URI, ch: ch, renamed: o.Renamed, tag: m.Tag,
		origin: origin{created: m.Created, creator: m.Creator, proof: m.Proof,
			createdBy: cmp.Or(m.CreatedBy, m.Creator.Name), forced: m.Forced, marker: m.Marker,
			program: m.Program},
		keyboard: keyboardClaim{holder: by, prior: prior, lent: lent},
		approvals: approvals{on: m.Guarded, onWhy: m.GuardedWhy, nameGuarded: m.Guarded,
			shellTells: o.Detection},
		log: terminalLog{outline: *o, damage: m.Damage},
	}
	t.begin()
	t.attention.restore(o.Missed)
	t.life.transient = m.Transient
	t.id, _ = ahp.TerminalName(t.uri)
	t.naming.Store(&naming{name: m.Name, former: m.Former})
	t.labels.Store(&m.Labels)
	if m.End == nil {
		t.waiting.Restore(o.Waits)
		t.status.restore(o.Status)
	}
	if t.origin.creator.Role == authz.NoRole { // see authz.Principal.UnmarshalJSON
		h.log.Warn("who made a terminal may do nothing from inside it: its rights are not known",
			"name", m.Name, "who", t.origin.creator.Name)
	}
	t.origin.screen = h.screen(m.Term)
	t.origin.screen.Nonce = m.Nonce
	if last := o.Last; last != nil { // for listings, until the log is read
		ch.Append(last.Executed(), nil)
		if last.Over {
			ch.Append(last.Finished(), nil)
		}
	}
	h.names[m.Name], h.terminals[t.uri] = t, t
	for _, was := range m.Former {
		if h.former[was] == nil { // a younger terminal comes first
			h.former[was] = t
		}
	}
	h.order = append(h.order, t)
	c := by.claim
	if c.Kind == ahp.ClaimClient && !m.Client && h.clients[c.ClientID] == nil {
		h.clients[c.ClientID] = &client{id: c.ClientID, principal: by.principal, name: by.name,
			left: h.now()}
	}
	return t, nil
}

// restoreRunning restores a terminal whose program runs.
func (h *Host) restoreRunning(r *remains) error {
	m := &r.Description
	t, err := h.restoreListed(r)
	if err != nil {
		return err
	}
	t.commands.integrated, t.commands.executed = m.Nonce != "", m.Outline.Commands
	t.log.restoreTrail(r)
	h.restoreJournal(t, r)
	t.log.restoreDecisions(r)
	h.creators.add(t.origin.marker, h.restoredCreator(t.origin.creator, t.origin.proof))
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
		h.dropRestored(t)
		return fmt.Errorf("its program is lost: %w", err)
	}
	t.log.tellDamage(r)
	t.tellGuarded()
	if r.FromKeeper || r.Damaged || m.GuardedWhy != "" {
		t.warn(t.log.journal.Describe(t.log.describe(), h.now()))
	}
	if piped, ok := t.exec.(*pipesExecutor); ok && !piped.detached || t.origin.forced {
		t.ending("with the connection that it was started on")
		t.exec.end(hangupGrace, "")
	}
	t.term.Lock()
	t.keyboard.lastTyped = h.now()
	t.keyboard.watchIdle(h.cfg().KeyboardIdle)
	t.term.Unlock()
	h.restored = append(h.restored, t)
	return nil
}

// restoreClientExecuted restores a terminal whose program runs at its owner's, and waits for that
// one.
func (h *Host) restoreClientExecuted(r *remains, owner *client) error {
	m := &r.Description
	t, err := h.restoreListed(r)
	if err != nil {
		return err
	}
	e := &clientExecutor{t: t, client: owner, cwd: m.Outline.Cwd, stream: !m.IsPty,
		grace: m.Grace}
	t.exec = e
	owner.owns.Store(true)
	h.restoreJournal(t, r)
	if mark := m.Outline.Owner; mark != nil {
		e.taken, e.half = mark.Seq, mark.Half
		if missing := mark.End - t.log.journal.Position(); mark.N > 0 && missing > 0 {
			// The owner sends the whole piece again.
			e.taken, e.half = mark.Seq-1, mark.Was
			e.again = journal.OwnerMark{Seq: mark.Seq, N: mark.N - missing}
		}
	}
	cols, rows := m.Outline.Cols, m.Outline.Rows
	if _, err := h.pool.Virtual(cols, rows, t.origin.screen, events{t}); err != nil {
		h.dropRestored(t)
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	grace := e.grace
	if expires := t.origin.creator.Expires; !expires.IsZero() {
		grace = min(grace, expires.Sub(h.now()))
	}
	e.waitLocked(grace)
	h.restored = append(h.restored, t)
	return nil
}

// restoreJournal continues t's journal where the earlier host's has ended.
func (h *Host) restoreJournal(t *Terminal, r *remains) {
	if err := t.log.journal.Continue(r.Remains, h.logPlace()); err != nil {
		h.log.Warn("a log that cannot be read is in the way of a new one", "folder", r.Dir,
			"err", err)
	}
	if log := r.Log; log != nil {
		t.kept.setPast(func() error { return t.kept.read(log) })
	} else {
		t.ch.Record(t.log.trail)
	}
}

// dropRestored undoes restoreListed for a terminal whose program is lost.
func (h *Host) dropRestored(t *Terminal) {
	h.mu.Lock()
	h.forgetLocked(t)
	h.mu.Unlock()
	t.ch.Remove()
	t.log.endTrail()
}

// endedNow returns an ending that nobody has seen.
func (h *Host) endedNow(code int, why string) *journal.Ending {
	return &journal.Ending{Why: why, Status: termlog.Status{Code: code, At: h.now()}}
}

// restoreEnded makes t a terminal that has ended. It is called before others know t.
func (t *Terminal) restoreEnded(e *journal.Ending) {
	st := e.ExitStatus()
	if now := t.host.now(); e.At.After(now) {
		e.At = now // the clock was set back
	}
	t.life.exited, t.life.exitedAt, t.log.end = true, e.At, e
	if e.Why != "" {
		t.life.ended.Store(&e.Why)
	}
	if last := t.log.outline.Last; last != nil && !last.Over {
		ms := max(e.At.Sub(last.Began).Milliseconds(), 0)
		over := ahp.TerminalCommandFinished{CommandID: last.ID, DurationMs: &ms}
		if e.Code != ptypool.UnknownExit {
			over.ExitCode = &e.Code
		}
		t.log.outline.Apply(over, journal.Event{}, e.At)
		t.ch.Append(over, nil)
	}
	t.ch.Append(e.Told(), nil)
	t.life.exit.Store(&st)
	close(t.life.done)
}

// tellDamage says in the host's log that t's is damaged, if it is.
func (l *terminalLog) tellDamage(r *remains) {
	if r.Damaged {
		l.t.host.log.Warn("the log of a terminal is damaged: what is whole is shown, and a gap",
			"name", l.t.Name(), "folder", r.Dir, "damage", l.damage)
	}
}

// endUnknown ends programs of the keeper's that no folder describes: nobody could ever reach them.
func (h *Host) endUnknown(kept map[string]*keeper.Child) {
	for id, k := range kept {
		h.log.Warn("a program of the last host is ended: it is not known whose it is",
			"id", id, "process", k.Pid)
		go h.pool.EndKept(k) // the pool's shutdown waits until nothing is left
	}
}

// openRestored begins to read the output of the terminals that run, and then loads their logs one
// after the other: the lookout needs their screens. Those that print or are looked at meanwhile are
// loaded at once.
func (h *Host) openRestored() {
	for _, t := range h.restored {
		close(t.life.started)
	}
	h.waking.Go(func() {
		for _, t := range h.restored {
			t.term.Lock()
			t.kept.loadLocked()
			if !t.life.exited {
				t.waiting.DoubtStopped() // it may have been with the last host
				t.waiting.active()
				t.waiting.resumeQuiet()
				kb := &t.keyboard
				if kb.idle == nil || !kb.holder.viaSSH() { // else idleness takes it from a person
					kb.awaitBorrower(h.cfg().ClientGrace)
				}
			}
			t.term.Unlock()
		}
		h.restored = nil
	})
}

// restoreTrail takes over what the earlier host has recorded.
func (l *terminalLog) restoreTrail(r *remains) {
	if r.kept == nil || r.Trail != nil {
		if trail, err := store.NewTrail(r.Trail); err == nil {
			l.trail = trail
		}
		return
	}
	f := r.kept.Trail()
	if f == nil {
		return // an older host has started the program
	}
	m, err := keeper.MapShared(f, store.TrailSize)
	if err != nil {
		l.t.host.log.Warn("clients of a terminal are resynchronised", "err", err)
		return
	}
	if l.trail, err = store.NewTrail(m.Mem); err != nil {
		m.Close()
		return
	}
	l.shared = m
}
