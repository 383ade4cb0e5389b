package ptypool

import (
	"errors"
	"os"
	"syscall"
)

// Process is a program on pipes without a terminal: it has no viewers, and its output is not
// stored. Signal, Hangup, Wait and Pid are as for a terminal's processes, and may be called by any
// goroutine.
type Process struct {
	*child
	// Stdin is the program's input, Stdout and Stderr its outputs. They have deadlines and must be
	// closed.
	Stdin, Stdout, Stderr *os.File
}

// StartProcess runs a program in a process session of its own. It counts as a terminal until it has
// ended. It fails with a *StartError, a *LimitError or ErrShutdown.
func (p *Pool) StartProcess(s Spec) (*Process, error) {
	if err := p.reserve(); err != nil {
		return nil, err
	}
	p.complete(&s)
	registered := make(chan struct{})
	process, err := startProcess(&s, p.reaper, func(process *Process) {
		<-registered
		p.releaseProcess(process)
	})
	if err != nil {
		p.release(nil)
		return nil, err
	}
	p.mu.Lock()
	p.processes[process] = struct{}{}
	closed := p.closed
	p.mu.Unlock()
	close(registered)
	if closed { // a Shutdown that began meanwhile has not seen it
		process.Hangup(0)
		process.Close()
		return nil, ErrShutdown
	}
	return process, nil
}

// Close closes the pipes.
func (p *Process) Close() error {
	return errors.Join(p.Stdin.Close(), p.Stdout.Close(), p.Stderr.Close())
}

// startProcess runs s. onExit is called when it has ended, on a goroutine of its own.
func startProcess(s *Spec, r *reaper, onExit func(*Process)) (*Process, error) {
	path, err := s.resolve()
	if err != nil {
		return nil, err
	}
	var ours, theirs [3]*os.File
	closeAll := func(files [3]*os.File) {
		for _, f := range files {
			if f != nil {
				f.Close()
			}
		}
	}
	defer func() { closeAll(theirs) }()
	theirs[0], ours[0], err = os.Pipe()
	for i := 1; i < len(ours) && err == nil; i++ {
		ours[i], theirs[i], err = os.Pipe()
	}
	if err != nil {
		closeAll(ours)
		return nil, startError(s.Argv[0], underlying(err))
	}
	p := &Process{Stdin: ours[0], Stdout: ours[1], Stderr: ours[2]}
	started := make(chan struct{})
	p.child, err = startChild(path, s.arguments(), &syscall.ProcAttr{
		Dir:   s.Dir,
		Env:   s.environment(),
		Files: []uintptr{theirs[0].Fd(), theirs[1].Fd(), theirs[2].Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}, s.Marker, r, func() { <-started; onExit(p) })
	close(started)
	if err != nil {
		closeAll(ours)
		return nil, s.notExecuted(path, err)
	}
	return p, nil
}

// releaseProcess releases the slot of a process that has ended.
func (p *Pool) releaseProcess(process *Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slots--
	delete(p.processes, process)
	p.rememberLocked(process.tree())
}

// SignalGroup sends sig to the program's process group, as sshd does (RFC 4254 section 6.9).
func (p *Process) SignalGroup(sig syscall.Signal) error { return p.tree().signalGroup(sig) }
