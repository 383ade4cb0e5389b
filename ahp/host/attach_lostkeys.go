package host

import (
	"strings"
	"time"

	"termhost/ahp/idle"
	"termhost/ptypool/keyboard"
)

// A line with keys missing in its middle may be a command that nobody wanted. So when a key of a
// line is lost, because somebody took the keyboard or because queued input was dropped, all that is
// typed next at the same viewer is lost, too, until the person has stopped typing for long enough
// to notice. The viewer shows what is lost, so that the person can type it again.
//
// A refused key that is not part of a line loses nothing else: such as one key typed only to see
// who has the keyboard.
//
// A peer of AHP is told of each refused action, and has to handle this itself.

// resumePause is how long a person who has lost a key must type nothing before keys are typed
// again: a second is longer than between the keys of a line, and enough to see the viewer's
// message.
const resumePause = time.Second

// losesLocked returns why p is lost; nil: it is not. may: p is about to be typed, rather than
// refused. later: p continues earlier input. The Term's lock is held.
func (a *Attach) losesLocked(p []byte, may, later bool) error {
	k := &a.lost
	if len(p) == 0 {
		return nil
	}
	if p[0] == 0x1b { // as in a report, which is never lost
		if keys, _ := keyboard.HasKeys(p); !keys {
			return nil
		}
	}
	now := a.t.host.now()
	recent := later || now.Sub(k.at) < resumePause
	k.at = now
	switch {
	case !may:
		if k.why == nil && recent && (k.refused || k.middle || later) {
			k.why = &LostError{}
		}
		k.refused = true
		return nil // the refusal says why
	case k.why != nil && recent && !a.t.approvals.interrupts(p):
		return k.why
	}
	*k = lostKeys{at: now, middle: strings.IndexByte(idle.Answers, p[len(p)-1]) < 0}
	return nil
}

// Fresh says that the viewer's person has done something else, so that what is typed next does not
// continue a line whose keys were lost.
func (a *Attach) Fresh() {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	a.lost = lostKeys{}
}

// cutOff makes the viewers of a former holder lose the rest of a line that is being typed there,
// because next has taken the keyboard. queued: input of the former holder was dropped. The Term's
// lock is held.
func (kb *keyboardClaim) cutOff(was, next holder, queued bool) {
	for _, a := range kb.t.viewers.windows {
		if a.conn.principal.ID == was.principal && (a.lost.middle || queued) {
			a.lost.why = &LostError{To: next.text()}
		}
	}
}

// InputKept reports whether all that was typed has left this process: if the process dies, queued
// input is lost.
func (a *Attach) InputKept() bool { return !a.t.term.InputQueued() }

// WaitsChanged returns a channel that is closed when ShowsInput may have changed.
func (a *Attach) WaitsChanged() <-chan struct{} {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.waiting.Changed()
}

// ShowsInput reports whether the program may show what is typed, so that the viewer may show lost
// keys: it does not ask for a secret.
func (a *Attach) ShowsInput() bool {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return !a.t.approvals.secretAsked()
}
