package share

import (
	"io"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/ptypool/vt"
)

// How long the parser may keep the unfinished end of the output before it is passed on as it is.
// The host's own terminals use the same times.
const (
	sequenceTime = 50 * time.Millisecond
	runeTime     = time.Second // longer, since an action is text, which cannot contain half a rune
)

// tee passes what the program prints to its user, byte for byte, and to the outbox as the host
// would have it, with the boundaries of commands as actions. It keeps the screen that watchers
// have been shown, so that watchers who missed something can be shown the present state. What was
// printed during a pause is not on that screen.
type tee struct {
	out    io.Writer // the user's terminal
	outbox *outbox
	// answer replies to the program's queries when the user has no terminal that does; else nil.
	answer func(p []byte)

	// mu guards what follows. It is held over writes to out, and while the outbox's mu is taken.
	mu       sync.Mutex
	screen   *vt.Screen // what the user sees
	watched  *vt.Screen // what watchers see
	flusher  *time.Timer
	flushAt  time.Time // when what the parser keeps is due; zero: it keeps nothing
	due      []func()  // to be called at the next boundary between two sequences, with mu held
	selfView selfView
	paused   bool
	cwd      string // the working directory that watchers know, as a URI; "": none
	marked   bool   // watchers know that the shell sends shell-integration marks
	commands int    // how many commands have begun; the next one's id
	running  string // id of the running command; "": none that watchers know of
	begun    time.Time
	ended    bool        // running has ended during the pause
	exited   bool        // the program has ended
	overlay  *time.Timer // uncovers the user's last line; nil: nothing covers it
	late     *time.Timer // shows a notice later; nil: there is none
}

func newTee(out io.Writer, b *outbox, cols, rows int, o vt.Options) *tee {
	return &tee{out: out, outbox: b, screen: vt.New(cols, rows, o),
		watched: vt.New(cols, rows, vt.Options{}), selfView: newSelfView()}
}

// Write takes what the program printed.
func (t *tee) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := t.selfView.scan(p, time.Now())
	size := len(p)
	var failed error
	for len(p) > 0 {
		n := t.parse(p)
		if _, err := t.out.Write(p[:n]); err != nil {
			failed = err
		}
		p = p[n:]
		if !t.screen.InSequence() {
			t.settle()
		}
	}
	t.act(found)
	t.scheduleFlush()
	return size, failed
}

// parse parses p or, where something is due, the beginning of p up to the first boundary between
// two sequences. It returns how many bytes that was.
func (t *tee) parse(p []byte) int {
	if len(t.due) == 0 {
		t.screen.Feed(p, watcherSink{t})
		return len(p)
	}
	for i := range p {
		t.screen.Feed(p[i:i+1], watcherSink{t})
		if !t.screen.InSequence() {
			return i + 1
		}
	}
	return len(p)
}

// scheduleFlush sees to it that what the parser keeps is passed on in time.
func (t *tee) scheduleFlush() {
	if !t.screen.Pending() {
		t.flushAt = time.Time{}
		return
	}
	wait := sequenceTime
	if t.screen.PendingRune() {
		wait = runeTime
	}
	t.flushAt = time.Now().Add(wait)
	if t.flusher == nil {
		t.flusher = time.AfterFunc(wait, t.flush)
	} else {
		t.flusher.Reset(wait)
	}
}

// flush passes on what the parser keeps, unless more has been printed since it was scheduled.
func (t *tee) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.flushAt.IsZero() || time.Now().Before(t.flushAt) {
		return
	}
	t.flushLocked()
}

func (t *tee) flushLocked() {
	t.flushAt = time.Time{}
	t.screen.Flush(watcherSink{t})
	t.settle()
}

// between calls do at the next boundary between two sequences: now, unless the program has printed
// a part of one. Anything shown there would end the sequence, and its rest would appear as text.
func (t *tee) between(do func()) {
	t.due = append(t.due, do)
	if !t.screen.InSequence() {
		t.settle()
	}
}

// settle calls what is due.
func (t *tee) settle() {
	for len(t.due) > 0 {
		do := t.due[0]
		t.due = t.due[1:]
		do()
	}
	t.due = nil
}

// resized records the new size of the user's terminal.
func (t *tee) resized(cols, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.screen.Resize(cols, rows)
	if !t.paused {
		t.resizeLocked()
	}
}

// resizeLocked tells watchers the size.
func (t *tee) resizeLocked() {
	cols, rows := t.screen.Size()
	if c, r := t.watched.Size(); c != cols || r != rows {
		t.watched.Resize(cols, rows)
		t.outbox.add(ahp.TerminalResized{Cols: cols, Rows: rows})
	}
}

// output shows watchers p, which ends at a boundary between two sequences.
func (t *tee) output(p []byte) {
	t.watched.Feed(p, nil)
	t.outbox.output(p)
}

// size returns the size of what watchers see.
func (t *tee) size() (cols, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.watched.Size()
}

// draw sends the screen, for watchers who do not have it. Nothing may follow the end of the
// program.
func (t *tee) draw() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.exited {
		t.drawLocked()
	}
	t.outbox.drawn()
}

// drawLocked sends the screen, and what else watchers learn from output: the working directory,
// and that the shell sends shell-integration marks. The mark for that is OSC 133;B, which begins
// no command and ends none. The outbox takes care of the size and of commands.
func (t *tee) drawLocked() {
	dst := t.watched.AppendRedraw(nil, vt.Redraw{})
	if t.cwd != "" {
		dst = append(dst, cwdSequence(t.cwd)...)
	}
	if t.marked {
		dst = append(dst, "\x1b]133;B\x07"...)
	}
	t.outbox.output(dst)
}

// cwdSequence returns the output that sets the working directory.
func cwdSequence(uri string) string { return "\x1b]7;" + uri + "\x07" }

// exit ends what is shared, with the program's exit status.
func (t *tee) exit(code int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flushLocked()
	t.finishCommand()
	if t.outbox.redrawDue() {
		t.drawLocked()
	}
	t.exited = true
	t.outbox.add(ahp.TerminalExited{ExitCode: &code})
}

// close stops the timers.
func (t *tee) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, timer := range []*time.Timer{t.flusher, t.overlay, t.late} {
		if timer != nil {
			timer.Stop()
		}
	}
	t.overlay = nil
}
