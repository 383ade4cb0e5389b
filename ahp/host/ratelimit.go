package host

import (
	"fmt"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/authz/admit"
)

// outputRate bounds how fast a clientId may send what its client-executed terminals show: output,
// command lines and titles, in bytes. Whoever sends more is read later. It outlives connections, so
// that nobody gets a full bucket by coming back.
type outputRate struct {
	bucket admit.Bucket

	mu   sync.Mutex // held over the bucket's lock
	told bool       // the owner has been told, since the bucket was last full
}

// outputBurst is how many seconds' worth of output may come at once: what a build prints in one go.
const outputBurst = 4

// chargeAction charges for what an action shows to others. notice is for the answer to it; "":
// there is none.
func (l *outputRate) chargeAction(a ahp.Action, rate int, now time.Time) (notice string) {
	switch a := a.(type) {
	case ahp.TerminalOutput: // even if it is refused: it had to be read
		return l.chargeOutput(len(a.Data), rate, now)
	case ahp.TerminalCommandExecuted:
		l.charge(len(a.CommandID)+len(a.CommandLine), rate, now)
	case ahp.TerminalCommandFinished:
		l.charge(len(a.CommandID), rate, now)
	case ahp.TerminalTitleChanged:
		l.charge(len(a.Title), rate, now)
	}
	return ""
}

// chargeOutput charges for n bytes of output. notice is what the owner is to be told; "": nothing.
func (l *outputRate) chargeOutput(n, rate int, now time.Time) (notice string) {
	wait := l.charge(n, rate, now)
	l.mu.Lock()
	defer l.mu.Unlock()
	if wait <= 0 || l.told {
		return ""
	}
	l.told = true
	return fmt.Sprintf("the output comes faster than this host takes it for long "+
		"(terminal.client_output_rate, %d bytes a second) and is read more slowly now", rate)
}

// charge charges for n bytes and returns for how long nothing more is to be read.
func (l *outputRate) charge(n, rate int, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told && l.bucket.Full(now) {
		l.told = false
	}
	return l.bucket.Take(admit.Rate{PerSecond: rate, Burst: outputBurst * rate}, n, now)
}

// delay returns for how long nothing more is to be read.
func (l *outputRate) delay(rate int, now time.Time) time.Duration { return l.charge(0, rate, now) }
