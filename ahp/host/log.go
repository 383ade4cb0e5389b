package host

import (
	"sync"
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/ahp/recordings"
	"termhost/ahp/store"
	"termhost/ptypool"
	"termhost/ptypool/keeper"
	"termhost/ptypool/termlog"
	"termhost/ptypool/vt"
)

// terminalLog writes a terminal's journal: each action before anybody is shown it, and checkpoints,
// from which a reader can start when the log's beginning is gone. The Term's lock guards it, and is
// held when its methods are called, unless they say otherwise.
type terminalLog struct {
	t        *Terminal
	journal  journal.Journal // has a lock of its own
	outline  journal.Outline // what listings need, for the journal
	outputAt time.Time       // when the output that is being handled came; zero: none is
	end      *journal.Ending // nil: it runs
	damage   string          // of what an earlier host has left of its log; "": there is none
	shared   *keeper.Shared  // the memory of the trail; nil: no keeper holds it
	trail    *store.Trail    // of the channel's serverSeqs; nil: they are not recorded
	trailEnd sync.Once       // see endTrail
	cut      bool            // the beginning of the log that it was restored from is gone
	// decisions has what people have decided; nil: no keeper holds it. See keepDecisions.
	decisions *journal.Decisions
}

// keep begins the terminal's journal, and its recording if there is to be one. It is called without
// the lock, before others know the terminal.
func (l *terminalLog) keep() {
	t := l.t
	h := t.host
	s := t.ch.Summary()
	l.outline = journal.Outline{
		Title: s.Title, Renamed: t.renamed, Cwd: s.Cwd, Cols: s.Cols, Rows: s.Rows,
		Pixels: t.viewers.pixels, Clusters: !t.origin.screen.CharacterWidths,
		Holder: storedHolder(t.keyboard.holder), Decided: true,
	}
	if h.folders == "" {
		return
	}
	log := h.logPlace()
	if log.Memory && t.Client() { // which no keeper has
		log = journal.Place{}
	}
	t.warn(l.journal.Begin(h.folders.New(), log, &h.spares, l.describe()))
	l.checkpoint(journal.Snapshot{})
	if t.origin.recorded || h.recordsNew(t) {
		begin := journal.Snapshot{Outline: l.outline}
		if err := t.recorder.Begin(t.origin.creator.ID, begin); err != nil {
			h.log.Warn("a terminal is not recorded", "name", t.Name(), "err", err)
		}
	}
}

// append logs an action, applies it to the terminal's channel, and returns its serverSeq.
func (l *terminalLog) append(a ahp.Action, origin *ahp.Origin) uint64 {
	l.record(a, journal.Event{})
	return l.t.channel().Append(a, origin)
}

// appendParsed is append for an action that was parsed from the output being handled.
func (l *terminalLog) appendParsed(a ahp.Action) {
	l.record(a, journal.Event{Parsed: true})
	l.t.channel().Append(a, nil)
}

// record logs an action, unless it comes from the log.
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
		ev.Decided = true
		l.writeDecisions()
	case ahp.TerminalResized:
		l.outline.Apply(a, ev, at)
		size := termlog.SizePayload(a.Cols, a.Rows)
		t.warn(l.journal.Record(termlog.Resize, at, size))
		t.recorder.Write(termlog.Resize, at, size)
		return
	}
	l.outline.Apply(a, ev, at)
	if owner := t.exec.owned(); owner != nil {
		ev.Owner, l.outline.Owner = owner, owner
	}
	if t.life.exited {
		t.warn(l.journal.Describe(l.describe(), at))
		return
	}
	ev.Action = ahp.AppendAction(nil, a, ahp.ShapeLifecycle)
	l.recordEvent(ev, at)
	if t.recorder.Recording() != nil && recordings.IsCommand(a) {
		shown := journal.Event{Action: ev.Action, Parsed: ev.Parsed}
		t.recorder.Write(termlog.Event, at, shown.Encode())
	}
}

// recordMissed logs what people have missed. After the exit the description has it.
func (l *terminalLog) recordMissed(changed map[string]*journal.Missed) {
	if len(changed) == 0 {
		return
	}
	l.outline.ApplyMissed(changed)
	if l.end != nil {
		l.keepDescription()
		return
	}
	l.recordEvent(journal.Event{Missed: changed}, l.when())
}

// recordStatus logs what the program says of itself; nil: nothing any more.
func (l *terminalLog) recordStatus(s *journal.Status) {
	if s == nil {
		s = &journal.Status{}
	}
	l.outline.ApplyStatus(s)
	if l.end == nil {
		l.recordEvent(journal.Event{Status: s}, l.when())
	}
}

// recordWaits logs what the terminal waits for, if that is new; nil: nothing any more.
func (l *terminalLog) recordWaits(w *journal.Waits) {
	was := l.outline.Waits
	switch {
	case w == nil && was == nil:
		return
	case w == nil:
		w = &journal.Waits{}
	case was != nil && w.For == was.For && w.Question == was.Question && w.Since.Equal(was.Since):
		return
	}
	l.outline.ApplyWaits(w)
	if l.end == nil && l.t.kept.replay == nil {
		l.recordEvent(journal.Event{Waits: w}, l.when())
	}
}

// recordPixels logs the size of the window in pixels, if it is another one: the boxes that pictures
// have on the screen depend on it.
func (l *terminalLog) recordPixels(px Pixels) {
	if px == l.outline.Pixels || l.t.kept.replay != nil {
		return
	}
	l.outline.Pixels = px
	if l.end == nil {
		l.recordEvent(journal.Event{Pixels: &px}, l.when())
	}
}

// recordClusters logs whether mode 2027 is known, if that changes: what is printed is measured by
// that.
func (l *terminalLog) recordClusters(on bool) {
	if on == l.outline.Clusters || l.t.kept.replay != nil {
		return
	}
	l.outline.Clusters = on
	if l.end == nil {
		l.recordEvent(journal.Event{Clusters: &on}, l.when())
	}
}

func (l *terminalLog) recordEvent(ev journal.Event, at time.Time) {
	l.t.warn(l.journal.Record(termlog.Event, at, ev.Encode()))
}

// copiedShare is which part of a log what was copied last may take in a checkpoint: with a larger
// one the checkpoint might not fit into a segment. Of a log of the default size it is all that is
// ever kept of a copy.
const copiedShare = 16

// keepCheckpoint logs a checkpoint if one is due, once all output so far has been handled. In the
// middle of an escape sequence it waits: a redraw cannot express half a sequence.
func (l *terminalLog) keepCheckpoint() {
	l.outputAt = time.Time{}
	if l.t.kept.replay != nil || !l.journal.CheckpointDue() {
		return
	}
	if screen := l.t.term.Screen(); !screen.InSequence() {
		marks := screen.AppendReports(screen.AppendMarks(nil))
		modes := string(screen.AppendMousePixels(nil))
		if copied := screen.AppendCopied(nil); len(copied) <= l.t.host.logBytes()/copiedShare {
			marks = append(marks, copied...)
		}
		l.checkpoint(journal.Snapshot{Marks: string(marks), Modes: modes,
			Redraw: screen.AppendRedraw(nil, vt.Redraw{})})
	}
}

// checkpoint logs s, with the rest of what it consists of.
func (l *terminalLog) checkpoint(s journal.Snapshot) {
	t := l.t
	s.Outline = l.outline.Within(t.host.logBytes() / copiedShare) // or it might not fit
	s.Position = t.ch.Position()
	t.warn(l.journal.Checkpoint(&s, t.host.now()))
}

// keepEnd logs how the program has ended, and what readers are told of it.
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
	d := &journal.Description{
		Proof: t.origin.proof, Boot: t.host.boot, URI: t.uri, Created: t.origin.created,
		Name: t.Name(), Former: t.naming.Load().former,
		Creator: t.origin.creator, CreatedBy: t.origin.createdBy, Transient: t.life.transient,
		Forced: t.origin.forced, Program: t.programLocked(),
		Client: t.Client(), IsPty: t.exec.isPty(), Piped: t.Piped(),
		Labels: t.Labels(), Guarded: t.approvals.on, GuardedWhy: t.approvals.onWhy,
		Unstarted: t.approvals.unstarted(),
		Term:      t.origin.screen.Term, Tag: t.tag,
		Nonce: t.origin.screen.Nonce, Marker: t.origin.marker, Outline: l.outline, End: l.end,
		Damage: l.damage,
	}
	t.exec.describe(d)
	return d
}

// when returns the time of what happens now: of the log's record during a replay, of the output
// that is being handled, or else the host's.
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

// warn logs an error of the journal, if there is one, and has the janitor retry the write. It is
// called with or without the lock.
func (t *Terminal) warn(err error) {
	if err != nil {
		t.host.log.Warn("a terminal is not kept on disk", "name", t.Name(), "err", err)
		t.host.janitor.exited()
	}
}

// journalRetry is how long the janitor waits between two attempts to write a journal.
const journalRetry = time.Second

// retryJournals writes what could not be written before, and reports whether some still cannot.
func (h *Host) retryJournals() (again bool) {
	for _, t := range h.all() {
		if t.log.journal.NotKept() == "" {
			continue
		}
		t.term.Lock()
		t.log.journal.Retry(h.now())
		t.log.writeDecisions() // the description is on disk now
		t.log.keepCheckpoint()
		t.term.Unlock()
		again = again || t.log.journal.NotKept() != ""
	}
	return again
}

// keepDescription writes the terminal's description to its journal anew. The Term's lock is held.
func (l *terminalLog) keepDescription() {
	l.t.warn(l.journal.Describe(l.describe(), l.t.host.now()))
}
