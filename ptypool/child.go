package ptypool

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ptypool/keeper"
	"termhost/ptypool/proctag"
	"termhost/ptypool/script"
)

// child is a program that this process, or its keeper, has forked, as the leader of a process tree,
// on a pty or on pipes.
type child struct {
	processTree *processTree
	reaper      *reaper
	kept        *keeper.Child // nil: it is a child of this process

	reaped chan struct{} // closed when the leader has ended and its status was collected
	status ExitStatus    // valid once reaped is closed
	err    error         // likewise
}

// startChild forks and executes the program at path. attr must make it the leader of a process
// session. onExit is called, on a goroutine of its own, when it has ended and Wait no longer
// blocks.
func startChild(path string, argv []string, attr *syscall.ProcAttr, marker string, r *reaper,
	onExit func()) (*child, error) {
	pidfd := -1
	attr.Sys.PidFD = &pidfd
	tag := proctag.New(marker)
	pid, err := proctag.ForkExec(path, argv, attr, tag)
	if err == syscall.ENOEXEC {
		if argv := script.Argv(attr.Dir, path, argv); argv != nil {
			pid, err = proctag.ForkExec(script.Shell, argv, attr, tag)
		}
	}
	if err != nil {
		return nil, err
	}
	c := &child{processTree: newProcessTree(pid, marker), reaper: r, reaped: make(chan struct{})}
	go c.wait(pidfd, onExit)
	return c, nil
}

// wait is the goroutine that waits for the leader. With a pidfd (Linux 5.4 and later) it waits in
// the runtime's poller; without one it blocks a thread. It ends with the leader, so nobody waits
// for the goroutine itself.
func (c *child) wait(pidfd int, onExit func()) {
	var ws syscall.WaitStatus
	collect := func(options int) (ended bool, err error) {
		return c.processTree.collect(&ws, options)
	}
	err := awaitExit(pidfd, func() (bool, error) { return collect(unix.WNOHANG) })
	if err != nil {
		_, err = collect(0)
	}
	if err != nil {
		c.err = fmt.Errorf("ptypool: waiting for a child: %w", err)
	} else {
		c.status = exitStatusOf(ws)
	}
	close(c.reaped)
	onExit()
}

// awaitExit waits until pidfd reports that the child has ended and done confirms it. It closes
// pidfd. It fails if the system has no pidfds.
func awaitExit(pidfd int, done func() (bool, error)) error {
	if pidfd < 0 {
		return unix.ENOSYS
	}
	if err := unix.SetNonblock(pidfd, true); err != nil {
		unix.Close(pidfd)
		return err
	}
	f := os.NewFile(uintptr(pidfd), "pidfd")
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var waitErr error
	err = raw.Read(func(uintptr) bool {
		var ended bool
		ended, waitErr = done()
		return ended || waitErr != nil
	})
	if err != nil {
		return err
	}
	return waitErr
}

func (c *child) Signal(sig syscall.Signal) error { return c.processTree.signal(sig) }

func (c *child) Hangup(grace time.Duration) <-chan struct{} {
	return c.reaper.add(c.processTree, grace)
}

func (c *child) Wait() (ExitStatus, error) {
	<-c.reaped
	return c.status, c.err
}

func (c *child) Pid() int { return c.processTree.leader }

// outlives reports whether a keeper has the child.
func (c *child) outlives() bool { return c.kept != nil && !c.kept.Abandoned() }

func (c *child) tree() *processTree { return c.processTree }
