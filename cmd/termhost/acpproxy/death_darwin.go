package acpproxy

import "syscall"

// signalOnDeath does nothing: macOS has no such signal. An agent sees the end of its input.
func signalOnDeath(*syscall.SysProcAttr, syscall.Signal) {}
