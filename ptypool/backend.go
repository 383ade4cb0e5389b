package ptypool

import (
	"io"
	"syscall"
	"time"

	"termhost/ptypool/keeper"
	"termhost/ptypool/nonce"
)

// backend is a started program, and the processes it starts, behind a Term: on a pty (ptyBackend)
// or on pipes (pipeBackend). The program is a child of this process or of a keeper.
//
// All methods may be called at any time by any goroutine. Only Wait waits for the program; the rest
// returns without waiting, though Signal reads the whole process table first.
//
// Left out deliberately:
//   - Starting. A backend is running when its Term gets it, because ways to start one differ
//     (see startPTY) and a keeper's program may have been running for days.
//   - Pausing. A program whose output is not read stops by itself.
//   - The order of the end. The Term reads to io.EOF first, then calls Wait, then Close.
//   - The screen, the parser, the input queue and all limits, which are the Term's.
//   - Input, which is a matter of keys on a pty (programInput) and of bytes on pipes ([Piped]).
type backend interface {
	processes

	// outputs returns where the program's output is read, each by one goroutine.
	outputs() []output
	// Resize sets the window size, if the program has one. The foreground process group gets
	// SIGWINCH if it changed.
	Resize(cols, rows int, px Pixels) error
	// SignalForeground sends sig to the terminal's foreground process group only; without a
	// terminal, to that of the leader.
	SignalForeground(sig syscall.Signal) error
	// Close releases the descriptors and wakes WaitReadable and WaitWritable. It neither ends
	// processes nor waits for them.
	Close() error
}

// output is one of the outputs of a program.
type output struct {
	programOutput
	// exact, if not nil, gets every byte unchanged, before the parser. It is closed at the end of
	// the output. After a failed Write it gets nothing more.
	exact io.WriteCloser
	// landing is the buffer, shared with a keeper, into which the output is read; nil: there is
	// none.
	landing *keeper.Landing
	// sealer seals the output, unless there is a landing; nil: nothing is sealed.
	sealer *nonce.Sealer
}

// programOutput reads the output of a program. Only one goroutine calls its methods.
type programOutput interface {
	// WaitReadable blocks until Read can return output or its end. It fails only after Close.
	WaitReadable() error
	// Read reads available output into p without blocking. It returns 0, nil when there is none
	// yet, and io.EOF after the last byte. It does not retain p.
	Read(p []byte) (int, error)
}

// programInput takes keys for a program. Write, Interrupt and DiscardInput are never called
// concurrently.
type programInput interface {
	// WaitWritable blocks until Write is likely to accept something. It fails only after Close.
	WaitWritable() error
	// Write writes as much of p as the program accepts without blocking: n < len(p) with a nil
	// error when it accepts no more. It does not retain p.
	Write(p []byte) (n int, err error)
	// SignalChars returns the characters that the terminal turns into signals right now (VINTR,
	// VQUIT and VSUSP of termios(3)). There are none without a terminal, when the terminal does not
	// turn them into signals, or when it does not flush its input on a signal (NOFLSH).
	SignalChars() signalChars
	// LineKeys returns the characters by which the terminal edits lines now; the zero value: it
	// does not.
	LineKeys() lineKeys
	// Line returns how the terminal edits lines, and who reads them.
	Line() (Line, error)
	// Readable reports whether a read of the program would not block: a line of the input, or a
	// byte if the terminal does not edit lines, is available. It is false if that is unknown.
	Readable() bool
	// StopKeys returns the characters that stop the terminal's output and let it go on (VSTOP and
	// VSTART of termios(3)); 0: no character does.
	StopKeys() (stop, start byte)
	// Stopped reports whether the output is stopped. It is false if that is unknown, or if there is
	// output that was not read yet.
	Stopped() bool
	// Interrupt drops input that was written but not read yet, and then delivers chars, of
	// SignalChars, even to a program that does not read.
	Interrupt(chars []byte) error
	// DiscardInput drops input that was written but not read yet.
	DiscardInput() error
}

// Line is what the line discipline of a terminal does: termios(3), and tcgetpgrp(3).
type Line struct {
	Canonical, Echo bool // ICANON and ECHO
	Foreground      int  // the process group that reads; 0: none
	Unread          bool // some output is not on the screen yet
}

// readsAs reports whether input means the same with both.
func (l Line) readsAs(m Line) bool {
	return l.Canonical == m.Canonical && l.Echo == m.Echo && l.Foreground == m.Foreground
}

// Hidden reports whether the terminal reads a line without showing it, as for a password.
func (l Line) Hidden() bool { return l.Canonical && !l.Echo }

// processes are all the processes of a terminal, its process tree: the started program, their
// leader, and all its descendants.
type processes interface {
	// Signal sends sig to every process of the tree. It fails with os.ErrProcessDone when none
	// is left.
	Signal(sig syscall.Signal) error
	// Hangup sends SIGHUP to every process of the tree and, after the grace, SIGKILL to those left,
	// repeatedly. It returns at once; gone is closed when none is left, or nothing more can be
	// done. If it is called again, the earlier deadline counts.
	Hangup(grace time.Duration) (gone <-chan struct{})
	// Wait blocks until the leader has ended, and returns its status. Other processes may be left.
	Wait() (ExitStatus, error)
	// Pid is the leader's process id; 0 if it has none on this machine.
	Pid() int
	// tree returns the process tree; nil if the processes are not on this machine.
	tree() *processTree
}

// ExitStatus is how the leader of a terminal's processes ended.
type ExitStatus struct {
	// Code is the exit status, 0 to 255, or 128+n for signal n; UnknownExit when it could not be
	// learnt.
	Code int
	// Signal is the signal that ended it; 0: it exited by itself.
	Signal syscall.Signal
	// Core says that the signal is known to have left a core dump.
	Core bool
}

// UnknownExit is the Code of a process whose status is lost, and of a virtual terminal that was
// hung up.
const UnknownExit = -1

// exitStatusOf translates the kernel's wait status.
func exitStatusOf(ws syscall.WaitStatus) ExitStatus {
	if ws.Signaled() {
		return ExitStatus{Code: 128 + int(ws.Signal()), Signal: ws.Signal(), Core: ws.CoreDump()}
	}
	return ExitStatus{Code: ws.ExitStatus()}
}
