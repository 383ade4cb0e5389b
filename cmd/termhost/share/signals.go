package share

import (
	"context"
	"os"
	"syscall"
	"time"

	"termhost/cmd/termhost/tty"
)

// backgroundTime is how long share runs in the background before it stops itself. A shell's kill
// sends SIGCONT to a stopped job together with SIGTERM, which must be handled first.
const backgroundTime = 200 * time.Millisecond

// handledSignals returns the signals that share handles.
func handledSignals() []os.Signal {
	return []os.Signal{syscall.SIGWINCH, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT,
		syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGCONT}
}

// attend handles signals, and the end of sharing, until ctx ends.
func (s *sharing) attend(ctx context.Context, signals <-chan os.Signal) {
	ended := s.publisher.ended
	var stop <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			ended = nil
			if reason := s.publisher.endReason(); reason != "" {
				s.endProgram(reason)
			}
		case sig := <-signals:
			s.handle(sig)
			if sig == syscall.SIGCONT && !s.user.Foreground() {
				stop = time.After(backgroundTime)
			}
		case <-stop:
			stop = nil
			switch {
			case s.user.Foreground(): // a shell does not signal a job that runs already
				s.goOn()
			case !s.hungUp.Load():
				// In the background share can neither read keys nor make the terminal raw. It
				// stops as any such program does, which its shell notices.
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			}
		}
	}
}

// handle does what a signal to share means for the program or the terminal.
func (s *sharing) handle(sig os.Signal) {
	switch sig {
	case syscall.SIGWINCH:
		s.resize()
	case syscall.SIGTSTP:
		s.giveBack()
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case syscall.SIGCONT:
		s.goOn()
	case syscall.SIGINT, syscall.SIGQUIT: // for the program, as if the keys had been typed
		_ = syscall.Kill(-s.program.cmd.Process.Pid, sig.(syscall.Signal))
	default:
		s.hungUp.Store(true)
		s.program.hangUp()
	}
}

// giveBack leaves the user's terminal as it was, without modes that the program may have set. In
// the background the terminal is the shell's.
func (s *sharing) giveBack() {
	if s.user.Foreground() {
		s.tee.restore()
	}
	s.user.Restore()
}

// goOn takes the terminal after a stop, in which the shell may have used it and its size may have
// changed.
func (s *sharing) goOn() {
	if !s.user.Foreground() || s.hungUp.Load() {
		return
	}
	_ = s.user.Raw() // this has worked before
	s.resize()
	s.tee.reappear()
}

// resize tells watchers and the program the size of the user's terminal, in this order: what the
// program prints from then on is for the new size.
func (s *sharing) resize() {
	size := s.user.Size()
	s.tee.resized(int(size.Col), int(size.Row))
	s.program.resize(size)
}

// endProgram ends the program because the host has ended the terminal. The user is told first: a
// program may ignore the hangup for a while.
func (s *sharing) endProgram(reason string) {
	s.hungUp.Store(true)
	select {
	case <-s.notices.show("the terminal was " + reason + ", and the program is hung up"):
	case <-time.After(tty.WriteTime):
	}
	s.program.end()
}
