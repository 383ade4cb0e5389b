package host

import (
	"errors"
	"time"

	"termhost/ahp/store"
)

const (
	// trustTime is how long trust lasts at most: as long as an agent waits for a decision.
	trustTime = 10 * time.Minute
	// trustBegins is how long a shell may take to bring the typed command to the foreground: its
	// prompt and the prompt's hooks run first.
	trustBegins = 5 * time.Second
	// trustPause is the time between two looks: short for people, and 20 system calls a second.
	trustPause = 50 * time.Millisecond
	// firstTrustPause is that time at first; until the command begins, it doubles with each look.
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

// shellTellsCommands records that the shell tells when a command ends. The Term's lock is held.
func (ap *approvals) shellTellsCommands() {
	if !ap.shellTells {
		ap.shellTells = true
		if len(ap.held) > 0 {
			ap.publishHeld() // ApproveAll may be possible now
		}
	}
}

// beginTrust trusts the agent of k, which is about to be typed. The Term's lock is held, and
// mayTrust has returned true.
func (ap *approvals) beginTrust(k *heldInput) {
	t := ap.t
	ap.endTrust(errTrustAnew)
	now := time.Now()
	tr := &ap.trust
	*tr = trust{agent: k.s.agentID(), by: k.by, typist: k.s.name(), begin: now,
		secrets: !ap.heldUntilRead(k.s), end: now.Add(t.host.trustTime), pause: firstTrustPause}
	if line, err := t.term.Line(); err == nil && line.Foreground != t.term.Pid() {
		tr.group, tr.pause = line.Foreground, trustPause
	}
	ap.agentTyped = false
	ap.lookAtTrustLater()
}

// approve types k, which a person has approved. all: its agent is trusted from then on. The Term's
// lock is held.
func (ap *approvals) approve(k *heldInput, all bool) error {
	switch {
	case all: // before k is typed and the command can begin
		ap.beginTrust(k)
	case ap.trust.group == 0:
		ap.endTrust(errTrustAnew) // the next command may be k's
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

// typeHeld types or starts k, if the policy still agrees. approved: a person has approved k itself,
// rather than all input of its agent. The Term's lock is held.
func (ap *approvals) typeHeld(k *heldInput, approved bool) error {
	var err error
	if k.starts != nil {
		err = k.starts.approved()
	} else {
		s := k.s
		if s.approved = approved; approved {
			s.answers = k.question
		}
		err = ap.t.typeAs(s, k.text, k.lends)
	}
	if err != nil && k.decided != "" {
		k.decided += ", but not typed: " + Printable(err.Error())
	}
	ap.resolve(k, err)
	return err
}

// trusts reports whether trust lets s type now without approval. The Term's lock is held.
func (ap *approvals) trusts(s step) bool {
	if ap.trust.agent != s.agentID() {
		return false
	}
	ap.lookAtTrust()
	return ap.trust.agent == s.agentID() && ap.trust.group != 0
}

// lookAtTrust ends trust if it is over, and sets its process group once the command has begun. The
// Term's lock is held.
func (ap *approvals) lookAtTrust() {
	t := ap.t
	tr := &ap.trust
	line, err := t.term.Line()
	now := time.Now()
	typist, _ := t.waiting.Typist()
	switch {
	case tr.agent == agentID{}:
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
	case typist != tr.typist: // somebody else typed what has begun
		ap.endTrust(errTrustBehind)
	default:
		tr.group, tr.pause = line.Foreground, trustPause
		ap.typeTrusted()
	}
}

// lookAtTrustLater schedules the next lookAtTrust. The Term's lock is held.
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
			return // this trust has ended meanwhile
		}
		if ap.lookAtTrust(); ap.trust.agent != (agentID{}) {
			ap.lookAtTrustLater()
		}
	})
	tr.timer = timer
}

// endTrust ends trust, if there is any, and drops what the agent typed and no program has read. The
// Term's lock is held.
func (ap *approvals) endTrust(why error) {
	tr := ap.trust
	if tr.agent == (agentID{}) {
		return
	}
	tr.timer.Stop()
	ap.trust = trust{}
	ap.dropUnread(why)
	ap.tellDeciders(nil, Note{Kind: NoteTrustOver, Agent: tr.by, Why: why.Error()})
	ap.t.ch.TellTrustOver(store.TrustOver{By: Printable(tr.by), Why: Printable(why.Error())})
	ap.t.emit(Event{Kind: EventTrustOver, To: tr.by, Reason: why.Error()})
	if len(ap.held) > 0 {
		ap.publishHeld()
	}
}

// dropUnread drops all input that no program has read, if an agent has typed, and tells why. The
// Term's lock is held.
func (ap *approvals) dropUnread(why error) {
	if ap.agentTyped {
		ap.agentTyped = false
		ap.dropTypedAhead(why.Error())
		ap.t.term.DiscardInput()
	}
}

// typeTrusted types what is held of the agent that is trusted now. The Term's lock is held.
func (ap *approvals) typeTrusted() {
	for _, k := range ap.heldOf(ap.trust.agent) {
		ap.agentTyped = true
		_ = ap.typeHeld(k, false) // which tells the agent the error
	}
}

// heldOf returns what is held of an agent. The Term's lock is held.
func (ap *approvals) heldOf(agent agentID) (of []*heldInput) {
	for _, k := range ap.held {
		if k.s.agentID() == agent {
			of = append(of, k)
		}
	}
	return of
}
