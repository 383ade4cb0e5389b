package sshd

import (
	"strings"
	"syscall"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
)

const (
	// maxEnv and maxEnvBytes bound what one SSH session may set: some locale
	// variables, each shorter than a path.
	maxEnv      = 32
	maxEnvBytes = 4 << 10
	// maxTerm bounds a terminal's name, in bytes; terminfo's are shorter.
	maxTerm = 64
	// maxLine bounds a command line in bytes: what execve takes as one argument
	// (MAX_ARG_STRLEN).
	maxLine = 128 << 10
	// The size of a window that does not say one (VT100).
	defaultCols = 80
	defaultRows = 24
)

// ptyRequest is what an SSH session asks for with pty-req (RFC 4254 section
// 6.2). The terminal modes are not used: the programs' terminals are the host's.
type ptyRequest struct{ term string }

func (s *sshSession) ptyReq(payload []byte) bool {
	var msg struct {
		Term                      string
		Cols, Rows, Width, Height uint32
		Modes                     string
	}
	if s.pty != nil || gossh.Unmarshal(payload, &msg) != nil {
		return false
	}
	s.pty = &ptyRequest{}
	if len(msg.Term) <= maxTerm && isPlain(msg.Term) {
		s.pty.term = msg.Term
	}
	s.mu.Lock()
	s.window = clampWindow(msg.Cols, msg.Rows)
	s.mu.Unlock()
	return true
}

// isPlain reports whether s is made of graphic ASCII characters.
func isPlain(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }) < 0
}

// clampWindow brings a window into the host's bounds. Nothing at all means that
// the peer does not know its window.
func clampWindow(cols, rows uint32) window {
	if cols == 0 || rows == 0 {
		return window{defaultCols, defaultRows}
	}
	return window{int(min(cols, host.MaxCols)), int(min(rows, host.MaxRows))}
}

// setEnv takes the variables that sshd_config's AcceptEnv usually names: the
// locale and COLORTERM. Others are refused, which clients take without a word.
func (s *sshSession) setEnv(payload []byte) bool {
	var msg struct{ Name, Value string }
	if gossh.Unmarshal(payload, &msg) != nil || len(s.env) >= maxEnv || len(msg.Name)+len(msg.Value) > maxEnvBytes {
		return false
	}
	if msg.Name != "LANG" && msg.Name != "COLORTERM" && !strings.HasPrefix(msg.Name, "LC_") {
		return false
	}
	if !isPlain(msg.Name) || strings.Contains(msg.Name, "=") || strings.IndexByte(msg.Value, 0) >= 0 {
		return false
	}
	s.env = append(s.env, msg.Name+"="+msg.Value)
	return true
}

// stringPayload reads a request's payload that is one string.
func stringPayload(payload []byte) (value string, ok bool) {
	var msg struct{ Value string }
	if gossh.Unmarshal(payload, &msg) != nil {
		return "", false
	}
	value = msg.Value
	return value, len(value) <= maxLine && strings.IndexByte(value, 0) < 0
}

// signalNumber returns the signal that RFC 4254 section 6.10 names.
func signalNumber(name string) (sig syscall.Signal, ok bool) {
	switch name {
	case "ABRT":
		return syscall.SIGABRT, true
	case "ALRM":
		return syscall.SIGALRM, true
	case "FPE":
		return syscall.SIGFPE, true
	case "HUP":
		return syscall.SIGHUP, true
	case "ILL":
		return syscall.SIGILL, true
	case "INT":
		return syscall.SIGINT, true
	case "KILL":
		return syscall.SIGKILL, true
	case "PIPE":
		return syscall.SIGPIPE, true
	case "QUIT":
		return syscall.SIGQUIT, true
	case "SEGV":
		return syscall.SIGSEGV, true
	case "TERM":
		return syscall.SIGTERM, true
	case "USR1":
		return syscall.SIGUSR1, true
	case "USR2":
		return syscall.SIGUSR2, true
	}
	return 0, false
}
