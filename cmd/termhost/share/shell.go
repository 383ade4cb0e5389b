package share

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"termhost/ptypool"
)

const (
	// drain is how long output is read after the program has ended, when a
	// process that it left behind keeps the terminal.
	drain = 300 * time.Millisecond
)

// localShell is the program that is shared, on a pty of this machine.
type localShell struct {
	cmd    *exec.Cmd
	pty    *os.File
	nonce  string        // what it vouches for its command lines with; "": it tells of none
	exited chan struct{} // closed when it has ended; it is not reaped before status is called

	mu     sync.Mutex // a leaf
	over   bool       // it may be reaped: nobody is signalled any more
	hangup sync.WaitGroup
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

// Variable names the environment variable by which a shared program, such as
// termhost attach or a prompt, can tell that it is one: the clientId that owns the
// terminal.
const Variable = "TERMHOST_SHARE"

// owned tells the program, before it is started, that clientID shares it.
func (s *localShell) owned(clientID string) {
	s.cmd.Env = append(s.cmd.Env, Variable+"="+clientID) // the last one counts
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
	go s.watch()
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
	case <-time.After(drain):
	}
}

// watch waits for the program's end. As long as it is not reaped, its number is
// its own, and that of its process session.
func (s *localShell) watch() {
	defer close(s.exited)
	for unix.Waitid(unix.P_PID, s.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// interrupt has f send signals, unless the program is reaped. It returns at once.
func (s *localShell) interrupt(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.hangup.Go(f)
	}
}

// status returns the program's exit status once it has ended, and what hung it up
// has come to its end.
func (s *localShell) status() int {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.hangup.Wait()
	_ = s.cmd.Wait() // ProcessState says how it ended
	ws, _ := s.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ptypool.ExitStatusOf(ws).Code
}
