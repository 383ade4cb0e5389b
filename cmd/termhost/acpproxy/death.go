//go:build !darwin

package acpproxy

import "syscall"

// signalOnDeath has a child get a signal when this process has died.
func signalOnDeath(child *syscall.SysProcAttr, sig syscall.Signal) { child.Pdeathsig = sig }
