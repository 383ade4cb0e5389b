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
func (t *Terminal) mayTrust(k *heldInput) bool {
	line, err := t.term.Line()
	if err != nil || line.Foreground <= 1 || k.question != nil {
		return false
	}
	atHome := line.Foreground == t.term.Pid()
	return !atHome || t.guard.tells && t.running == "" && k.does == ahp.AskRuns
}

// beginTrust trusts the agent that asked for k, which is about to be typed. The Term's lock is
// held, and mayTrust was true.
func (t *Terminal) beginTrust(k *heldInput) {
	t.endTrust(errTrustAnew)
	now := time.Now()
	tr := &t.guard.trust
	*tr = trust{agent: k.s.asker(), by: k.by, who: k.s.name(), begin: now,
		secrets: !t.holds(k.s), end: now.Add(t.host.trustTime), pause: firstTrustPause}
	if line, err := t.term.Line(); err == nil && line.Foreground != t.term.Pid() {
		tr.group, tr.pause = line.Foreground, trustPause
	}
	t.guard.ahead = false
	t.lookAtTrustLater()
}

// approve types k, which a person has agreed to. all: its agent is trusted from then on. The Term's
// lock is held.
func (t *Terminal) approve(k *heldInput, all bool) error {
	switch {
	case all: // before the command can begin
		t.beginTrust(k)
	case t.guard.trust.group == 0:
		t.endTrust(errTrustAnew) // what begins next may be k's
	}
	err := t.typeHeld(k, true)
	switch {
	case !all:
	case err != nil:
		t.endTrust(err)
	case t.guard.trust.group != 0:
		t.typeTrusted()
	}
	return err
}

// trusts reports whether what s types now needs no approval. The Term's lock is held.
func (t *Terminal) trusts(s step) bool {
	if t.guard.trust.agent != s.asker() {
		return false
	}
	t.lookAtTrust()
	return t.guard.trust.agent == s.asker() && t.guard.trust.group != 0
}

// lookAtTrust ends trust if it is over, and notes which group it is for once the command has begun.
// The Term's lock is held.
func (t *Terminal) lookAtTrust() {
	tr := &t.guard.trust
	line, err := t.term.Line()
	now := time.Now()
	switch {
	case tr.agent == asker{}:
	case err != nil:
		t.endTrust(errTrustEnded)
	case !now.Before(tr.end):
		t.endTrust(errTrustTime)
	case tr.group != 0:
		if line.Foreground != tr.group {
			t.endTrust(errTrustBehind)
		}
	case line.Foreground == t.term.Pid():
		if now.Sub(tr.begin) > trustBegins {
			t.endTrust(errTrustNothing)
		}
	case t.lookout.typist != tr.who: // what has begun was typed by another
		t.endTrust(errTrustBehind)
	default:
		tr.group, tr.pause = line.Foreground, trustPause
		t.typeTrusted()
	}
}

// lookAtTrustLater has trust looked at after a pause. The Term's lock is held.
func (t *Terminal) lookAtTrustLater() {
	tr := &t.guard.trust
	wait := min(tr.pause, max(time.Until(tr.end), 0))
	if tr.group == 0 {
		tr.pause = min(2*tr.pause, trustPause)
	}
	var timer *time.Timer
	timer = time.AfterFunc(wait, func() {
		t.term.Lock()
		defer t.term.Unlock()
		if t.guard.trust.timer != timer {
			return // it has ended meanwhile
		}
		if t.lookAtTrust(); t.guard.trust.agent != (asker{}) {
			t.lookAtTrustLater()
		}
	})
	tr.timer = timer
}

// endTrust ends a person's yes to all, if there is one, and drops what the agent typed and no
// program has read. The Term's lock is held.
func (t *Terminal) endTrust(why error) {
	tr := t.guard.trust
	if tr.agent == (asker{}) {
		return
	}
	tr.timer.Stop()
	t.guard.trust = trust{}
	t.dropAhead(why)
	t.tellDeciders(nil, Note{Kind: NoteTrustOver, Agent: tr.by, Why: why.Error()})
	t.ch.TellTrustOver(store.TrustOver{By: Printable(tr.by), Why: Printable(why.Error())})
	t.emit(Event{Kind: EventTrustOver, To: tr.by, Reason: why.Error()})
	if len(t.guard.held) > 0 {
		t.asksChanged()
	}
}

// dropAhead drops all input that no program has read, if an agent has typed some, and tells why.
// The Term's lock is held.
func (t *Terminal) dropAhead(why error) {
	if t.guard.ahead {
		t.guard.ahead = false
		t.dropHeldText(why.Error())
		t.term.DiscardInput()
	}
}

// typeTrusted types what is held of the agent that needs no approval any more. The Term's lock is
// held.
func (t *Terminal) typeTrusted() {
	for _, k := range t.heldOf(t.guard.trust.agent) {
		t.guard.ahead = true
		_ = t.typeHeld(k, false) // its agent is told
	}
}

// heldOf returns what is held of an agent. The Term's lock is held.
func (t *Terminal) heldOf(agent asker) (of []*heldInput) {
	for _, k := range t.guard.held {
		if k.s.asker() == agent {
			of = append(of, k)
		}
	}
	return of
}
