package share

import (
	"io"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/ptypool/vt"
)

const (
	// heldBack is how long the parser may keep an unfinished sequence, and
	// runeHeldBack an unfinished rune: as the host's own. What is sent is text, in
	// which half a rune is none.
	heldBack     = 50 * time.Millisecond
	runeHeldBack = time.Second
)

// feed shows what the local program prints to its user, exactly as it is, and to
// the journal as the host would have it: with command boundaries as actions. It
// keeps the screen that watchers have been shown, so that those who missed
// something can be shown how things stand; what was printed while sharing was
// paused is not on it.
type feed struct {
	out     io.Writer // the user's terminal
	journal *journal
	answer  func(p []byte) // where nobody else answers the program's queries; nil: the user's terminal does

	mu      sync.Mutex   // taken before the journal's
	screen  *vt.Terminal // what the user sees
	shown   *vt.Terminal // what watchers see
	flusher *time.Timer
	flushAt time.Time // when what is held back is due; a flush before that was overtaken
	due     []func()  // for the next place between two sequences; the feed is locked
	loop    loopGuard
	paused  bool
	cwd     string // a URI, as watchers were told; "": they were not
	marked  bool   // watchers were told that the shell tells of its commands
	counter int    // of commands
	running string // the command's id; "": none that watchers know of
	begun   time.Time
	unsaid  bool        // it has ended in the pause
	over    bool        // the program has ended
	note    *time.Timer // takes the note off the user's last line; nil: there is none
	late    *time.Timer // shows a note later; nil: there is none
}

func newFeed(out io.Writer, j *journal, cols, rows int, o vt.Options) *feed {
	return &feed{out: out, journal: j, screen: vt.New(cols, rows, o),
		shown: vt.New(cols, rows, vt.Options{}), loop: newLoopGuard()}
}

// Write takes what the program printed.
func (f *feed) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := f.loop.scan(p, time.Now())
	size := len(p)
	var failed error
	for len(p) > 0 {
		n := len(p)
		if len(f.due) > 0 { // what is due goes between two sequences, wherever that is
			n = 1
		}
		if _, err := f.out.Write(p[:n]); err != nil {
			failed = err
		}
		f.screen.Feed(p[:n], sharedSink{f})
		p = p[n:]
		if !f.screen.Pending() {
			f.settle()
		}
	}
	f.guard(found)
	f.expectRest()
	return size, failed
}

// expectRest sees to it that what the parser holds back is released in time.
func (f *feed) expectRest() {
	if !f.screen.Pending() {
		f.flushAt = time.Time{}
		return
	}
	wait := heldBack
	if f.screen.PendingRune() {
		wait = runeHeldBack
	}
	f.flushAt = time.Now().Add(wait)
	if f.flusher == nil {
		f.flusher = time.AfterFunc(wait, f.flush)
	} else {
		f.flusher.Reset(wait)
	}
}

// flush releases what the parser holds back, unless more came in the meantime.
func (f *feed) flush() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.flushAt.IsZero() || time.Now().Before(f.flushAt) {
		return
	}
	f.flushAt = time.Time{}
	f.screen.Flush(sharedSink{f})
	f.settle()
}

// between does something at the next place between two sequences: now, unless the
// program is in the middle of one.
func (f *feed) between(do func()) {
	f.due = append(f.due, do)
	if !f.screen.Pending() {
		f.settle()
	}
}

// settle does what is due.
func (f *feed) settle() {
	for len(f.due) > 0 {
		do := f.due[0]
		f.due = f.due[1:]
		do()
	}
	f.due = nil
}

// resized says that the terminal has another size.
func (f *feed) resized(cols, rows int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.screen.Resize(cols, rows)
	if !f.paused {
		f.resizeLocked()
	}
}

// resizeLocked tells watchers the size.
func (f *feed) resizeLocked() {
	cols, rows := f.screen.Size()
	if c, r := f.shown.Size(); c != cols || r != rows {
		f.shown.Resize(cols, rows)
		f.journal.add(ahp.TerminalResized{Cols: cols, Rows: rows})
	}
}

// output shows watchers p, which is cut between sequences.
func (f *feed) output(p []byte) {
	f.shown.Feed(p, nil)
	f.journal.output(p)
}

// size returns the size of what watchers see.
func (f *feed) size() (cols, rows int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shown.Size()
}

// draw appends the screen, for watchers who do not have it, and what else comes
// with output: the directory, and that the shell tells of its commands (OSC 133;B,
// which ends none). Sizes and commands are the journal's.
func (f *feed) draw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.over { // else nothing may follow any more
		f.drawLocked()
	}
	f.journal.drawn()
}

func (f *feed) drawLocked() {
	dst := f.shown.AppendRedraw(nil, vt.Redraw{})
	if f.cwd != "" {
		dst = append(dst, cwdMark(f.cwd)...)
	}
	if f.marked {
		dst = append(dst, "\x1b]133;B\x07"...)
	}
	f.journal.output(dst)
}

// cwdMark is how output tells of a directory.
func cwdMark(uri string) string { return "\x1b]7;" + uri + "\x07" }

// exited ends what is shared.
func (f *feed) exited(code int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flushAt = time.Time{}
	f.screen.Flush(sharedSink{f})
	f.settle()
	f.endUnsaid()
	if f.journal.due() {
		f.drawLocked()
	}
	f.over = true
	f.journal.add(ahp.TerminalExited{ExitCode: &code})
}

// close stops the timers.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range []*time.Timer{f.flusher, f.note, f.late} {
		if t != nil {
			t.Stop()
		}
	}
	f.note = nil
}
