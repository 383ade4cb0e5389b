package host

import (
	"errors"
	"time"

	"termhost/ahp"
	"termhost/ahp/store"
)

// trust is a person's yes to all that an agent types. It is for one command, which is known by its
// process group: the one in the foreground when the yes is said or, at a shell's prompt, the one
// that the shell brings there next. It ends
//
//   - when another group is in the foreground, which is looked at before each input, before each
//     piece of it is handed over, and now and then: the command has ended or stopped, or has begun
//     one of its own;
//   - when the shell tells that the command has ended;
//   - when nothing tells whether the program reads, which is another user's;
//   - when another holds the terminal, and when the guard is turned on or off;
//   - after trustTime in any case.
//
// A shell's marks alone are not enough, because a file that it sources may turn them off. Nor is
// its own group: it runs builtins and shows its prompt in the same one. So a builtin has no trust.
//
// What the agent types goes to the command alone, when it reads: see binds. What no program has
// read is dropped at the end: it was meant for the command.
// Its fields are guarded by the Term's lock.
type trust struct {
	agent asker  // zero: nobody is trusted
	by    string // the agent's name, for people
	who   string // the same as the typist's
	// secrets: the agent may type where a program asks for a secret.
	secrets bool
	group   int // the process group; 0: the command has not begun
	begin   time.Time
	end     time.Time
	timer   *time.Timer // of the next look
	pause   time.Duration
}

const (
	// trustTime is how long trust lasts at most: as long as a person's answer is waited for.
	trustTime = 10 * time.Minute
	// trustBegins is how long a shell may take to bring the command to the foreground after it was
	// typed: prompts and their hooks run first.
	trustBegins = 5 * time.Second
	// trustPause is the time between two looks: short for people, and 20 system calls a second.
	trustPause = 50 * time.Millisecond
	// firstTrustPause is that at first, until the command begins; it doubles with each look.
	firstTrustPause = 2 * time.Millisecond
)

var (
	errUntold = errors.New("nothing tells when this command ends; say yes to each")

	errTrustEnded   = errors.New("the command has ended")
	errTrustBehind  = errors.New("another program is in the foreground")
	errTrustNothing = errors.New("no command has begun")
	errTrustTime    = errors.New("its time is up")
	errTrustGuard   = errors.New("the guard was set anew")
	errTrustHolder  = errors.New("another has the keyboard now")
	errTrustAnew    = errors.New("something else was approved")
)

// mayTrust reports whether a yes to all that k's agent types is possible now: while a command runs,
// and at the prompt of a shell that tells of its commands, if k begins one. The Term's lock is
// held.
func (ap *approvals) mayTrust(k *heldInput) bool {
	t := ap.t
	line, err := t.term.Line()
	if err != nil || line.Foreground <= 1 || k.question != nil {
		return false
	}
	atHome := line.Foreground == t.term.Pid()
	return !atHome || ap.tells && t.commands.running == "" && k.does == ahp.AskRuns
}

// beginTrust trusts the agent that asked for k, which is about to be typed. The Term's lock is
// held, and mayTrust was true.
func (ap *approvals) beginTrust(k *heldInput) {
	t := ap.t
	ap.endTrust(errTrustAnew)
	now := time.Now()
	tr := &ap.trust
	*tr = trust{agent: k.s.asker(), by: k.by, who: k.s.name(), begin: now,
		secrets: !ap.holds(k.s), end: now.Add(t.host.trustTime), pause: firstTrustPause}
	if line, err := t.term.Line(); err == nil && line.Foreground != t.term.Pid() {
		tr.group, tr.pause = line.Foreground, trustPause
	}
	ap.typedSince = false
	ap.lookAtTrustLater()
}

// approve types k, which a person has agreed to. all: its agent is trusted from then on. The Term's
// lock is held.
func (ap *approvals) approve(k *heldInput, all bool) error {
	switch {
	case all: // before the command can begin
		ap.beginTrust(k)
	case ap.trust.group == 0:
		ap.endTrust(errTrustAnew) // what begins next may be k's
	}
	err := ap.typeHeld(k, true)
	switch {
	case !all:
	case err != nil:
		ap.endTrust(err)
	case ap.trust.group != 0:
		ap.typeTrusted()
	}
	return err
}

// trusts reports whether what s types now needs no approval. The Term's lock is held.
func (ap *approvals) trusts(s step) bool {
	if ap.trust.agent != s.asker() {
		return false
	}
	ap.lookAtTrust()
	return ap.trust.agent == s.asker() && ap.trust.group != 0
}

// lookAtTrust ends trust if it is over, and notes which group it is for once the command has begun.
// The Term's lock is held.
func (ap *approvals) lookAtTrust() {
	t := ap.t
	tr := &ap.trust
	line, err := t.term.Line()
	now := time.Now()
	switch {
	case tr.agent == asker{}:
	case err != nil:
		ap.endTrust(errTrustEnded)
	case !now.Before(tr.end):
		ap.endTrust(errTrustTime)
	case tr.group != 0:
		if line.Foreground != tr.group {
			ap.endTrust(errTrustBehind)
		}
	case line.Foreground == t.term.Pid():
		if now.Sub(tr.begin) > trustBegins {
			ap.endTrust(errTrustNothing)
		}
	case t.waiting.lookout.typist != tr.who: // what has begun was typed by another
		ap.endTrust(errTrustBehind)
	default:
		tr.group, tr.pause = line.Foreground, trustPause
		ap.typeTrusted()
	}
}

// lookAtTrustLater has trust looked at after a pause. The Term's lock is held.
func (ap *approvals) lookAtTrustLater() {
	tr := &ap.trust
	wait := min(tr.pause, max(time.Until(tr.end), 0))
	if tr.group == 0 {
		tr.pause = min(2*tr.pause, trustPause)
	}
	var timer *time.Timer
	timer = time.AfterFunc(wait, func() {
		ap.t.term.Lock()
		defer ap.t.term.Unlock()
		if ap.trust.timer != timer {
			return // it has ended meanwhile
		}
		if ap.lookAtTrust(); ap.trust.agent != (asker{}) {
			ap.lookAtTrustLater()
		}
	})
	tr.timer = timer
}

// endTrust ends a person's yes to all, if there is one, and drops what the agent typed and no
// program has read. The Term's lock is held.
func (ap *approvals) endTrust(why error) {
	tr := ap.trust
	if tr.agent == (asker{}) {
		return
	}
	tr.timer.Stop()
	ap.trust = trust{}
	ap.dropAhead(why)
	ap.tellDeciders(nil, Note{Kind: NoteTrustOver, Agent: tr.by, Why: why.Error()})
	ap.t.ch.TellTrustOver(store.TrustOver{By: Printable(tr.by), Why: Printable(why.Error())})
	ap.t.emit(Event{Kind: EventTrustOver, To: tr.by, Reason: why.Error()})
	if len(ap.held) > 0 {
		ap.asksChanged()
	}
}

// dropAhead drops all input that no program has read, if an agent has typed some, and tells why.
// The Term's lock is held.
func (ap *approvals) dropAhead(why error) {
	if ap.typedSince {
		ap.typedSince = false
		ap.dropHeldText(why.Error())
		ap.t.term.DiscardInput()
	}
}

// typeTrusted types what is held of the agent that needs no approval any more. The Term's lock is
// held.
func (ap *approvals) typeTrusted() {
	for _, k := range ap.heldOf(ap.trust.agent) {
		ap.typedSince = true
		_ = ap.typeHeld(k, false) // its agent is told
	}
}

// heldOf returns what is held of an agent. The Term's lock is held.
func (ap *approvals) heldOf(agent asker) (of []*heldInput) {
	for _, k := range ap.held {
		if k.s.asker() == agent {
			of = append(of, k)
		}
	}
	return of
}
