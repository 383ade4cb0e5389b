package host

import (
	"slices"
	"time"
)

// Outcome is what has become of a held input.
type Outcome struct {
	Ask string    `json:"ask"`
	How string    `json:"how"` // "approved by ana", "refused by ana: not on a Friday"; for display
	At  time.Time `json:"at"`
}

// maxOutcomes is how many outcomes a terminal remembers, for those who come too late: all that were
// held at once.
const maxOutcomes = maxTerminalHeld

// settled records the outcome of k. The Term's lock is held.
func (ap *approvals) settled(k *heldInput, how string) {
	ap.outcomes = append(ap.outcomes, Outcome{k.id, how, ap.t.host.now().UTC()})
	if n := len(ap.outcomes) - maxOutcomes; n > 0 {
		ap.outcomes = slices.Delete(ap.outcomes, 0, n)
	}
}

// outcomeOf returns the outcome of an ask. ok is false if none is known. The Term's lock is held.
func (ap *approvals) outcomeOf(ask string) (o Outcome, ok bool) {
	i := slices.IndexFunc(ap.outcomes, func(o Outcome) bool { return o.Ask == ask })
	if i < 0 {
		return o, false
	}
	return ap.outcomes[i], true
}

// lastOutcome returns how the last decision went; "": there was none. The Term's lock is held.
func (ap *approvals) lastOutcome() string {
	if len(ap.outcomes) == 0 {
		return ""
	}
	return ap.outcomes[len(ap.outcomes)-1].How
}

// Outcome returns the outcome of an ask of t's, to principals that may read all asks there; ok is
// false if that is not known, or if it is held still.
func (c *Conn) Outcome(t *Terminal, ask string) (o Outcome, ok bool) {
	if !c.audience().decides() {
		return o, false
	}
	t.term.Lock()
	defer t.term.Unlock()
	return t.approvals.outcomeOf(ask)
}
