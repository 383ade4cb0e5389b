package host

import (
	"strings"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/ahp/recordings"
	"termhost/ptypool/termlog"
	"termhost/ptypool/vt"
)

// defaultRecordBytes is the size of a recording's file unless the configuration says otherwise.
const defaultRecordBytes = 64 << 20

// recorded is a terminal for its [recordings.Recorder].
type recorded struct{ t *Terminal }

func (e recorded) Begins() (about recordings.About, size int64) {
	t := e.t
	if size = t.host.cfg().RecordBytes; size == 0 {
		size = defaultRecordBytes
	}
	return recordings.About{
		Terminal: t.Name(), URI: t.uri, Created: t.origin.created, Began: t.host.now(),
		Title: t.log.outline.Title, Piped: t.Piped(),
		Term: t.origin.screen.Term, Nonce: t.origin.screen.Nonce,
	}, size
}

func (e recorded) Checkpoint(drawn bool) journal.Snapshot {
	s := journal.Snapshot{Outline: e.t.log.outline}
	if drawn {
		screen := e.t.term.Screen()
		s.Marks = string(screen.AppendMarks(nil))
		s.Redraw = screen.AppendRedraw(nil, vt.Redraw{})
	}
	return s
}

func (e recorded) InSequence() bool { return e.t.term.Screen().InSequence() }
func (e recorded) Position() int64  { return e.t.log.journal.Position() }
func (e recorded) Ended()           { e.t.listChanged() }

func (e recorded) Log(visit func(termlog.Record) bool) error {
	return e.t.log.journal.Records(journal.WholeLog, visit)
}

func (e recorded) Grown() {
	h := e.t.host
	if h.recordings.Exceeds(h.cfg().RecordTotalBytes) {
		h.janitor.exited()
	}
}

// catchUp has a recording that is behind catch up, and reports whether it still is behind. The
// Term's lock is held.
func (t *Terminal) catchUp() (behind bool) {
	if t.recorder.Behind() {
		t.kept.loadLocked() // whose log has the missing part
		t.recorder.CatchUp()
	}
	return t.recorder.Behind()
}

// endRecording ends the recording, if there is one. The Term's lock is held.
func (t *Terminal) endRecording() {
	if t.recorder.Behind() {
		t.kept.loadLocked()
	}
	var end *journal.Ending
	if t.life.exited {
		end = t.log.end
	}
	t.recorder.Finish(end)
}

// tendRecorders has recordings that are behind catch up, and reports whether some still are behind.
// No Term's lock is held.
func (h *Host) tendRecorders() (again bool) {
	for _, t := range h.all() {
		t.term.Lock()
		switch behind := t.catchUp(); {
		case behind:
			again = true
		case t.recorder.Recording() != nil && t.life.exited:
			t.endRecording()
		}
		t.term.Unlock()
	}
	return again
}

// recordsNew reports whether a new terminal is recorded though nobody has asked for it.
func (h *Host) recordsNew(t *Terminal) bool {
	switch h.cfg().Record {
	case RecordAll:
		return true
	case RecordAgents:
		return t.madeByAgent()
	}
	return false
}

// madeByAgent reports whether an agent has made t: with a token, from inside a terminal, or as a
// peer of AHP or ACP. Who shares a terminal of its own is no agent because of that.
func (t *Terminal) madeByAgent() bool {
	p, c := t.origin.creator, t.keyboard.holder.claim
	switch {
	case p.IsPage() && !p.Inside:
		return false
	case p.Token != "" || p.Inside || c.Kind == ahp.ClaimSession:
		return true
	}
	return !t.Client() && !strings.HasPrefix(c.ClientID, sshPrefix)
}
