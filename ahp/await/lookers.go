package await

import (
	"fmt"
	"sync"

	"termhost/authz"
	"termhost/authz/admit"
)

// Lookers bounds, for each account, the waits for lines on all terminals and the output that waits
// to be looked at. The zero value is ready. Its methods may be called concurrently.
type Lookers struct {
	running sync.WaitGroup // the goroutines of all
	waits   admit.Places   // for lines
	behind  admit.Tally    // output that is not looked at yet, in bytes
}

// Wait returns when no goroutine is left. All waits must have been left, and no other may begin.
func (l *Lookers) Wait() { l.running.Wait() }

const (
	// maxLineWaits is how many waits for lines one account may have at once. What their regular
	// expressions take is bounded elsewhere.
	maxLineWaits = 512
	// maxBehind is how much output is kept for one account until it has been looked at, in bytes:
	// that of a second or so at full speed.
	maxBehind = 32 << 20
)

// begin counts a wait for lines. An error is a *admit.QuotaError.
func (l *Lookers) begin(p authz.Principal) error {
	return l.waits.Take(p, admit.Limit{What: "waits for lines", Each: maxLineWaits})
}

// end is the end of a wait.
func (l *Lookers) end(p authz.Principal) { l.waits.Leave(p) }

// put counts n bytes of output that are to be looked at, or with a negative n, that have been. It
// returns false if that is too much: then they are not counted.
func (l *Lookers) put(account string, n int) bool {
	return l.behind.AddUpTo(maxBehind, account, int64(n))
}

// BehindError ends a wait for a line: the output came faster than it could be looked at.
type BehindError struct{ Terminal string }

func (e *BehindError) Error() string {
	return fmt.Sprintf("%s prints faster than all lines that this key waits for can be looked"+
		" for: "+
		"wait for fewer at a time, with text in them that is always there, "+
		"or search for the line later", e.Terminal)
}
