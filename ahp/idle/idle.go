// Package idle decides whether a program waits for input, and for which: a line, a secret, or the
// approval of something that an agent has typed. It also marks a program that prints nothing for
// long, and one whose output was stopped with ctrl-S.
//
// A [Program] has the facts about the program of one terminal. It is a value guarded by its owner's
// lock. It has no clock, no timer and no terminal: the owner looks at the terminal when a Program
// says so, and hands in the facts and the time. What changes is returned, and the owner tells it.
//
// There are two clocks. The looks follow the machine's: their arguments are called at. What people
// are shown follows the owner's, which may be another one: those arguments are called now.
package idle

import (
	"time"

	"termhost/ahp/journal"
	"termhost/ptypool"
	"termhost/ptypool/foreground"
)

// Waiting is the input that a terminal waits for.
type Waiting string

// The kinds of input. An approval comes before what the program waits for, because it has to be
// answered first.
const (
	None     Waiting = ""
	Input    Waiting = "input"    // the program reads what is typed
	Secret   Waiting = "secret"   // the same, and what is typed is not shown
	Approval Waiting = "approval" // what an agent wants to type is held back
)

// Program is what is known of a terminal's program. The zero value is a program that has printed
// nothing, and that nobody has looked at. Its methods must not be called concurrently.
type Program struct {
	needs   needs
	looks   looks
	quiet   quiet
	stopped stopped
	since   time.Time // when it began to wait for what it waits for
	// restored is what it waited for with the last host; nil: nothing, or not any more.
	restored *journal.Waits
}

// needs is what somebody has to do before a terminal goes on. Only [Program.set] changes it.
type needs struct {
	program  Waiting // what the program waits for: input, a secret or nothing
	said     bool    // the program says that it waits
	words    string  // what it says then
	approval bool    // something that an agent wants to type is held back
	question string  // what the program has printed before the cursor, if it waits
	shown    Waiting // in listings
	rest     bool    // looks.atRest, all that was typed is read, and nothing happened since
	unsure   bool    // somebody has typed since the last look
	// changed is closed when one of these changes; nil: nobody waits for a change.
	changed chan struct{}
}

// looks is when to look at the program next, and what the last look has found.
type looks struct {
	armed  bool             // a look is due
	due    time.Time        // when it is
	signs  int              // of activity, so far
	seen   int              // of these, at the last look
	last   time.Time        // of the last sign
	count  int              // looks since then
	line   ptypool.Line     // of the terminal at the last look
	state  foreground.State // of the program then
	atRest bool             // it was a shell at its prompt, or a full-screen program
	asked  string           // the text before the cursor then, if a question; or ""
	typed  bool             // a line was begun and not ended
	typist string           // the user who typed last
}

// quiet is whether a program that works has printed nothing for long.
type quiet struct {
	on      bool
	since   time.Time // when the mark was due, if it is set
	printed time.Time // the time of the last output; zero: not known
}

// stopped is whether somebody has stopped a terminal's output with ctrl-S (IXON of termios(3)): it
// looks as if the program hung, and what is typed shows nothing.
type stopped struct {
	may  bool   // a look has to find out
	on   bool   // it has found the output stopped
	by   string // the user who typed ctrl-S; "": unknown
	told bool   // viewers know, and nobody has typed since
}

// Change is a difference in what a terminal waits for. The zero value is none.
type Change struct {
	// Was and Now are what the program waits for, approvals aside; equal: still the same.
	Was, Now Waiting
	By       string // the user who answered Was; "": nobody did
	Shown    bool   // Shown or Asks of the Program return something else now
	Fresh    bool   // Shown does, or the program asks once more: Since begins anew
}
