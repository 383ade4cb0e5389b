package mcp

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// signalName returns a signal's name, such as "SIGKILL".
func signalName(s syscall.Signal) string { return unix.SignalName(s) }
