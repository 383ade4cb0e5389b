package host

import (
	"bytes"
	"cmp"
	"sync/atomic"
	"time"

	"termhost/ahp"
)

// commands are a terminal's commands as its shell reports them, with the principals that typed
// them. The Term's lock guards it.
type commands struct {
	t *Terminal
	// integrated: the shell reports its commands, once it has started. It never changes.
	integrated bool
	replaced   atomic.Bool // another shell has taken its place, which reports nothing
	typist     typist      // who typed the next command
	executed   int         // how many commands have begun
	running    string      // the ID of the command that runs; "": none does
	startedAt  time.Time
	startedBy  string // who typed it
}

// typist records who typed the lines that the shell has not run yet. A shell reports which command
// begins, but not who pressed Enter; and lines may be typed ahead while a command runs. The Term's
// lock guards it.
type typist struct {
	last  string // who typed since the last command began; "": nobody
	lines int    // ends of lines that were typed and have begun no command yet
	by    string // who typed the last of these

	prompted bool // the shell has shown its prompt since the last command
	entered  bool // Enter was pressed, and the shell has not reacted to it yet
	early    bool // Enter was pressed before the prompt, which therefore is no reaction to it
	// reacted is closed when the shell reacts; nil: nobody waits for that.
	reacted chan struct{}
}

// typed records that user typed p. running: a command ran meanwhile, which may read it.
func (y *typist) typed(user string, p []byte, running bool) {
	y.last = user
	n := bytes.Count(p, []byte{'\r'}) + bytes.Count(p, []byte{'\n'})
	if n > 0 && !running {
		y.entered, y.early = true, !y.prompted
	}
	switch {
	case n == 0:
	case y.by == user:
		y.lines += n
	default: // a program may have read what others typed ahead: it counts for nobody
		y.by, y.lines = user, n
	}
}

// begins returns who typed the command that begins now.
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

// prompts records that the shell shows its prompt: an Enter that it has read began no command.
func (y *typist) prompts() {
	y.prompted = true
	if y.early {
		y.early = false
		return
	}
	y.reacts()
}

// reacts records that the shell has reacted to Enter.
func (y *typist) reacts() {
	y.entered, y.early = false, false
	if y.reacted != nil {
		close(y.reacted)
		y.reacted = nil
	}
}

// reaction returns a channel that is closed when the shell reacts to Enter; nil: it has reacted to
// all.
func (y *typist) reaction() <-chan struct{} {
	if y.entered && y.reacted == nil {
		y.reacted = make(chan struct{})
	}
	return y.reacted
}
