// Package await ends waits by what a terminal prints: by a line that matches a pattern, by the end
// of a command or of the terminal, or by any output.
//
// A terminal's output comes to its [List] once, however many wait. A List ends the waits that need
// no more at once, and hands the output to a looker for each account that waits for lines. A looker
// has a goroutine of its own, so that patterns cost the terminal nothing, and works at the pace of
// the account: see [Work]. Equal patterns are looked for once. What is not looked at yet is bounded
// for each account by the host's [Lookers].
//
// A List is guarded by its owner's lock, but for what waits and lookers share: that has a short
// lock of the List's own, under which only those of package admit are taken. So output does not
// wait for the lookers, nor these for the owner.
package await

import (
	"context"
	"sync"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/idle"
	"termhost/authz"
)

// Reason is what ended a wait, in AHP's words.
type Reason string

// The reasons.
const (
	Exit    Reason = "exit"
	Match   Reason = "match"
	Command Reason = "command"
	Rest    Reason = "rest"
	Idle    Reason = "idle"
	Blocked Reason = "blocked"
	Timeout Reason = "timeout"
	Output  Reason = "output"
	Taken   Reason = "taken"
	Given   Reason = "given"
)

// Ended is how a wait ended.
type Ended struct {
	Reason Reason
	// ExitCode is the terminal's for Exit and the command's for Command; nil: the shell did not
	// tell it, or the reason has none.
	ExitCode *int
	// Waiting is what the program waits for, for Blocked: [idle.Input] or [idle.Secret].
	Waiting idle.Waiting
	// Line is the line so far that has matched, and Match the part of it, for Match.
	Line, Match string
}

// For says what to wait for besides the terminal's end, which ends every wait.
type For struct {
	Match   *history.Pattern // a line that is shown; nil: none
	Fresh   bool             // a line for Match that is retained does not count
	Command bool             // the end of a command
	Output  bool             // the program prints something
	// Last is how the last command ended, which counts if no line that is retained does; nil: it
	// does not count.
	Last *Ended
}

// Peer is somebody who waits.
type Peer struct {
	Principal authz.Principal
	// Budget is the CPU time that the peer's account has; it is compared only. What peers of one
	// account wait for is looked for together if their budgets are equal.
	Budget any
	// Work returns the work of a request by the peer, which ends with ctx.
	Work func(ctx context.Context) Work
}

// Work is what it costs to look for lines: see [history.Work]. It is used by one goroutine.
type Work interface {
	history.Work
	// Until has the work end with another context, which ends with the one of Peer.Work at the
	// latest.
	Until(ctx context.Context)
}

// Terminal is what a List has to know of its terminal.
type Terminal struct {
	Name     func() string      // its NAME; called with or without the owner's lock
	Retained func() [][]byte    // its output, not nil; called with the owner's lock held
	Failed   func(stack []byte) // tells that a looker has panicked
}

// Result is how a wait has ended: Err is a [*BehindError], or that the host has failed.
type Result struct {
	Ended
	Err error
}

// List has the waits on one terminal that its output may end. Its methods, and those of its waits,
// are called with the owner's lock held unless they say otherwise.
type List struct {
	t   Terminal
	all *Lookers

	mu      sync.Mutex // taken with or without the owner's lock; admit's may follow
	come    int64      // how much has come: bytes, and one for each event
	at      time.Time  // when the last of it came; zero: nothing has
	waits   map[*Wait]struct{}
	lookers map[lookerKey]*looker
}

// lookerKey says for whom a looker looks: an admin and the tokens of its account have different
// budgets.
type lookerKey struct {
	account string
	budget  any
}

// Wait is a wait that has begun.
type Wait struct {
	is     For
	by     authz.Principal
	list   *List
	looker *looker     // nil: no line is waited for
	joined int64       // of List.come, where it began
	result chan Result // 1 deep

	// Guarded by list.mu.
	over     bool     // there is a result
	retained [][]byte // is still to be looked at; nil: nothing is
}
