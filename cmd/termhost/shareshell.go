package main

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"termhost/ptypool"
)

const (
	// shareDrain is how long output is read after the program has ended, when a
	// process that it left behind keeps the terminal.
	shareDrain = 300 * time.Millisecond
	// shareHangup is how long the program may take to end after SIGHUP.
	shareHangup = 5 * time.Second
)

// localShell is the program that is shared, on a pty of this machine.
type localShell struct {
	cmd    *exec.Cmd
	pty    *os.File
	nonce  string        // what it vouches for its command lines with; "": it tells of none
	exited chan struct{} // closed when it has ended
}

// prepareShell says what to run: argv, or the user's shell with integration.
func prepareShell(argv []string) *localShell {
	s := &localShell{exited: make(chan struct{})}
	env := os.Environ()
	if len(argv) == 0 {
		shell := os.Getenv("SHELL")
		if shell == "" {
			shell = "/bin/sh"
		}
		argv = []string{shell}
		if in, err := installIntegration(); err == nil { // without it there are no command boundaries, and that is all
			nonce := rand.Text()
			if with, withEnv, ok := in.Apply(shell, false, nonce, env); ok {
				argv, env, s.nonce = with, withEnv, nonce
			}
		}
	}
	s.cmd = exec.Command(argv[0], argv[1:]...)
	s.cmd.Env = env
	return s
}

// installIntegration puts the scripts of shell integration into the user's cache.
func installIntegration() (ptypool.Integration, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ptypool.Integration{}, err
	}
	in := ptypool.Integration{Dir: filepath.Join(cache, "termhost", "shell")}
	return in, in.Install()
}

// start runs the program on a pty of the given size.
func (s *localShell) start(size unix.Winsize) error {
	tty, err := pty.StartWithSize(s.cmd, &pty.Winsize{Rows: size.Row, Cols: size.Col, X: size.Xpixel, Y: size.Ypixel})
	if err != nil {
		return err
	}
	s.pty = tty
	go func() {
		_ = s.cmd.Wait() // ProcessState says how it ended
		close(s.exited)
	}()
	return nil
}

// resize tells the program the user's size.
func (s *localShell) resize(size unix.Winsize) {
	_ = pty.Setsize(s.pty, &pty.Winsize{Rows: size.Row, Cols: size.Col, X: size.Xpixel, Y: size.Ypixel}) // it may just have ended
}

// carry copies the program's output to w until it has ended and all of it is
// read.
func (s *localShell) carry(w io.Writer) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, pieceBytes)
		for {
			n, err := s.pty.Read(buf)
			if n > 0 {
				_, _ = w.Write(buf[:n]) // a terminal that is gone: SIGHUP comes next
			}
			if err != nil && !errors.Is(err, syscall.EINTR) {
				return
			}
		}
	}()
	<-s.exited
	select {
	case <-done:
	case <-time.After(shareDrain):
	}
}

// hangUp ends the program as a terminal that is closed does: SIGHUP to its
// process group and to the one in the foreground, and later SIGKILL.
func (s *localShell) hangUp() {
	pid := s.cmd.Process.Pid
	groups := []int{pid}
	if fg, err := unix.IoctlGetInt(int(s.pty.Fd()), unix.TIOCGPGRP); err == nil && fg > 1 && fg != pid {
		groups = append(groups, fg)
	}
	tell := func(sig syscall.Signal) {
		for _, g := range groups {
			_ = syscall.Kill(-g, sig) // it may just have ended
		}
	}
	tell(syscall.SIGHUP)
	tell(syscall.SIGCONT) // a stopped process gets its signals when it goes on
	select {
	case <-s.exited:
	case <-time.After(shareHangup):
		tell(syscall.SIGKILL)
		<-s.exited
	}
}

// status returns the program's exit status once it has ended.
func (s *localShell) status() int { return statusOf(s.cmd.ProcessState) }
