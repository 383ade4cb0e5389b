package host

import (
	"bytes"
	"cmp"
	"sync/atomic"
	"time"

	"termhost/ahp"
)

// commands is what a terminal's shell tells of its commands, and who typed them. It is guarded by
// the Term's lock.
type commands struct {
	t *Terminal
	// integrated: the shell will tell of its commands, once it has started. It never changes.
	integrated bool
	replaced   atomic.Bool // another shell is in its place, which tells nothing
	typist     typist      // who typed the next command
	executed   int         // how many were
	running    string
	startedAt  time.Time
	startedBy  string // who typed it
}

// typist remembers who typed what the shell has not begun to run yet. A shell tells which command
// it begins, but not whose Enter began it; lines may also be typed ahead while a command runs. It
// is guarded by the Term's lock.
type typist struct {
	last  string // who typed since the last command began; "": nobody
	lines int    // how many ends of lines there were with which no command has begun yet
	by    string // who typed the last of these

	prompted bool // the shell has shown its prompt since the last command
	entered  bool // Enter was typed there, and the shell has not reacted to it yet
	early    bool // that was before the prompt, which is no reaction to it then
	// reacted is closed when the shell reacts; nil: nobody waits for that.
	reacted chan struct{}
}

// typed notes that who has typed p; running: while a command ran, whose input it may be.
func (y *typist) typed(who string, p []byte, running bool) {
	y.last = who
	n := bytes.Count(p, []byte{'\r'}) + bytes.Count(p, []byte{'\n'})
	if n > 0 && !running {
		y.entered, y.early = true, !y.prompted
	}
	switch {
	case n == 0:
	case y.by == who:
		y.lines += n
	default: // what others typed ahead may have gone to a program, and counts for nobody now
		y.by, y.lines = who, n
	}
}

// begins returns who began a command that begins now.
func (y *typist) begins() (by string) {
	by = y.last
	if y.lines > 0 {
		by = y.by
		y.lines--
	}
	y.last = ""
	y.prompted = false
	y.reacts()
	return cmp.Or(by, ahp.Nobody)
}

// prompts notes that the shell shows its prompt: if it had read an Enter, nothing has come of it.
func (y *typist) prompts() {
	y.prompted = true
	if y.early {
		y.early = false
		return
	}
	y.reacts()
}

// reacts notes that the Enter that was typed has done what it does.
func (y *typist) reacts() {
	y.entered, y.early = false, false
	if y.reacted != nil {
		close(y.reacted)
		y.reacted = nil
	}
}

// reaction returns what is closed when the shell reacts to the Enter that was typed; nil: there is
// none that it has not reacted to.
func (y *typist) reaction() <-chan struct{} {
	if y.entered && y.reacted == nil {
		y.reacted = make(chan struct{})
	}
	return y.reacted
}

// began notes that the command that is running now was begun by by.
func (c *commands) began(by string) {
	c.startedBy = by
	c.t.listChanged()
	c.t.emitLive(Event{Kind: EventCommandStarted, By: by})
}

// over notes that the command that was running is over.
func (c *commands) over(a ahp.TerminalCommandFinished) {
	t := c.t
	c.running = ""
	t.listChanged()
	t.emitLive(Event{Kind: EventCommandFinished, By: c.startedBy, ExitCode: a.ExitCode,
		DurationMs: a.DurationMs})
	t.approvals.endTrust(errTrustEnded)
	if t.waiting.waitlist != nil && t.kept.replay == nil {
		t.waiting.waitlist.finished(a.ExitCode)
	}
	ms := a.DurationMs
	failed := a.ExitCode != nil && *a.ExitCode != 0
	switch {
	case ms == nil:
	case failed && *ms > t.host.cfg().AttentionAfter.Milliseconds():
		t.attention.happened(WantFailed)
	case *ms >= longCommand.Milliseconds():
		t.attention.happened(WantCommand)
	}
}

// begunBy returns who has typed the command that begins now.
func (c *commands) begunBy() string {
	if c.t.kept.replay != nil {
		return c.t.kept.replay.by[c.running]
	}
	return c.typist.begins()
}
