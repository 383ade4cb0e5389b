package share

import (
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

	"termhost/cmd/termhost/proctable"
	"termhost/ptypool/nonce"
	"termhost/ptypool/shellinit"
)

// drainTime is how long output is read after the program has ended, if a process that it left
// behind keeps the pty open.
const drainTime = 300 * time.Millisecond

// Variable names the environment variable that tells a shared program, such as termhost attach or
// a prompt, that it is shared. Its value is the clientId that owns the terminal.
const Variable = "TERMHOST_SHARE"

// program is the program that is shared, on a pty of this machine.
type program struct {
	cmd    *exec.Cmd
	pty    *os.File
	grant  *nonce.Grant  // with it the shell vouches for the commands it reports; nil: none
	sealer *nonce.Sealer // of grant
	exited chan struct{} // closed when it has ended; wait reaps it

	mu      sync.Mutex // nothing else is locked while it is held
	reaped  bool       // its process id may be another one's: no more signals
	signals sync.WaitGroup
}

// newProgram returns the program that argv names or, if that is empty, the user's shell with shell
// integration.
func newProgram(argv []string) *program {
	p := &program{exited: make(chan struct{})}
	env := os.Environ()
	if len(argv) == 0 {
		shell := os.Getenv("SHELL")
		if shell == "" {
			shell = "/bin/sh"
		}
		argv = []string{shell}
		// If this fails, the shell does not report its commands, which is all.
		if in, err := installIntegration(); err == nil {
			if with, withEnv, grant, ok := in.Apply(shell, false, env); ok {
				argv, env, p.grant = with, withEnv, grant
				p.sealer = nonce.NewSealer(grant.Secret, 0)
			}
		}
	}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env = env
	return p
}

// installIntegration puts the scripts of shell integration into the user's cache.
func installIntegration() (shellinit.Scripts, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return shellinit.Scripts{}, err
	}
	in := shellinit.Scripts{Dir: filepath.Join(cache, "termhost", "shell")}
	return in, in.Install()
}

// sharedBy tells the program, before it is started, which client shares it.
func (p *program) sharedBy(clientID string) {
	p.cmd.Env = append(p.cmd.Env, Variable+"="+clientID) // the last one counts
}

// start runs the program on a pty of the given size.
func (p *program) start(size unix.Winsize) error {
	granted, err := p.grant.Open()
	if err != nil {
		return err
	}
	if granted >= 0 {
		f := os.NewFile(uintptr(granted), "nonce")
		defer f.Close()
		p.cmd.ExtraFiles = []*os.File{f} // nonce.FD
	}
	tty, err := pty.StartWithSize(p.cmd, ptySize(size))
	if err != nil {
		p.grant.Give(0)
		return err
	}
	p.grant.Give(p.cmd.Process.Pid)
	p.pty = tty
	go p.watch()
	return nil
}

// resize gives the pty another size.
func (p *program) resize(size unix.Winsize) {
	_ = pty.Setsize(p.pty, ptySize(size)) // the program may just have ended
}

func ptySize(size unix.Winsize) *pty.Winsize {
	return &pty.Winsize{Rows: size.Row, Cols: size.Col, X: size.Xpixel, Y: size.Ypixel}
}

// copyOutput writes the program's output to w. It returns when the program has ended and its
// output was read.
func (p *program) copyOutput(w io.Writer) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, chunkBytes)
		for {
			n, err := p.pty.Read(buf)
			if n > 0 {
				p.sealer.Seal(buf[:n])
				_, _ = w.Write(buf[:n]) // if the terminal has gone, SIGHUP comes next
			}
			if err != nil && !errors.Is(err, syscall.EINTR) {
				return
			}
		}
	}()
	<-p.exited
	select {
	case <-done:
	case <-time.After(drainTime):
	}
}

// watch waits for the program's end without reaping it. Until it is reaped, no other process gets
// its process id, and no other process session its number.
func (p *program) watch() {
	defer close(p.exited)
	proctable.AwaitEnd(p.cmd.Process.Pid)
}

// signalling runs f, which sends signals, in the background, unless the program is reaped.
func (p *program) signalling(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		p.signals.Go(f)
	}
}

// wait reaps the program, which has ended, and returns its exit status. It waits until no more
// signals are sent.
func (p *program) wait() int {
	p.mu.Lock()
	p.reaped = true
	p.mu.Unlock()
	p.signals.Wait()
	_ = p.cmd.Wait() // ProcessState says how it ended
	ws, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return proctable.ExitCode(ws)
}
