package ptypool

import (
	"syscall"
	"time"
)

// ExitStatus is how a process session's leader ended.
type ExitStatus struct {
	Code   int            // the exit status 0..255, or 128+n for signal n; UnknownExit when it could not be learnt
	Signal syscall.Signal // the signal that ended it; 0: it exited by itself
}

// UnknownExit is the Code of a process whose status nobody could learn, and of a virtual terminal that was hung up.
const UnknownExit = -1

// ExitStatusOf translates the kernel's wait status.
func ExitStatusOf(ws syscall.WaitStatus) ExitStatus {
	if ws.Signaled() {
		return ExitStatus{Code: 128 + int(ws.Signal()), Signal: ws.Signal()}
	}
	return ExitStatus{Code: ws.ExitStatus()}
}

// Backend runs one process session behind a terminal: today a pty of this process, later a keeper process that owns the
// ptys and survives the host. Reads come from one goroutine, writes are never concurrent with each other (the input
// queue's lock); everything else may be called at any time from any goroutine. None but WaitReadable, WaitWritable and
// Wait may block.
type Backend interface {
	// WaitReadable blocks until Read has something to say: output, or the end of it. It fails only after Close.
	WaitReadable() error
	// Read takes the output that is there into p without waiting. It returns 0, nil when there is none just now, and
	// io.EOF after the last byte. p is not kept.
	Read(p []byte) (int, error)
	// WaitWritable blocks until Write is likely to take something. It fails only after Close.
	WaitWritable() error
	// Write hands the program as much of p as it takes now, without waiting; n < len(p) with a nil error when it takes no
	// more. p is not kept.
	Write(p []byte) (n int, err error)
	// SignalKeys returns the characters that the program's terminal line turns into signals right now (VINTR, VQUIT,
	// VSUSP of termios(3)); "" when it does not, or when it was asked not to flush its input on a signal (NOFLSH).
	SignalKeys() string
	// Interrupt drops the input that was written but not read yet, and then delivers key, one of SignalKeys, even to a
	// program that does not read.
	Interrupt(key byte) error
	// DiscardInput drops the input that was written but not read yet.
	DiscardInput() error
	// Resize sets the window size; the foreground process group gets SIGWINCH if it changed.
	Resize(cols, rows int) error
	// Signal sends sig to every process of the process session.
	Signal(sig syscall.Signal) error
	// SignalForeground sends sig to the terminal's foreground process group only.
	SignalForeground(sig syscall.Signal) error
	// Hangup sends SIGHUP to every process of the process session, and SIGKILL, repeatedly, to what is left of it after
	// the grace. It returns at once; the channel is closed when nothing is left or no more can be done. Called again, the
	// earlier deadline counts.
	Hangup(grace time.Duration) (gone <-chan struct{})
	// Wait blocks until the leader has ended.
	Wait() (ExitStatus, error)
	// Close releases the descriptors and wakes WaitReadable and WaitWritable. Processes are not waited for.
	Close() error
	// Pid is the leader's process id; 0 if it has none on this machine.
	Pid() int
}
