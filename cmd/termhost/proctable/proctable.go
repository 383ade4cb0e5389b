// Package proctable has the processes of this machine, as programs need them that end what another
// program has left behind. It asks the system they run on: /proc of Linux, sysctl(3) elsewhere.
package proctable

import (
	"bytes"
	"syscall"
)

// Process is a process as it was when it was looked up. Its number may be used again, its number
// with its start not.
type Process struct {
	PID, Parent    int
	Group, Session int    // its process group and process session; 0: unknown
	Start          uint64 // when it was started, in a unit of the system's
	Ended          bool   // it is a zombie
}

// ExitCode returns the exit status by which shells tell how a process has ended: its own, or 128+n
// for signal n.
func ExitCode(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// holds reports whether one of the strings in env, which NULs separate, is variable.
func holds(env []byte, variable string) bool {
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if string(v) == variable {
			return true
		}
	}
	return false
}
