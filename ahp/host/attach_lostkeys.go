package host

import (
	"bytes"
	"time"

	"termhost/ptypool/keyboard"
)

// A line from whose middle something is missing may be a command that nobody wanted. So when one
// key of a line is lost, because the keyboard was taken from the person who types or what waited
// for the program was dropped, what is typed next at the same viewer is lost, too, until the person
// has stopped typing and had time to see that. The viewer shows what is lost, to be typed again.
//
// A key that is refused to somebody who was not typing a line, and has not gone on since, is no
// line's middle: such as the key by which one sees who has the keyboard.
//
// A peer of AHP is told of each action that is refused, and has to look to that itself.

// resumePause is how long a person who has lost a key must type nothing before keys are taken
// again: a second is more than between the keys of a line, and enough to notice a notice.
const resumePause = time.Second

// LostError says that a key was not typed because one before it was lost.
type LostError struct {
	// To is who has taken the keyboard, for people; "": it was refused, and is there again.
	To string
}

func (e *LostError) Error() string {
	if e.To != "" {
		return e.To + " took the keyboard while you typed"
	}
	return "you did not have the keyboard while you typed"
}

// lostKeys is whether a viewer has lost keys. It is guarded by the Term's lock.
type lostKeys struct {
	why     *LostError // nil: none are lost
	at      time.Time  // when a key was typed last
	middle  bool       // the last key that was taken ended no line
	refused bool       // the last key was refused
}

// losesLocked returns why p is lost, which is about to be typed if may is true, and refused
// otherwise. later: it continues what was typed before. The Term's lock is held.
func (a *Attach) losesLocked(p []byte, may, later bool) error {
	k := &a.lost
	if len(p) == 0 {
		return nil
	}
	if p[0] == 0x1b { // else it is no report
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
	*k = lostKeys{at: now, middle: bytes.IndexByte([]byte(answers), p[len(p)-1]) < 0}
	return nil
}

// Fresh says that the viewer's person has done something on purpose: what is typed next is not the
// rest of what was typed before.
func (a *Attach) Fresh() {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	a.lost = lostKeys{}
}

// cutOff has the viewers of a former holder lose the rest of what is being typed there: somebody
// else has taken the keyboard, and what the program had not read is dropped; queued: there was
// some.
// The Term's lock is held.
func (kb *keyboardClaim) cutOff(was, next holder, queued bool) {
	for _, a := range kb.t.viewers.windows {
		if a.conn.principal.ID == was.principal && (a.lost.middle || queued) {
			a.lost.why = &LostError{To: next.text()}
		}
	}
}

// InputLater is [Attach.Input] for what continues what was typed before: the rest of a paste, and
// what had no room then. If something of that was lost, it is lost as well, however long ago that
// is.
func (a *Attach) InputLater(p []byte) error { return a.input(p, true) }

// InputKept reports whether all that was typed has left this process: what is queued here is lost
// with it.
func (a *Attach) InputKept() bool { return !a.t.term.InputQueued() }

// WaitsChanged returns a channel that is closed when ShowsInput may return something else than now.
func (a *Attach) WaitsChanged() <-chan struct{} {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.waiting.changes()
}

// ShowsInput reports whether what is typed at the program is shown, so that what is lost of it may
// be shown, too.
func (a *Attach) ShowsInput() bool {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return !a.t.approvals.asksSecret()
}
