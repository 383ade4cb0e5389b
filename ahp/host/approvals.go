package host

import (
	"errors"
	"fmt"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// A guarded terminal holds the input of agents (see [Conn.agent]) until a person decides about it:
// see [Conn.Decide]. A held input is exactly the bytes that the person is shown; they never change.
// An agent that wants to type something else sends another input, which is queued behind the first.
//
// An interrupt key on its own passes at once, so that an agent can always stop what it has started.
// With other text around it, it is held.

const (
	// approvalTime is how long an agent waits for a person's decision: long enough to come back
	// with a coffee, too short to be forgotten and then approved on another day.
	approvalTime = 10 * time.Minute
	// maxHeldText bounds the held input of one agent in one terminal, in bytes: nobody reads more.
	maxHeldText = 16 << 10
	// maxHeldInputs bounds the number of held inputs of one agent in one terminal.
	maxHeldInputs = 16
	// maxTerminalHeld bounds the number of held inputs of all agents in one terminal.
	maxTerminalHeld = 64
)

// approvals holds the input of agents in a terminal until a person approves it. Its fields are
// guarded by the Term's lock.
type approvals struct {
	t        *Terminal
	starting *Starting // nil: the program starts without approval; never changes

	on          bool // the terminal is guarded
	nameGuarded bool // its NAME stays guarded when the terminal is gone
	shellTells  bool // its shell tells when a command ends

	held        []*heldInput // the oldest first
	lookPending bool         // a timer runs that calls lookAtHeld
	last        string       // how the last decision went, for those who come too late
	// shown has, by the principal's ID, what [Conn.Asks] listed last for a person and that person
	// has not decided since. So nobody approves by NAME what was held later.
	shown map[string][]string

	trust      trust     // a person's approval of all that an agent types
	answers    *question // what bound input answers; nil: it is for the trusted command
	ahead      ahead     // what agents typed before the program reads
	agentTyped bool      // an agent has typed since dropUnread or beginTrust

	// permissions are asked for elsewhere; only listings of asks have them.
	permissions []*permission
}

// agentID identifies an agent: a client of AHP, or a principal that types in another way.
type agentID struct{ principal, client string }

// agentID returns the agent that takes the step.
func (s step) agentID() agentID {
	id := agentID{principal: s.principal.ID}
	if s.conn.client != nil {
		id.client = s.conn.client.id
	}
	return id
}

// heldInput is an input of an agent that waits for a person's approval, or a program that an agent
// wants to start.
type heldInput struct {
	// Never changed once it is held.
	id       string // "@7": unique among all inputs of all terminals, also of later hosts
	s        step
	by       string // the agent's name, for people
	since    time.Time
	text     []byte          // what people are shown, and what is typed
	lines    [][]ahp.AskPart // the text as it is shown: hidden characters do not end a line
	hidden   int             // how many characters are hidden
	question *question       // asks for a secret, which text answers; nil: text is no secret
	starts   *Starting       // the program to be started; nil: it is input
	lends    bool            // an admin without the claim takes it to type this: see Conn.Send
	meant    recipient       // the program that read input when the agent typed
	expiry   *time.Timer
	unwatch  func() bool // stops watching for the end of the agent's connection
	// answer tells the agent the outcome, once; nil: it was typed. The Term's lock is held.
	answer func(error)

	// Guarded by the Term's lock.
	does    string            // see [ahp.TerminalAsk]
	warning string            // see [ahp.TerminalAsk]
	listed  map[string]toldOf // what each principal was told when it was listed last
}

var (
	errHeldText = &authz.Denied{Verb: authz.Input, Rule: fmt.Sprintf("the terminal is guarded,"+
		" and at most %d bytes of yours wait for a person's approval; send less", maxHeldText)}
	errHeldInputs = &authz.Denied{Verb: authz.Input,
		Rule: "the terminal is guarded, and too much waits for approval already"}
	errUnanswered = fmt.Errorf("nobody answered in %.0fm", approvalTime.Minutes())
	errUnguarded  = errors.New("the guard was turned off meanwhile; send it again")

	// reasonGuarded is why input that the program has not read yet is dropped.
	reasonGuarded = "the terminal is guarded now; send it again"
)

// Guarded reports whether the input of agents waits for a person's approval.
func (t *Terminal) Guarded() bool {
	t.term.Lock()
	defer t.term.Unlock()
	return t.approvals.on
}

// unstarted reports whether the program still waits for approval. The Term's lock is held.
func (ap *approvals) unstarted() bool { return ap.starting != nil && !ap.starting.over }
