package service

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
	// firstPause is the time between the crash of a host and the start of the next. It doubles
	// with every crash up to lastPause, and begins anew after a host that ran settledTime.
	firstPause  = 100 * time.Millisecond
	lastPause   = 10 * time.Second
	settledTime = 10 * time.Second
)

// supervisor is process 1 of a container: it runs a host, starts it again when it crashes, and
// collects the statuses of all processes whose parents have ended. The host starts a keeper as it
// does elsewhere. When the host crashes, the keeper with its terminals becomes the supervisor's
// child.
type supervisor struct {
	argv []string // of the host
	stop syscall.Signal
	out  io.Writer // for messages

	host    int       // its process id; 0: none runs
	started time.Time // when it was started
	pause   time.Duration
	wasUp   bool // a host has been up: what is wrong now may pass, and terminals may be there
	again   <-chan time.Time
	ending  bool // a signal has asked for the end
}

// Supervise runs a host, whose command line is argv, until it ends for good, and returns its exit
// status. It ends for good with status 0, when a signal has asked for the end, or if the first host
// fails right after its start: a mistake in the configuration, which another start does not mend.
// The signal stop has a host end its terminals. Messages for the user go to out. There is an error
// only if the first host cannot be started.
func Supervise(argv []string, stop syscall.Signal, out io.Writer) (status int, err error) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP)
	defer signal.Stop(signals)
	children := make(chan os.Signal, 1) // one is enough: all that have ended are collected then
	signal.Notify(children, syscall.SIGCHLD)
	defer signal.Stop(children)
	// Process 1 gets orphans anyway. Behind an init, as of `docker run --init`, the init would get
	// them, the keeper among them.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	s := &supervisor{argv: argv, stop: stop, out: out, pause: firstPause}
	if err := s.start(); err != nil {
		return 0, err
	}
	for {
		select {
		case sig := <-signals:
			if s.pass(sig) {
				return 0, nil
			}
		case <-children:
			if status, over := s.collect(); over {
				return status, nil
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
		to = s.stop
	case syscall.SIGQUIT: // of a person at the container's terminal, who means ^C
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
func (s *supervisor) collect() (status int, over bool) {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil || pid <= 0:
			return 0, false
		case pid == s.host:
			s.host = 0
			if status, over := s.hostEnded(ws); over {
				return status, true
			}
		}
	}
}

// hostEnded decides what the end of the host means.
func (s *supervisor) hostEnded(ws syscall.WaitStatus) (status int, over bool) {
	ran := time.Since(s.started)
	if ran >= settledTime {
		s.pause = firstPause
	}
	switch {
	case ws.Exited() && ws.ExitStatus() == 0, s.ending:
		return max(ws.ExitStatus(), 0), true // -1 after a signal
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
	return 0, false
}

// later has a host started after the pause.
func (s *supervisor) later() {
	s.again = time.After(s.pause)
	s.pause = min(2*s.pause, lastPause)
}

func (s *supervisor) say(format string, args ...any) {
	_, _ = io.WriteString(s.out, "termhost: "+fmt.Sprintf(format, args...)+"\n")
}
