package host

import (
	"runtime"
	"time"

	"termhost/authz/admit"
)

// A peer costs time with each byte and each frame that it sends, whatever becomes of them, and with
// what it has the host look for. So the connections of one account are read at a pace, together,
// and their work has a budget: beyond it they are read, and it goes on, later. Admins have neither.

const (
	// MessageParts is how many parts a message counts as. Output by the owner of a client-executed
	// terminal counts as one part, because it comes in pieces as small as the program prints them:
	// at the default rate 32,000 a second, more than any program prints lines. Its bytes have a
	// rate of their own: see [Conn.WaitOutput].
	MessageParts = 32
	// paceBytes is how many bytes a second are read from one account, on average: what an agent
	// sends takes some hundred, and decoding them a tenth of a core. As many may come at once.
	paceBytes = 8 << 20
	// paceMessages is how many messages and control frames; requests_per_second bounds each
	// connection besides.
	paceMessages = 4000
	// maxLarge is how many answers with the states of terminals, of some MiB each, are being
	// written to an account's connections at once. A peer that takes nothing keeps its place until
	// its connection counts as stalled.
	maxLarge = 4
	// maxReadings is how many logs and recordings are being read for an account at once, each of
	// which takes as much memory as it is large, and more where its lines are counted.
	maxReadings = 2
	// readingTime is how long a reader waits for others to end.
	readingTime = 10 * time.Second
	// workShare is the part of all cores that the work of one account takes, on average, and
	// workSaved for how many seconds' worth of it it may take at once: to read a whole log takes
	// about a second of one core.
	workShare = 4
	workSaved = 4
)

// Pace is that of one account. Its methods may be called concurrently.
type Pace struct {
	bytes, messages, work admit.Bucket

	large    chan struct{} // holds one for each large answer that is being written
	readings chan struct{} // holds one for each log or recording that is being read
}

func newPace() *Pace {
	return &Pace{large: make(chan struct{}, maxLarge), readings: make(chan struct{}, maxReadings)}
}

// owe charges for what has come and returns for how long nothing more is to be read.
func (p *Pace) owe(bytes, parts int, now time.Time) time.Duration {
	const messageRate = paceMessages * MessageParts
	return max(p.bytes.Take(admit.Rate{PerSecond: paceBytes, Burst: paceBytes}, bytes, now),
		p.messages.Take(admit.Rate{PerSecond: messageRate, Burst: messageRate}, parts, now))
}

// oweWork charges for work that was done and returns for how long nothing more is to be done.
func (p *Pace) oweWork(worked time.Duration, now time.Time) time.Duration {
	// In microseconds of CPU time.
	rate := runtime.GOMAXPROCS(0) * int(time.Second/time.Microsecond) / workShare
	return p.work.Take(admit.Rate{PerSecond: rate, Burst: workSaved * rate},
		int(worked.Microseconds()), now)
}
