package host

import (
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"time"

	"termhost/ahp"
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
	t.outline = outline{
		Title: s.Title, Renamed: t.renamed, Cwd: s.Cwd, Cols: s.Cols, Rows: s.Rows,
		Holder: heldByOf(t.holder),
	}
	if h.termsDir == "" {
		return
	}
	size, memory := h.logPlace()
	if memory && t.Client() { // which no keeper has
		size, memory = 0, false
	}
	dir := filepath.Join(h.termsDir, rand.Text())
	log := h.spares.use(dir, onDisk(size, memory))
	t.warn(t.journal.begin(dir, size, memory, log, t.describe(nil), t.created))
	t.checkpoint(nil, "")
	if t.recorded || h.recordsNew(t) {
		if err := t.beginTape(t.creator.ID, snapshot{Outline: t.outline}); err != nil {
			h.log.Warn("a terminal is not recorded", "name", t.name, "err", err)
		}
	}
}

// logPlace returns how large logs are, in bytes, and whether they are in memory. Without a keeper,
// which has that memory as well, there would be no use in it.
func (h *Host) logPlace() (size int64, memory bool) {
	switch cfg := h.cfg(); {
	case cfg.Persist:
		return int64(h.logBytes()), false
	case cfg.Keeper != nil:
		return int64(h.logBytes()), true
	}
	return 0, false
}

// onDisk returns the size of what logPlace says that is on disk; 0: nothing.
func onDisk(size int64, memory bool) int64 {
	if memory {
		return 0
	}
	return size
}

// append applies an action to the terminal's channel, once it is logged, and returns its serverSeq.
func (t *Terminal) append(a ahp.Action, origin *ahp.Origin) uint64 {
	t.record(a, event{})
	return t.channel().Append(a, origin)
}

// appendParsed is append for an action that the output being handled has brought.
func (t *Terminal) appendParsed(a ahp.Action) {
	t.record(a, event{Parsed: true})
	t.channel().Append(a, nil)
}

// record logs an action, unless it is in the log already.
func (t *Terminal) record(a ahp.Action, ev event) {
	if t.replay != nil {
		return
	}
	at := t.when()
	switch a := a.(type) {
	case ahp.TerminalTitleChanged:
		ev.Renamed = t.renamed
	case ahp.TerminalClaimed:
		holder := heldByOf(t.holder)
		ev.Holder, ev.Loans = &holder, loansOf(t.prior, t.lent)
	case ahp.TerminalResized:
		t.outline.apply(a, ev, at)
		size := termlog.SizePayload(a.Cols, a.Rows)
		t.warn(t.journal.record(termlog.Resize, at, size))
		t.tapeWrite(termlog.Resize, at, size)
		return
	}
	t.outline.apply(a, ev, at)
	if e, ok := t.exec.(*clientExecutor); ok {
		ev.Owner = e.mark(0, e.half)
		t.outline.Owner = ev.Owner
	}
	if t.exited {
		t.warn(t.journal.describe(t.describe(t.end), at))
		return
	}
	ev.Action = ahp.AppendAction(nil, a, ahp.ShapeLifecycle)
	t.recordEvent(ev, at)
	if t.tape != nil && isCommand(a) {
		text, _ := json.Marshal(event{Action: ev.Action, Parsed: ev.Parsed}) // it cannot fail
		t.tapeWrite(termlog.Event, at, text)
	}
}

func (t *Terminal) recordEvent(ev event, at time.Time) {
	text, err := json.Marshal(ev)
	if err == nil {
		err = t.journal.record(termlog.Event, at, text)
	}
	t.warn(err)
}

// keepCheckpoint logs a checkpoint if one is due. All output so far has been handled. One in the
// middle of a sequence waits: the redraw has no place for the beginning of one.
func (t *Terminal) keepCheckpoint() {
	t.outputAt = time.Time{}
	if t.replay != nil || !t.journal.checkpointDue() {
		return
	}
	if screen := t.term.Screen(); !screen.InSequence() {
		t.checkpoint(screen.AppendRedraw(nil, vt.Redraw{}), string(screen.AppendMarks(nil)))
	}
}

func (t *Terminal) checkpoint(redraw []byte, marks string) {
	s := snapshot{Outline: t.outline, Position: t.ch.Position(), Marks: marks, redraw: redraw}
	t.warn(t.journal.checkpoint(t.host.now(), s.append(nil)))
}

// keepEnd logs how the terminal has ended, and what readers are told of it.
func (t *Terminal) keepEnd(st ptypool.ExitStatus, told ahp.TerminalExited) {
	e := ending{
		Status: termlog.Status{Code: st.Code, Signal: int(st.Signal), At: t.exitedAt},
		Untold: told.ExitCode == nil, Why: t.EndedBy(),
	}
	t.end = &e
	text, err := json.Marshal(e)
	if err != nil {
		panic("host: an ending does not marshal: " + err.Error()) // it has only plain fields
	}
	t.warn(t.journal.end(text, e.At, func() []byte { return t.describe(&e) }))
}

// describe returns the description for the journal; end is nil as long as the terminal runs.
func (t *Terminal) describe(end *ending) []byte {
	grace, detached := time.Duration(0), false
	switch e := t.exec.(type) {
	case *clientExecutor:
		grace = e.grace
	case *pipesExecutor:
		detached = e.detached
	}
	m := meta{
		Proof: t.proof, Grace: grace, Detached: detached,
		Format: metaFormat, Boot: t.host.boot, URI: t.uri, Name: t.name, Created: t.created,
		Creator: identityOf(t.creator), CreatedBy: t.createdBy, Transient: t.transient,
		Forced: t.forced, Client: t.Client(), IsPty: t.exec.isPty(), Piped: t.Piped(),
		Guarded: t.guard.on, Term: t.screen.Term, Tag: t.tag,
		Nonce: t.screen.Nonce, Marker: t.marker, Outline: t.outline, End: end,
	}
	text, err := json.Marshal(&m)
	if err != nil {
		panic("host: a description does not marshal: " + err.Error()) // it has only plain fields
	}
	return append(text, '\n')
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
		t.host.log.Warn("a terminal is not kept on disk", "name", t.name, "err", err)
		t.host.janitor.exited()
	}
}
