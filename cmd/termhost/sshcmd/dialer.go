package sshcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// exitTime is how long ssh may take to end by itself after its standard streams were closed.
const exitTime = 2 * time.Second

// Dialer opens connections to one host. The first ssh may ask the user something, such as for a
// passphrase; later ones never do, because the user may be away. The exported fields must not be
// changed after the first Dial.
type Dialer struct {
	Target Target
	Words  []string  // what the host runs, behind the host in ssh's command line
	Stderr io.Writer // where ssh writes what it has to tell its user

	dialled atomic.Bool
	direct  atomic.Bool // do not use a ControlMaster: an ssh hung, perhaps because of it
}

// UseMaster lets the next connections use the user's ControlMaster again, also if an ssh has hung.
// It is meant for a host that refuses connections which do not.
func (d *Dialer) UseMaster() { d.direct.Store(false) }

// Dial starts an ssh for one connection, whose Close ends it. Once an ssh had to be killed, later
// ones do not use a ControlMaster (ssh_config(5)), which may be what hangs. The context is not
// used: ssh has time limits of its own.
func (d *Dialer) Dial(context.Context) (io.ReadWriteCloser, error) {
	first := !d.dialled.Swap(true)
	argv := d.Target.connect(!first, d.direct.Load(), d.Words)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = d.Stderr
	// In a process session of its own ssh is not ended by a key that is pressed here. But it has
	// no terminal there on which it could ask the user, so the first one stays in ours, if we
	// have a terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: !first || !hasTerminal()}
	cmd.WaitDelay = exitTime // for stderr, which a ControlMaster may keep open
	in, out, err := Pipes(cmd)
	if err != nil {
		return nil, err
	}
	if err := start(cmd); err != nil {
		in.Close()
		out.Close()
		return nil, fmt.Errorf("cannot run ssh: %w", err)
	}
	p := &process{cmd: cmd, in: in, out: out, done: make(chan struct{}),
		killed: func() { d.direct.Store(true) }}
	go p.wait()
	return p, nil
}

// hasTerminal reports whether this process has a controlling terminal.
func hasTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	tty.Close()
	return true
}

// Pipes connects a command's standard input and output to the returned files. The caller closes
// these, and after starting the command also its ends, cmd.Stdin and cmd.Stdout.
func Pipes(cmd *exec.Cmd) (in, out *os.File, err error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		theirIn.Close()
		in.Close()
		return nil, nil, err
	}
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	return in, out, nil
}

// start starts a command and closes its ends of the pipes here.
func start(cmd *exec.Cmd) error {
	err := cmd.Start()
	cmd.Stdin.(*os.File).Close()
	cmd.Stdout.(*os.File).Close()
	return err
}

// process is one connection. Close may be called at any time.
type process struct {
	cmd     *exec.Cmd
	in, out *os.File
	killed  func()        // called when ssh did not end by itself
	done    chan struct{} // closed when ssh has ended
	err     error         // of cmd.Wait; set before done is closed
	once    sync.Once     // for Close
}

func (p *process) wait() {
	p.err = p.cmd.Wait()
	close(p.done)
}

// Read reads what the host sends. At the end the error says why ssh has ended.
func (p *process) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	if n > 0 || !errors.Is(err, io.EOF) {
		return n, err
	}
	select {
	case <-p.done:
		if p.err != nil {
			return 0, fmt.Errorf("ssh ended: %w", p.err)
		}
	case <-time.After(exitTime):
	}
	return 0, io.EOF
}

// Write sends to the host.
func (p *process) Write(b []byte) (int, error) { return p.in.Write(b) }

// Close ends the connection. Without its streams ssh ends by itself; if it does not, it is killed.
func (p *process) Close() error {
	p.once.Do(func() {
		p.in.Close()
		p.out.Close()
		select {
		case <-p.done:
		case <-time.After(exitTime):
			p.killed()
			_ = p.cmd.Process.Kill() // it may just have ended
			<-p.done
		}
	})
	return nil
}
