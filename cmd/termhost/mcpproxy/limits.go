package mcpproxy

import (
	"time"
)

// limits are the times of a proxy.
type limits struct {
	// firstConnect bounds the first connection, at which ssh may ask its user, and connect those
	// that follow.
	firstConnect, connect time.Duration
	// silence is how long the host may be silent before it is asked for a sign of life, and answer
	// how long it may take for one.
	silence, answer time.Duration
	// A host that was silent for stale is asked before a request is sent to it, and has to answer
	// within staleAnswer: the machine may have slept, and the connection be gone.
	stale, staleAnswer time.Duration
	// wait is how long a request waits for a connection.
	wait time.Duration
	// A pause between attempts to connect is a random time below minPause * 2^n, but at most
	// maxPause, and hurry if requests wait.
	minPause, maxPause, hurry time.Duration
	// leave is how long the last answers may take when the client sends nothing more, and
	// leaveUnconnected how long the first connection may take then.
	leave, leaveUnconnected time.Duration
	// lastWord is how long a client is waited for that is to be told that there is no host.
	lastWord time.Duration
	// hangUp is how long the end of a connection may take.
	hangUp time.Duration
	// A connection that lasts for less than lasting does not count as one that was well.
	lasting time.Duration
}

func usualLimits() limits {
	return limits{
		firstConnect: 5 * time.Minute, connect: 30 * time.Second,
		silence: 15 * time.Second, answer: 30 * time.Second,
		stale: 20 * time.Second, staleAnswer: 5 * time.Second,
		wait:     20 * time.Second,
		minPause: 100 * time.Millisecond, maxPause: 10 * time.Second, hurry: time.Second,
		leave: time.Second, leaveUnconnected: 5 * time.Second,
		lastWord: 500 * time.Millisecond, hangUp: 5 * time.Second, lasting: 5 * time.Second,
	}
}
