package share

import (
	"context"
	"os"
	"syscall"
	"time"
)

// bgStop is how long share runs in the background before it stops: for a SIGTERM
// that came together with the SIGCONT, as from a shell's kill.
const bgStop = 200 * time.Millisecond

// lastWrite is how long a terminal that takes no output holds up the end.
const lastWrite = time.Second

// signals are those that share deals with.
func signals() []os.Signal {
	return []os.Signal{syscall.SIGWINCH, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGCONT}
}

// attend deals with signals, and with the end of sharing, until ctx ends.
func (s *sharing) attend(ctx context.Context, signals <-chan os.Signal) {
	ended := s.publisher.ended
	var stop <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			ended = nil
			if why := s.publisher.why(); why != "" {
				s.dispose(why)
			}
		case sig := <-signals:
			s.signalled(sig)
			if sig == syscall.SIGCONT && !s.user.foreground() {
				stop = time.After(bgStop)
			}
		case <-stop:
			stop = nil
			switch {
			case s.user.foreground(): // a shell says nothing to a job that runs already
				s.goOn()
			case !s.hungUp.Load():
				// A terminal cannot be shared by one who may neither read its keys
				// nor make it raw: as with any such program, the shell is told so.
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			}
		}
	}
}

// signalled does what a signal to share means: for its program, or for the
// terminal.
func (s *sharing) signalled(sig os.Signal) {
	switch sig {
	case syscall.SIGWINCH:
		s.resize()
	case syscall.SIGTSTP:
		s.giveBack()
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case syscall.SIGCONT:
		s.goOn()
	case syscall.SIGINT, syscall.SIGQUIT: // sent, not typed: for the program, as if they were typed
		_ = syscall.Kill(-s.shell.cmd.Process.Pid, sig.(syscall.Signal))
	default:
		s.hungUp.Store(true)
		s.shell.hangUp()
	}
}

// giveBack leaves the user's terminal as it was, with what a program may have left
// there undone. In the background it is the shell's.
func (s *sharing) giveBack() {
	if s.user.foreground() {
		s.feed.restore()
	}
	s.user.restore()
}

// goOn takes the terminal after a stop, before which the shell may have been given
// it, or not. In the meantime it may have got another size.
func (s *sharing) goOn() {
	if !s.user.foreground() || s.hungUp.Load() {
		return
	}
	_ = s.user.raw() // it could be made raw before
	s.resize()
	s.feed.reappear()
}

// resize tells watchers and the program the size of the user's terminal, in this
// order: what the program prints from then on is for the new size.
func (s *sharing) resize() {
	size := s.user.size()
	s.feed.resized(int(size.Col), int(size.Row))
	s.shell.resize(size)
}

// dispose ends the program because the host has ended the terminal. The user is told
// at once: a program may ignore the hangup for a while.
func (s *sharing) dispose(why string) {
	s.hungUp.Store(true)
	select {
	case <-s.news.tell("the terminal was " + why + ", and the program is hung up"):
	case <-time.After(lastWrite):
	}
	s.shell.end()
}
