package host

import (
	"time"

	"termhost/ahp/journal"
	"termhost/ptypool"
	"termhost/ptypool/foreground"
)

// Waiting is what a terminal waits for a person to do.
type Waiting string

// What a terminal waits for. An approval comes before what the program waits for, because it has to
// be answered first.
const (
	WaitingNone     Waiting = ""
	WaitingInput    Waiting = "input"    // the program reads what is typed
	WaitingSecret   Waiting = "secret"   // the same, and what is typed is not shown
	WaitingApproval Waiting = "approval" // what an agent wants to type is held back
)

// waiting is what a terminal waits for, and who waits for the terminal. The Term's lock guards it.
type waiting struct {
	t        *Terminal
	needs    needs
	lookout  lookout   // finds out what the program waits for
	quiet    quiet     // whether the program prints nothing
	stopped  stopped   // whether somebody has stopped its output
	waitlist *waitlist // those who wait for output; nil: nobody does
}

// needs is what somebody has to do before a terminal goes on. Only [waiting.set] changes it.
type needs struct {
	program  Waiting // what the program waits for: input, a secret or nothing
	said     bool    // the program says that it waits, see [Status]
	words    string  // what it says then
	approval bool    // something that an agent wants to type is held back
	question string  // what the program has printed before the cursor, if it waits
	shown    Waiting // in listings
	rest     bool    // the lookout's atRest, all that was typed is read, and nothing happened since
	unsure   bool    // somebody has typed since the lookout looked last
	// changed is closed when one of these changes; nil: nobody waits for a change.
	changed chan struct{}
}

// lookout finds out whether the program of a terminal waits for somebody to type. Its fields are
// guarded by the Term's lock.
type lookout struct {
	timer  *time.Timer // of the next look, if it is armed; nil: there was no activity yet
	armed  bool
	due    time.Time // when the timer fires
	signs  int       // of activity, so far
	seen   int       // of these, at the last look
	last   time.Time // of the last sign
	looks  int       // since then
	line   ptypool.Line
	state  foreground.State // of the program at the last look, and line of its terminal
	atRest bool             // the last look found a shell at its prompt, or a full-screen program
	asked  string           // the text before the cursor at the last look, if a question; or ""
	typed  bool             // a line was begun and not ended
	before *journal.Waits   // what it waited for with the last host; nil: nothing, or not any more
	typist string           // who typed last
	looker foreground.Looker
}

// quiet is whether a program that works has printed nothing for quiet_after. The Term's lock guards
// it.
type quiet struct {
	on      bool
	since   time.Time   // when the mark was due, if it is set
	printed time.Time   // the time of the last output; zero: not known
	timer   *time.Timer // calls checkQuiet; nil: there was no output yet
}

// answers are the keys that end a line, the program or the input: Enter, ctrl-C and ctrl-D.
const answers = "\r\n\x03\x04"
