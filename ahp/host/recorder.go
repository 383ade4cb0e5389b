package host

import (
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/ahp/recordings"
	"termhost/ptypool/termlog"
	"termhost/ptypool/vt"
)

// recording is a recording that is being made of a terminal. Output, sizes, commands and the exit
// go into it when they go into the terminal's log. When a write fails, or the host is restarted,
// the recording is behind: what it lacks is copied from the terminal's log later.
type recording struct {
	rec    *recordings.Recording
	w      *recordings.Writer // nil: it has to be opened
	behind bool
	retry  time.Time // when it may be tried again
	told   bool      // of the failure
	exit   bool      // the exit is recorded
}

// recorder makes a terminal's recording. The Term's lock guards it, and is held when its methods
// are called.
type recorder struct {
	t         *Terminal
	recorded  bool       // from the beginning, because its creator has asked for it; never changes
	recording *recording // nil: it is not recorded
}

const (
	// recordingReserve, in bytes, is the room that a file must have left after a piece of output:
	// for another one (64 KiB), and what it may bring. With less the next file is begun.
	recordingReserve = 80 << 10
	// defaultRecordBytes is the size of a file unless the configuration says otherwise.
	defaultRecordBytes = 64 << 20
)

// outline returns a checkpoint of the terminal as it is.
func (rc *recorder) outline() journal.Snapshot {
	screen := rc.t.term.Screen()
	return journal.Snapshot{Outline: rc.t.log.outline, Marks: string(screen.AppendMarks(nil)),
		Redraw: screen.AppendRedraw(nil, vt.Redraw{})}
}

// begin begins a recording, for a principal's ID, with a checkpoint of the present.
func (rc *recorder) begin(by string, s journal.Snapshot) error {
	return rc.create(by, s, rc.t.log.journal.Position())
}

// create begins a file at a position of the output.
func (rc *recorder) create(by string, s journal.Snapshot, first int64) error {
	t := rc.t
	h := t.host
	size := h.cfg().RecordBytes
	if size == 0 {
		size = defaultRecordBytes
	}
	now := h.now()
	w, err := h.recordings.Create(recordings.About{
		Terminal: t.Name(), URI: t.uri, Created: t.origin.created, Began: now, By: by,
		Title: t.log.outline.Title, Piped: t.Piped(),
		Term: t.origin.screen.Term, Nonce: t.origin.screen.Nonce,
	}, size, first)
	if err != nil {
		return err
	}
	if int64(len(s.Redraw)) > size/4 {
		s.Redraw = nil
	}
	rc.recording = &recording{rec: w.Recording, w: w}
	rc.write(termlog.Checkpoint, now, s.Encode())
	return nil
}

// turn continues the recording in another file, which begins with s. If that file cannot be
// created, the recording is behind.
func (rc *recorder) turn(s journal.Snapshot) {
	t := rc.t
	r := rc.recording
	if err := rc.create(r.rec.About().By, s, r.w.End()); err != nil {
		rc.written(err)
		return
	}
	r.w.Close()
	t.host.recordings.End(r.rec, t.host.now())
	t.host.log.Info("a recording goes on in another file", "name", t.Name(),
		"recording", r.rec.ID(), "next", rc.recording.rec.ID())
}

// output records output, before it is parsed.
func (rc *recorder) output(p []byte, at time.Time) {
	if rc.recording == nil || rc.recording.behind {
		return
	}
	if !rc.recording.w.Fits(len(p)) {
		// In the middle of a sequence that does not end.
		rc.turn(journal.Snapshot{Outline: rc.t.log.outline})
	}
	rc.write(termlog.Data, at, p)
}

// write writes a record, unless that is a command among very many in one piece of output, for
// which there is no room.
func (rc *recorder) write(kind termlog.Kind, at time.Time, payload []byte) {
	r := rc.recording
	if r == nil || r.behind || r.w == nil {
		return
	}
	r.exit = r.exit || kind == termlog.Exit
	rc.written(r.w.Write(kind, at, payload))
}

// written handles the result of a write: after an error the recording is behind.
func (rc *recorder) written(err error) {
	t := rc.t
	r := rc.recording
	if err != nil {
		r.behind, r.retry = true, t.host.now().Add(journalRetry)
		if !r.told {
			t.host.log.Warn("a recording waits until it can be written", "name", t.Name(),
				"recording", r.rec.ID(), "err", err)
		}
		r.told = true
		return
	}
	r.told = false
	if t.host.recordings.Exceeds(t.host.cfg().RecordTotalBytes) {
		t.host.janitor.exited()
	}
}

// isCommand reports whether an action is recorded.
func isCommand(a ahp.Action) bool {
	switch a.(type) {
	case ahp.TerminalCommandExecuted, ahp.TerminalCommandFinished:
		return true
	}
	return false
}

// recordsNew reports whether a new terminal is recorded though nobody has asked for it.
func (h *Host) recordsNew(t *Terminal) bool {
	switch h.cfg().Record {
	case RecordAll:
		return true
	case RecordAgents:
		return t.recorder.madeByAgent()
	}
	return false
}

// madeByAgent reports whether an agent has made t: with a token, from inside a terminal, or as a
// peer of AHP or ACP. Who shares a terminal of its own is no agent because of that.
func (rc *recorder) madeByAgent() bool {
	t := rc.t
	p, c := t.origin.creator, t.keyboard.holder.claim
	switch {
	case p.IsPage() && !p.Inside:
		return false
	case p.Token != "" || p.Inside || c.Kind == ahp.ClaimSession:
		return true
	}
	return !t.Client() && !strings.HasPrefix(c.ClientID, sshPrefix)
}
