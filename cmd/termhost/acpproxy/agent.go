package acpproxy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"termhost/cmd/termhost/proctable"
	"termhost/cmd/termhost/sshcmd"
	"termhost/ptypool/script"
)

// agentProcess is the agent. It runs in a process group of its own, so that signals reach what a
// launcher has started, and gets SIGTERM when this process is killed, where the system can do that.
// Its methods are for one goroutine.
type agentProcess struct {
	cmd     *exec.Cmd
	in, out *os.File // our ends of its standard input and output
	family  family
	ended   chan struct{} // closed when it has ended
}

// prepareAgent finds the agent's program, which start then starts.
func prepareAgent(argv []string, stderr io.Writer) (*agentProcess, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	a := &agentProcess{cmd: cmd, family: newFamily(), ended: make(chan struct{})}
	var err error
	a.in, a.out, err = sshcmd.Pipes(cmd)
	a.adopt(cmd, stderr)
	return a, err
}

// adopt makes cmd the command to run, with the streams that a has.
func (a *agentProcess) adopt(cmd *exec.Cmd, stderr io.Writer) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.cmd.Stdin, a.cmd.Stdout, stderr
	cmd.Env = append(os.Environ(), a.family.mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	signalOnDeath(cmd.SysProcAttr, syscall.SIGTERM)
	cmd.WaitDelay = agentDrain
	a.cmd = cmd
}

// start starts the agent. Until reap is called no other process group gets the same number, so
// signals are safe.
func (a *agentProcess) start() error {
	started := make(chan error)
	go func() { // ends with the agent
		// The signal comes at the end of the thread that has started the agent (prctl(2)).
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := a.execute()
		started <- err
		if err != nil {
			return
		}
		proctable.AwaitEnd(a.cmd.Process.Pid)
		close(a.ended)
	}()
	err := <-started
	if err == nil {
		a.family.group = a.cmd.Process.Pid
	}
	return err
}

// execute starts the agent's program. A script that names no interpreter is run by a shell, as
// execvp does.
func (a *agentProcess) execute() error {
	defer a.cmd.Stdin.(*os.File).Close()
	defer a.cmd.Stdout.(*os.File).Close()
	path := a.cmd.Path
	err := a.cmd.Start()
	if errors.Is(err, syscall.ENOEXEC) {
		if argv := script.Argv("", path, a.cmd.Args); argv != nil {
			a.adopt(exec.Command(argv[0], argv[1:]...), a.cmd.Stderr)
			err = a.cmd.Start()
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		if name := script.Interpreter(path); name != "" {
			// The program exists; the error must not say that it does not.
			return fmt.Errorf("the interpreter of %s, %s, does not exist", path, name)
		}
	}
	return err
}

// close closes the streams.
func (a *agentProcess) close() {
	a.in.Close()
	a.out.Close()
	// The agent's ends are still open if it was never started.
	a.cmd.Stdin.(*os.File).Close()
	a.cmd.Stdout.(*os.File).Close()
}

// signal sends sig to the agent and to what it has started. It fails only if they are all gone.
func (a *agentProcess) signal(sig syscall.Signal) { _ = syscall.Kill(-a.cmd.Process.Pid, sig) }

// reap returns the exit status of an agent that has ended.
func (a *agentProcess) reap() int {
	_ = a.cmd.Wait() // ProcessState says how it ended
	ws, _ := a.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return proctable.ExitCode(ws)
}
