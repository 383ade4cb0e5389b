package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// firstPause is how long a host that has crashed is waited with before the next is started. It
	// doubles with every crash up to lastPause, and begins anew after a host that ran settledTime.
	firstPause  = 100 * time.Millisecond
	lastPause   = 10 * time.Second
	settledTime = 10 * time.Second
)

// supervisor is process 1 of a container: it runs a host, starts it again when it crashes, and
// collects the statuses of all processes whose parents have ended. The host starts a keeper as it
// does elsewhere, which with its terminals becomes the supervisor's child when the host crashes.
type supervisor struct {
	argv []string // of the host
	std  stdio

	host    int       // its process id; 0: none runs
	started time.Time // when it was started
	pause   time.Duration
	wasUp   bool // a host has been up: what is wrong now may pass, and terminals may be there
	again   <-chan time.Time
	ending  bool // a signal has asked for the end
}

// superviseHost runs `termhost serve` with args until it ends for good, and returns the exit code.
// That is an end with status 0, one that was asked for by a signal, or a failure of the first host
// right after its start: a mistake in the configuration, which another start does not mend.
func superviseHost(std stdio, args []string) int {
	self, err := os.Executable()
	if err != nil {
		return fail(std, exitFailure, "this program does not know where it is: "+err.Error(), "")
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP)
	defer signal.Stop(signals)
	children := make(chan os.Signal, 1) // one is enough: all that have ended are collected then
	signal.Notify(children, syscall.SIGCHLD)
	defer signal.Stop(children)
	// Process 1 has it anyway. Behind an init, as of `docker run --init`, orphans would be that
	// one's, and the keeper as well.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	s := &supervisor{argv: append([]string{self}, args...), std: std, pause: firstPause}
	if err := s.start(); err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	for {
		select {
		case sig := <-signals:
			if s.pass(sig) {
				return exitOK
			}
		case <-children:
			if code, over := s.collect(); over {
				return code
			}
		case <-s.again:
			s.again = nil
			if err := s.start(); err != nil {
				s.say("%v", err)
				s.later()
			}
		}
	}
}

// start starts a host. It has a process group of its own: a ^C at the container's terminal reaches
// it once, by way of this process.
func (s *supervisor) start() error {
	p, err := os.StartProcess(s.argv[0], s.argv, &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return fmt.Errorf("the host cannot be started: %w", err)
	}
	s.host, s.started = p.Pid, time.Now()
	return p.Release() // collect waits for it
}

// pass has the host do what a signal asks for, and reports whether there is nothing more to do.
// Nothing outlives a container, so SIGTERM does not leave the terminals with the keeper, as the
// host would: they are ended in order, and their exit statuses kept.
func (s *supervisor) pass(sig os.Signal) (over bool) {
	to := sig.(syscall.Signal)
	switch to {
	case syscall.SIGTERM:
		to = stopSignal
	case syscall.SIGQUIT: // of a person at the container's terminal, see catchSignals
		to = syscall.SIGINT
	}
	s.ending = s.ending || sig == syscall.SIGTERM
	if s.host > 0 {
		_ = syscall.Kill(s.host, to) // it is there until collect has its status
		return false
	}
	return to != syscall.SIGHUP
}

// collect collects the statuses of the children that have ended. over is set when the host was one
// of them and no other is to be started.
func (s *supervisor) collect() (code int, over bool) {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil || pid <= 0:
			return exitOK, false
		case pid == s.host:
			s.host = 0
			if code, over := s.hostEnded(ws); over {
				return code, true
			}
		}
	}
}

// hostEnded decides what the end of the host means.
func (s *supervisor) hostEnded(ws syscall.WaitStatus) (code int, over bool) {
	ran := time.Since(s.started)
	if ran >= settledTime {
		s.pause = firstPause
	}
	switch {
	case ws.Exited() && ws.ExitStatus() == exitOK, s.ending:
		return max(ws.ExitStatus(), exitOK), true // -1 after a signal
	case ws.Exited() && !s.wasUp && ran < settledTime:
		return ws.ExitStatus(), true
	}
	s.wasUp = true
	how := fmt.Sprintf("with status %d", ws.ExitStatus())
	if ws.Signaled() {
		how = "by a signal: " + ws.Signal().String()
	}
	s.say("the host has ended %s; it is started again in %v", how, s.pause)
	s.later()
	return exitOK, false
}

// later has a host started after the pause.
func (s *supervisor) later() {
	s.again = time.After(s.pause)
	s.pause = min(2*s.pause, lastPause)
}

func (s *supervisor) say(format string, args ...any) {
	_, _ = io.WriteString(s.std.err, "termhost: "+fmt.Sprintf(format, args...)+"\n")
}
