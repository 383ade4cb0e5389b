package host

import (
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/ahp/store"
	"termhost/ptypool"
	"termhost/ptypool/termlog"
	"termhost/ptypool/vt"
)

// This is how what happens to a terminal gets into its journal: actions before anybody is shown
// them, and checkpoints from which the log can be followed when its beginning is gone. All methods
// are called with the Term's lock held, unless they say otherwise.

// keep begins the terminal's journal. It is called without the lock, before others know t.
func (t *Terminal) keep() {
	h := t.host
	s := t.ch.Summary()
	t.outline = journal.Outline{
		Title: s.Title, Renamed: t.renamed, Cwd: s.Cwd, Cols: s.Cols, Rows: s.Rows,
		Holder: storedHolder(t.holder),
	}
	if h.folders == "" {
		return
	}
	log := h.logPlace()
	if log.Memory && t.Client() { // which no keeper has
		log = journal.Place{}
	}
	t.warn(t.journal.Begin(h.folders.New(), log, &h.spares, t.describe()))
	t.checkpoint(nil, "")
	if t.recorded || h.recordsNew(t) {
		if err := t.beginTape(t.creator.ID, journal.Snapshot{Outline: t.outline}); err != nil {
			h.log.Warn("a terminal is not recorded", "name", t.Name(), "err", err)
		}
	}
}

// logPlace returns where logs are. Without a keeper, which has that memory as well, there would be
// no use in one in memory.
func (h *Host) logPlace() journal.Place {
	switch cfg := h.cfg(); {
	case cfg.Persist:
		return journal.Place{Size: int64(h.logBytes())}
	case cfg.Keeper != nil:
		return journal.Place{Size: int64(h.logBytes()), Memory: true}
	}
	return journal.Place{}
}

// append applies an action to the terminal's channel, once it is logged, and returns its serverSeq.
func (t *Terminal) append(a ahp.Action, origin *ahp.Origin) uint64 {
	t.record(a, journal.Event{})
	return t.channel().Append(a, origin)
}

// appendParsed is append for an action that the output being handled has brought.
func (t *Terminal) appendParsed(a ahp.Action) {
	t.record(a, journal.Event{Parsed: true})
	t.channel().Append(a, nil)
}

// record logs an action, unless it is in the log already.
func (t *Terminal) record(a ahp.Action, ev journal.Event) {
	if t.replay != nil {
		return
	}
	at := t.when()
	switch a := a.(type) {
	case ahp.TerminalTitleChanged:
		ev.Renamed = t.renamed
	case ahp.TerminalClaimed:
		holder := storedHolder(t.holder)
		ev.Holder, ev.Loans = &holder, storedLoans(t.prior, t.lent)
	case ahp.TerminalResized:
		t.outline.Apply(a, ev, at)
		size := termlog.SizePayload(a.Cols, a.Rows)
		t.warn(t.journal.Record(termlog.Resize, at, size))
		t.tapeWrite(termlog.Resize, at, size)
		return
	}
	t.outline.Apply(a, ev, at)
	if e, ok := t.exec.(*clientExecutor); ok {
		ev.Owner = e.mark(0, e.half)
		t.outline.Owner = ev.Owner
	}
	if t.exited {
		t.warn(t.journal.Describe(t.describe(), at))
		return
	}
	ev.Action = ahp.AppendAction(nil, a, ahp.ShapeLifecycle)
	t.recordEvent(ev, at)
	if t.tape != nil && isCommand(a) {
		shown := journal.Event{Action: ev.Action, Parsed: ev.Parsed}
		t.tapeWrite(termlog.Event, at, shown.Encode())
	}
}

func (t *Terminal) recordEvent(ev journal.Event, at time.Time) {
	t.warn(t.journal.Record(termlog.Event, at, ev.Encode()))
}

// keepCheckpoint logs a checkpoint if one is due. All output so far has been handled. One in the
// middle of a sequence waits: the redraw has no place for the beginning of one.
func (t *Terminal) keepCheckpoint() {
	t.outputAt = time.Time{}
	if t.replay != nil || !t.journal.CheckpointDue() {
		return
	}
	if screen := t.term.Screen(); !screen.InSequence() {
		t.checkpoint(screen.AppendRedraw(nil, vt.Redraw{}), string(screen.AppendMarks(nil)))
	}
}

func (t *Terminal) checkpoint(redraw []byte, marks string) {
	s := journal.Snapshot{Outline: t.outline, Position: t.ch.Position(), Marks: marks,
		Redraw: redraw}
	t.warn(t.journal.Checkpoint(&s, t.host.now()))
}

// keepEnd logs how the terminal has ended, and what readers are told of it.
func (t *Terminal) keepEnd(st ptypool.ExitStatus, told ahp.TerminalExited) {
	t.end = &journal.Ending{
		Status: termlog.Status{Code: st.Code, Signal: int(st.Signal), At: t.exitedAt,
			Logged: t.journal.Logged()},
		Untold: told.ExitCode == nil, Why: t.EndedBy(),
	}
	t.warn(t.journal.End(t.end, t.describe))
}

// describe returns the description for the journal.
func (t *Terminal) describe() *journal.Description {
	grace, detached := time.Duration(0), false
	switch e := t.exec.(type) {
	case *clientExecutor:
		grace = e.grace
	case *pipesExecutor:
		detached = e.detached
	}
	return &journal.Description{
		Proof: t.proof, Grace: grace, Detached: detached,
		Boot: t.host.boot, URI: t.uri, Created: t.created,
		Name: t.Name(), Former: t.naming.Load().former,
		Creator: t.creator, CreatedBy: t.createdBy, Transient: t.transient,
		Forced: t.forced, Client: t.Client(), IsPty: t.exec.isPty(), Piped: t.Piped(),
		Guarded: t.guard.on, Unstarted: t.unstarted(), Term: t.screen.Term, Tag: t.tag,
		Nonce: t.screen.Nonce, Marker: t.marker, Outline: t.outline, End: t.end,
		Damage: t.damage,
	}
}

// channel returns where the terminal's actions go: while its log is read, that is a draft.
func (t *Terminal) channel() *store.Channel {
	if t.replay != nil {
		return t.replay.draft
	}
	return t.ch
}

// when returns the time for what happens now; for what the output brings, when that was read.
func (t *Terminal) when() time.Time {
	switch {
	case t.replay != nil:
		return t.replay.at
	case !t.outputAt.IsZero():
		return t.outputAt
	}
	return t.host.now()
}

// begunBy returns who has typed the command that begins now.
func (t *Terminal) begunBy() string {
	if t.replay != nil {
		return t.replay.by[t.running]
	}
	return t.typist.begins()
}

// listChanged says that the root's list has changed.
func (t *Terminal) listChanged() {
	if t.replay == nil {
		t.host.list.changed()
	}
}

// warn tells of what has gone wrong with the journal, which the janitor tries again from then on.
// It is called with or without the lock.
func (t *Terminal) warn(err error) {
	if err != nil {
		t.host.log.Warn("a terminal is not kept on disk", "name", t.Name(), "err", err)
		t.host.janitor.exited()
	}
}
