package wire

import "syscall"

// namedSignal is a signal that SSH has a name for.
type namedSignal struct {
	name   string
	signal syscall.Signal
}

// namedSignals returns the signals that RFC 4254 section 6.10 names.
func namedSignals() []namedSignal {
	return []namedSignal{
		{"ABRT", syscall.SIGABRT}, {"ALRM", syscall.SIGALRM}, {"FPE", syscall.SIGFPE},
		{"HUP", syscall.SIGHUP}, {"ILL", syscall.SIGILL}, {"INT", syscall.SIGINT},
		{"KILL", syscall.SIGKILL}, {"PIPE", syscall.SIGPIPE}, {"QUIT", syscall.SIGQUIT},
		{"SEGV", syscall.SIGSEGV}, {"TERM", syscall.SIGTERM}, {"USR1", syscall.SIGUSR1},
		{"USR2", syscall.SIGUSR2},
	}
}

// SignalNumber returns the signal of a name.
func SignalNumber(name string) (sig syscall.Signal, ok bool) {
	for _, s := range namedSignals() {
		if s.name == name {
			return s.signal, true
		}
	}
	return 0, false
}

// SignalName returns the name of a signal. Those that have none are called as OpenSSH's sshd calls
// them.
func SignalName(sig syscall.Signal) string {
	for _, s := range namedSignals() {
		if s.signal == sig {
			return s.name
		}
	}
	return "SIG@openssh.com"
}
