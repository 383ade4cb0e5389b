package host

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool"
	"termhost/ptypool/keyboard"
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

	on          bool   // the terminal is guarded
	onWhy       string // why the host has guarded it by itself; "": it has not
	nameGuarded bool   // its NAME stays guarded when the terminal is gone
	shellTells  bool   // its shell tells when a command ends

	held        []*heldInput // the oldest first
	lookPending bool         // a timer runs that calls lookAtHeld
	outcomes    []Outcome    // of those that are held no more, the oldest first
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
	text     []byte          // is shown to people, and then typed
	lines    [][]ahp.AskPart // the text as it is shown: hidden characters do not end a line
	hidden   int             // how many characters are hidden
	question *question       // asks for a secret, which text answers; nil: text is no secret
	starts   *Starting       // the program to be started; nil: it is input
	lends    bool            // an admin without the claim takes it to type this: see Conn.Send
	meant    recipient       // the program that read input when the agent typed
	expiry   *time.Timer
	unwatch  func() bool // stops watching for the end of the agent's connection
	approved string      // "approved by ana", set before answer is called; "": it was not
	decided  string      // what a person has decided, likewise; "": none has
	// answer tells the agent the outcome, once; nil: it was typed. The Term's lock is held.
	answer func(error)

	// Guarded by the Term's lock.
	does    string            // see [ahp.TerminalAsk]
	warning string            // see [ahp.TerminalAsk]
	listed  map[string]toldOf // what each principal was told when it was listed last
}

// trust is a person's approval of all that an agent types to one command. The command is identified
// by its process group: the one in the foreground at the time of the approval or, at a shell's
// prompt, the next one that the shell brings there. Trust ends
//
//   - when another group is in the foreground, because the command has ended or stopped, or has
//     begun one of its own: this is checked before each input, before each piece of it is handed
//     over, and periodically;
//   - when the shell tells that the command has ended;
//   - when the host cannot see whether the program reads, because it is another user's;
//   - when the claim changes hands, and when the guard is turned on or off;
//   - after trustTime in any case.
//
// A shell's marks alone are not enough, because a file that it sources may turn them off. Nor is
// its own process group, in which it runs builtins and shows its prompt. So no trust is for a
// builtin.
//
// The agent's input reaches only the trusted command, when that reads: see binds. What no program
// has read when trust ends is dropped, because it was meant for the command.
//
// The fields are guarded by the Term's lock.
type trust struct {
	agent  agentID // zero: nobody is trusted
	by     string  // the agent's name, for people
	typist string  // the agent as [idle.Program.Typist] names it
	// secrets: the agent may type where a program asks for a secret.
	secrets bool
	group   int // the process group; 0: the command has not begun
	begin   time.Time
	end     time.Time     // when it ends at the latest
	timer   *time.Timer   // calls lookAtTrust
	pause   time.Duration // before the next call
}

// question is a program's question for a secret. An agent's answer is shown to nobody, so a person
// approves it for this question only: nothing else may read it.
type question struct {
	line ptypool.Line
	text string // before the cursor
}

// toldOf is what somebody was told about a held input beside its text.
type toldOf struct{ does, warning string }

// recipient is the program that a held input is meant for: the one that read input when the agent
// typed it.
type recipient struct {
	group int // its process group; 0: unknown
	name  string
}

// ahead describes what is typed ahead: input of agents that waits in the Term until the program
// reads. It is guarded by the Term's lock.
type ahead struct {
	by      string // the agent that typed last
	refused string // why it was dropped; "": it was not, or an agent has typed since
}

// permission is a question of an agent's about a terminal that somebody answers elsewhere, in the
// agent's editor. People who look at the host are told that the agent waits, and where.
type permission struct {
	s       step
	key     string // of the agent's connection, names it
	told    ahp.TerminalAsk
	unwatch func() bool // the end of that connection
}

// Starting is a program of an agent that waits for a person's approval. Its methods may be called
// concurrently.
type Starting struct {
	t        *Terminal
	prepared *ptypool.Prepared
	begin    func(note []byte) error // starts it; the Term's lock is held
	held     *heldInput              // its place among the held inputs
	decided  chan error              // gets, once, why it was not started; nil: it was

	// Guarded by the Term's lock: somebody has decided, and it was started.
	over, begun bool
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

// interrupts reports whether p is the interrupt key and nothing else, as ctrl-C or in the encoding
// that the program has asked for.
func (ap *approvals) interrupts(p []byte) bool {
	interrupt := keyboard.Key{Code: 'c', Mods: keyboard.Ctrl}
	encoded := interrupt.Append(nil, ap.t.term.Screen().KeyModes())
	return len(p) > 0 && (len(bytes.Trim(p, "\x03")) == 0 || bytes.Equal(p, encoded))
}
