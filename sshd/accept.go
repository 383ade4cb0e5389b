package sshd

import (
	"errors"
	"net"
	"slices"
	"syscall"
	"time"
)

// The pause after an Accept that failed because something ran out: doubled each time, long enough
// not to spin, short enough that nobody notices.
const (
	acceptPauseFirst = 5 * time.Millisecond
	acceptPauseMost  = time.Second
)

// Serve accepts connections on l until Shutdown, or until l fails, and closes l. It returns
// ErrServerClosed or l's error.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	if !s.addListener(l) {
		return ErrServerClosed
	}
	defer s.removeListener(l)
	var pause time.Duration
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			s.start(nc)
		case s.isClosed():
			return ErrServerClosed
		case isTemporary(err):
			// Mostly there are no descriptors left. The open connections go on, and new ones wait
			// in the kernel's queue.
			pause = min(max(2*pause, acceptPauseFirst), acceptPauseMost)
			s.log.Warn("cannot accept a connection; trying again", "err", err, "in", pause)
			if !s.sleep(pause) {
				return ErrServerClosed
			}
		default:
			return err
		}
	}
}

// isTemporary reports whether accept(2) may succeed later: the process or the system has run out of
// something, or the peer went away while it was in the queue.
func isTemporary(err error) bool {
	var errno syscall.Errno
	temporary := []syscall.Errno{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED,
	}
	return errors.As(err, &errno) && slices.Contains(temporary, errno)
}

// sleep waits for d and returns true, or returns false at once when the server is shut down.
func (s *Server) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.stopping:
		return false
	}
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// addListener returns false if the server is closed.
func (s *Server) addListener(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.listeners[l] = struct{}{}
	return true
}

func (s *Server) removeListener(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}
