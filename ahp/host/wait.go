package host

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"termhost/ahp/history"
)

// WaitFor says what [Conn.Wait] waits for besides the terminal's end, which ends every wait. The
// first condition to hold counts.
type WaitFor struct {
	Match   *history.Pattern // a line that is shown, one that is retained included; nil: none
	Fresh   bool             // a line for Match that is retained does not count
	Command bool             // no command is running any more
	Blocked bool             // the program waits for input or a secret
	Rest    bool             // the program is at rest: see [Terminal.AtRest]
	Idle    time.Duration    // so long without output; 0: does not count
	Output  bool             // the program prints something
	Taken   bool             // the waiting principal loses the keyboard, or gets it
	Timeout time.Duration    // the longest wait; 0: unlimited
}

// WaitReason is what ended a wait.
type WaitReason string

// The reasons, in AHP's words for them.
const (
	WaitExit    WaitReason = "exit"
	WaitMatch   WaitReason = "match"
	WaitCommand WaitReason = "command"
	WaitRest    WaitReason = "rest"
	WaitIdle    WaitReason = "idle"
	WaitBlocked WaitReason = "blocked"
	WaitTimeout WaitReason = "timeout"
	WaitOutput  WaitReason = "output"
	WaitTaken   WaitReason = "taken"
	WaitGiven   WaitReason = "given"
)

// Waited is how a wait ended.
type Waited struct {
	Reason WaitReason
	// ExitCode is the terminal's for WaitExit and the command's for WaitCommand; nil: the shell did
	// not tell it, or the reason has none.
	ExitCode *int
	// Waiting is what the program waits for, for WaitBlocked: [WaitingInput] or [WaitingSecret].
	Waiting Waiting
	// Line is the line so far that has matched, and Match the part of it, for WaitMatch.
	Line, Match string
}

// ErrNoCommands refuses to wait for the command of a terminal whose shell does not report any.
var ErrNoCommands = errors.New("this terminal's shell does not tell of its commands")

// PendingWait is a wait that has begun. It is used by one goroutine.
type PendingWait struct {
	WaitFor
	a    *Attach // gives the right to look, until it is taken; it reads nothing
	held bool    // the principal had the keyboard when the wait began
	// last is how the last command ended, which counts if no line that is retained does; nil: none.
	last *Waited
	// reacted is closed when the shell has reacted to an Enter, after which lastCommand may be
	// another; nil: there is none to be waited for.
	reacted <-chan struct{}

	list   *waitlist  // has an answer sent to result; nil: no output can end this wait
	looker *looker    // nil: no line is waited for
	joined int64      // of waitlist.come, where it began
	result chan ended // 1 deep

	// Guarded by list.mu.
	over     bool     // there is a result
	retained [][]byte // is still to be looked at; nil: nothing is
}

// waitlist has the waits on one terminal that its output may end. It exists while there are some.
// What the terminal's handler finds comes to it once, however many wait; it answers those that need
// no more, and hands the output to the lookers: see [looker].
type waitlist struct {
	t *Terminal

	mu      sync.Mutex // taken with or without the Term's lock; admit's may follow
	come    int64      // how much has come: bytes, and one for each event
	at      time.Time  // when the last of it came; zero: nothing has
	waits   map[*PendingWait]struct{}
	lookers map[lookerKey]*looker
}

// lookerKey says for whom a looker looks: an admin and the tokens of its account have different
// budgets.
type lookerKey struct {
	account string
	pace    *Pace
}

// ended is how a wait has ended.
type ended struct {
	how Waited
	err error
}

// looker looks for lines in a terminal's output for the waits of one account, on a goroutine that
// ends with the last of them. Equal patterns are looked for once. It looks at every line when that
// has ended, and at one that has not when nothing more has come. How fast it does is a matter of
// the account's budget: see [Work].
type looker struct {
	list *waitlist
	key  lookerKey
	ctx  context.Context
	end  context.CancelFunc
	wake chan struct{} // 1 deep: there is something to do

	// Guarded by list.mu.
	queue    []outputPiece
	seen     int64         // of list.come, what has been looked at
	moved    chan struct{} // closed when seen grows; nil: nobody asks
	patterns []*watched
	over     bool // the last wait has left

	// Used by the goroutine only.
	work   *Work
	lines  lineText
	unseen bool // more of the line that has not ended came after that was looked at
	block  history.Block
}

// outputPiece is output, or something that has its place in it.
type outputPiece struct {
	data  []byte  // shared: it must not be modified
	event *Waited // how a wait for it ends; nil: it is output
	end   int64   // of waitlist.come
}

// watched is a pattern with the waits for it. Its waits are guarded by list.mu.
type watched struct {
	pattern *history.Pattern
	ctx     context.Context // ends when nobody waits for it any more
	end     context.CancelFunc
	waits   []*PendingWait
}

// endLocked ends the wait, unless it has ended.
func (p *PendingWait) endLocked(e ended) {
	if !p.over {
		p.over = true
		p.result <- e
	}
}

// retained returns the output that is retained. The Term's lock is held.
func (t *Terminal) retained() [][]byte {
	st, _ := t.ch.Terminal()
	pieces := [][]byte{}
	for i := range st.Content {
		pieces = append(pieces, st.Content[i].Text.Chunks()...)
	}
	return pieces
}

// retainedEnd returns as much of its end as has all that counts of the last line. The Term's
// lock is held.
func (t *Terminal) retainedEnd() [][]byte {
	pieces := t.retained()
	from, size := len(pieces), 0
	for from > 0 && size < maxMatchLine {
		from--
		size += len(pieces[from])
	}
	pieces = pieces[from:]
	if from > 0 { // it may begin in the middle of a sequence
		if _, rest, found := bytes.Cut(pieces[0], []byte{'\n'}); found {
			pieces[0] = rest
		}
	}
	return pieces
}
