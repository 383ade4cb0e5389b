package host

import (
	"errors"
	"fmt"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// A guarded terminal holds back what agents type (see [Conn.agent]) until a person has decided
// about it: see [Conn.Decide]. What is held is bound to the bytes that the person is shown, which
// never change: an agent that wants something else asks again, behind what it has asked before.
//
// An interrupt key is let through, so that an agent can always stop what it has started. That is
// input of nothing else: text behind one could be anything.

const (
	// approvalTime is how long an agent waits for a person's decision: long enough to come back
	// with a coffee, too short to be forgotten and then approved on another day.
	approvalTime = 10 * time.Minute
	// maxHeldText bounds what is held of one agent in one terminal, in bytes: nobody reads more.
	maxHeldText = 16 << 10
	// maxHeldAsks bounds in how many pieces that is.
	maxHeldAsks = 16
	// maxTerminalAsks bounds the pieces that are held in one terminal, of all agents.
	maxTerminalAsks = 64
)

// approvals holds back what agents type into a terminal. It is guarded by the Term's lock.
type approvals struct {
	t        *Terminal
	starting *Starting // nil: its program needs no yes of a person to start; it never changes

	on         bool
	held       []*heldInput // in the order in which it was asked for
	trust      trust        // a person's yes to all that an agent types
	typedSince bool         // an agent has typed something since input was dropped for the guard
	tells      bool         // the shell tells when a command ends
	looks      bool         // what is held is looked at now and then
	// answers is what bound input that is held may answer; nil: what the trusted command asks.
	answers *question
	named   bool // the NAME stays guarded when the terminal is gone
	// shown has, for each person, by the principal's ID, what [Conn.Asks] listed last, without what
	// that one has decided since. Nobody approves by NAME what came afterwards.
	shown map[string][]string
	last  string // how the last decision went, for those who come too late
	ahead ahead  // what agents typed before the program reads
	// permissions are asked for elsewhere; only listings of asks have them.
	permissions []*permission
}

// asker is one agent: a client of AHP, or a principal that types in another way.
type asker struct{ principal, client string }

// heldInput is what an agent wants to type. What is typed never changes, but what comes of it may.
type heldInput struct {
	id   string // "@7": no other input has it, before or after it, in any terminal
	s    step
	by   string // the agent's name, for people
	does string // see [ahp.TerminalAsk]; guarded by the Term's lock
	// meant is for which program, and warning what people are told beside the text, see
	// [ahp.TerminalAsk]. The warning is guarded by the Term's lock.
	meant   recipient
	warning string
	// listed has what each principal to whom it was listed was told, the last time. It is guarded
	// by the Term's lock.
	listed map[string]toldOf
	text   []byte // what is shown, and what is typed
	// lines is text as it is shown, in which hidden signs are no ends of lines.
	lines  [][]ahp.AskPart
	hidden int
	// question is what the text is to answer: a program's that asks for a secret. Then it is shown
	// to nobody. nil: it is not for a secret.
	question *question
	lends    bool // an admin that does not hold the claim takes it for the moment: see Conn.Send
	since    time.Time
	// answer tells the agent what became of it, once; nil: it was typed. The Term's lock is held.
	answer  func(error)
	starts  *Starting // the program that is to be started; nil: it is input
	expiry  *time.Timer
	unwatch func() bool // the end of the agent's connection
}

var (
	errHeldText = &authz.Denied{Verb: authz.Input, Rule: fmt.Sprintf("the terminal is guarded,"+
		" and at most %d bytes of yours wait for a person's approval; send less", maxHeldText)}
	errHeldAsks = &authz.Denied{Verb: authz.Input,
		Rule: "the terminal is guarded, and too much waits for approval already"}
	errUnanswered = fmt.Errorf("nobody answered in %.0fm", approvalTime.Minutes())
	errUnguarded  = errors.New("the guard was turned off meanwhile; send it again")

	// reasonGuarded is why what the program has not read yet is dropped.
	reasonGuarded = "the terminal is guarded now; send it again"
)

// Guarded reports whether what agents type waits for a person's approval.
func (t *Terminal) Guarded() bool {
	t.term.Lock()
	defer t.term.Unlock()
	return t.approvals.on
}
