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

// terminalLog is what is kept of a terminal for those who come later. It is guarded by the Term's
// lock.
type terminalLog struct {
	t        *Terminal
	journal  journal.Journal // has a lock of its own
	outline  journal.Outline // what listings need, for the journal
	outputAt time.Time       // when the output that is being handled came; zero: none is
	end      *journal.Ending // nil: it runs
	damage   string          // of what an earlier host has left of its log; "": there is none
	cut      bool            // what it printed first is gone from the log that it was read from
}

// keep begins the terminal's journal. It is called without the lock, before others know t.
func (l *terminalLog) keep() {
	t := l.t
	h := t.host
	s := t.ch.Summary()
	l.outline = journal.Outline{
		Title: s.Title, Renamed: t.renamed, Cwd: s.Cwd, Cols: s.Cols, Rows: s.Rows,
		Holder: storedHolder(t.keyboard.holder),
	}
	if h.folders == "" {
		return
	}
	log := h.logPlace()
	if log.Memory && t.Client() { // which no keeper has
		log = journal.Place{}
	}
	t.warn(l.journal.Begin(h.folders.New(), log, &h.spares, l.describe()))
	l.checkpoint(nil, "")
	if t.recorder.recorded || h.recordsNew(t) {
		begin := journal.Snapshot{Outline: l.outline}
		if err := t.recorder.begin(t.origin.creator.ID, begin); err != nil {
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
func (l *terminalLog) append(a ahp.Action, origin *ahp.Origin) uint64 {
	l.record(a, journal.Event{})
	return l.t.channel().Append(a, origin)
}

// appendParsed is append for an action that the output being handled has brought.
func (l *terminalLog) appendParsed(a ahp.Action) {
	l.record(a, journal.Event{Parsed: true})
	l.t.channel().Append(a, nil)
}

// record logs an action, unless it is in the log already.
func (l *terminalLog) record(a ahp.Action, ev journal.Event) {
	t := l.t
	if t.kept.replay != nil {
		return
	}
	at := l.when()
	switch a := a.(type) {
	case ahp.TerminalTitleChanged:
		ev.Renamed = t.renamed
	case ahp.TerminalClaimed:
		holder := storedHolder(t.keyboard.holder)
		ev.Holder, ev.Loans = &holder, storedLoans(t.keyboard.prior, t.keyboard.lent)
	case ahp.TerminalResized:
		l.outline.Apply(a, ev, at)
		size := termlog.SizePayload(a.Cols, a.Rows)
		t.warn(l.journal.Record(termlog.Resize, at, size))
		t.recorder.write(termlog.Resize, at, size)
		return
	}
	l.outline.Apply(a, ev, at)
	if e, ok := t.exec.(*clientExecutor); ok {
		ev.Owner = e.mark(0, e.half)
		l.outline.Owner = ev.Owner
	}
	if t.life.exited {
		t.warn(l.journal.Describe(l.describe(), at))
		return
	}
	ev.Action = ahp.AppendAction(nil, a, ahp.ShapeLifecycle)
	l.recordEvent(ev, at)
	if t.recorder.recording != nil && isCommand(a) {
		shown := journal.Event{Action: ev.Action, Parsed: ev.Parsed}
		t.recorder.write(termlog.Event, at, shown.Encode())
	}
}

func (l *terminalLog) recordEvent(ev journal.Event, at time.Time) {
	l.t.warn(l.journal.Record(termlog.Event, at, ev.Encode()))
}

// keepCheckpoint logs a checkpoint if one is due. All output so far has been handled. One in the
// middle of a sequence waits: the redraw has no place for the beginning of one.
func (l *terminalLog) keepCheckpoint() {
	l.outputAt = time.Time{}
	if l.t.kept.replay != nil || !l.journal.CheckpointDue() {
		return
	}
	if screen := l.t.term.Screen(); !screen.InSequence() {
		l.checkpoint(screen.AppendRedraw(nil, vt.Redraw{}), string(screen.AppendMarks(nil)))
	}
}

func (l *terminalLog) checkpoint(redraw []byte, marks string) {
	t := l.t
	s := journal.Snapshot{Outline: l.outline, Position: t.ch.Position(), Marks: marks,
		Redraw: redraw}
	t.warn(l.journal.Checkpoint(&s, t.host.now()))
}

// keepEnd logs how the terminal has ended, and what readers are told of it.
func (l *terminalLog) keepEnd(st ptypool.ExitStatus, told ahp.TerminalExited) {
	t := l.t
	l.end = &journal.Ending{
		Status: termlog.Status{Code: st.Code, Signal: int(st.Signal), At: t.life.exitedAt,
			Logged: l.journal.Logged()},
		Untold: told.ExitCode == nil, Why: t.EndedBy(),
	}
	t.warn(l.journal.End(l.end, l.describe))
}

// describe returns the description for the journal.
func (l *terminalLog) describe() *journal.Description {
	t := l.t
	grace, detached := time.Duration(0), false
	switch e := t.exec.(type) {
	case *clientExecutor:
		grace = e.grace
	case *pipesExecutor:
		detached = e.detached
	}
	return &journal.Description{
		Proof: t.origin.proof, Grace: grace, Detached: detached,
		Boot: t.host.boot, URI: t.uri, Created: t.origin.created,
		Name: t.Name(), Former: t.naming.Load().former,
		Creator: t.origin.creator, CreatedBy: t.origin.createdBy, Transient: t.life.transient,
		Forced: t.origin.forced, Client: t.Client(), IsPty: t.exec.isPty(), Piped: t.Piped(),
		Guarded: t.approvals.on, Unstarted: t.approvals.unstarted(),
		Term: t.origin.screen.Term, Tag: t.tag,
		Nonce: t.origin.screen.Nonce, Marker: t.origin.marker, Outline: l.outline, End: l.end,
		Damage: l.damage,
	}
}

// channel returns where the terminal's actions go: while its log is read, that is a draft.
func (t *Terminal) channel() *store.Channel {
	if t.kept.replay != nil {
		return t.kept.replay.draft
	}
	return t.ch
}

// when returns the time for what happens now; for what the output brings, when that was read.
func (l *terminalLog) when() time.Time {
	t := l.t
	switch {
	case t.kept.replay != nil:
		return t.kept.replay.at
	case !l.outputAt.IsZero():
		return l.outputAt
	}
	return t.host.now()
}

// listChanged says that the root's list has changed.
func (t *Terminal) listChanged() {
	if t.kept.replay == nil {
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

// keepDescription writes the terminal's description to its journal anew. The Term's lock is held.
func (l *terminalLog) keepDescription() {
	l.t.warn(l.journal.Describe(l.describe(), l.t.host.now()))
}
