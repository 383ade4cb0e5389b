package ptypool

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// ptyBackend is a pty of this process with a child on it.
type ptyBackend struct {
	pid    int
	master *os.File // non-blocking, close-on-exec, ours alone; Fd is never called on it, that would make it blocking
	raw    syscall.RawConn
	in     *watch // for output of the program
	family *family
	sweep  *sweeper

	// exited is set, and then the read deadline, when the child was reaped; closed at the same time is reaped.
	exited atomic.Bool
	reaped chan struct{}
	status ExitStatus // valid once reaped is closed
	err    error      // likewise

	outMu  sync.Mutex // a leaf
	out    *watch     // for room for input; nil: it was never needed
	closed bool

	// Of the reader only.
	poll      func() bool // readable, made once
	armed     bool        // whether in is
	burst     int         // bytes read since then
	drainFrom time.Time   // when the drain began; zero: it has not
	drained   int         // bytes read since
	ended     bool
}

// startPTY runs s on a new pty.
func startPTY(s *Spec, sw *sweeper) (*ptyBackend, error) {
	path, err := s.resolve()
	if err != nil {
		return nil, err
	}
	ptmx, tty, err := pty.Open()
	if err != nil {
		return nil, &StartError{Name: "a pseudo terminal", Err: underlying(err)}
	}
	defer tty.Close()
	master, err := ownMaster(ptmx)
	if err != nil {
		return nil, &StartError{Name: "a pseudo terminal", Err: err}
	}
	raw, err := master.SyscallConn()
	if err != nil {
		master.Close()
		return nil, &StartError{Name: "a pseudo terminal", Err: err}
	}
	b := &ptyBackend{master: master, raw: raw, sweep: sw, reaped: make(chan struct{})}
	b.poll = b.readable
	if b.in, err = newWatch(raw, 0); err != nil {
		master.Close()
		return nil, &StartError{Name: "a pseudo terminal", Err: err}
	}
	if err = b.Resize(s.Cols, s.Rows); err == nil && s.NoEcho {
		err = b.control(dropEcho)
	}
	if err == nil {
		err = b.spawn(s, path, tty)
	}
	if err != nil {
		master.Close()
		e := startError(s.Argv[0], underlying(err))
		if errors.Is(err, syscall.ENOENT) { // the program is there
			e.Interpreter = Interpreter(inDir(s.Dir, path))
		}
		return nil, e
	}
	return b, nil
}

// dropEcho turns the terminal's echo off. On Linux a master's termios are its terminal's.
func dropEcho(fd int) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return err
	}
	t.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(fd, unix.TCSETS, t)
}

// ownMaster replaces ptmx, on which Fd has been called, by a descriptor that is ours alone, and closes it. The new one
// is close-on-exec and non-blocking. It is not in the runtime's poller: see watch.
func ownMaster(ptmx *os.File) (*os.File, error) {
	defer ptmx.Close()
	raw, err := ptmx.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd int
	var dupErr error
	if err := raw.Control(func(old uintptr) {
		fd, dupErr = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
	}); err != nil {
		return nil, err
	}
	if dupErr != nil {
		return nil, dupErr
	}
	master := os.NewFile(uintptr(fd), "pty") // which puts descriptors into the poller that do not block
	// The flag belongs to the open file description; it is set after the last use of ptmx, whose Fd cleared it.
	if err := unix.SetNonblock(fd, true); err != nil {
		master.Close()
		return nil, err
	}
	return master, nil
}

// spawn forks the child onto tty, as leader of a process session with tty as its controlling terminal and descriptors 0
// to 2 and no others, and starts the reaper.
func (b *ptyBackend) spawn(s *Spec, path string, tty *os.File) error {
	argv := slices.Clone(s.Argv)
	if s.Argv0 != "" {
		argv[0] = s.Argv0
	}
	env := setEnv(slices.Clone(s.Env), MarkerVariable, s.Mark)
	if s.TTYVar != "" {
		env = setEnv(env, s.TTYVar, tty.Name())
	}
	pidfd := -1
	var err error
	fd := tty.Fd() // blocking, as programs expect their terminal
	attr := &syscall.ProcAttr{
		Dir:   s.Dir,
		Env:   env,
		Files: []uintptr{fd, fd, fd},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0, PidFD: &pidfd},
	}
	b.pid, err = syscall.ForkExec(path, argv, attr)
	if err == syscall.ENOEXEC {
		if script := ScriptArgv(s.Dir, path, argv); script != nil {
			b.pid, err = syscall.ForkExec(scriptShell, script, attr)
		}
	}
	runtime.KeepAlive(tty)
	if err != nil {
		return err
	}
	b.family = newFamily(b.pid, s.Mark)
	go b.reap(pidfd)
	return nil
}

func (b *ptyBackend) SignalKeys() string {
	var tio *unix.Termios
	err := b.control(func(fd int) (err error) {
		tio, err = unix.IoctlGetTermios(fd, unix.TCGETS) // of the slave: tty_ioctl(4)
		return err
	})
	if err != nil || tio.Lflag&unix.ISIG == 0 || tio.Lflag&unix.NOFLSH != 0 {
		return ""
	}
	var keys strings.Builder
	for _, i := range []int{unix.VINTR, unix.VQUIT, unix.VSUSP} {
		if c := tio.Cc[i]; c != 0 && c < 0x80 { // 0 is _POSIX_VDISABLE
			keys.WriteByte(c)
		}
	}
	return keys.String()
}

// Interrupt empties the line and then writes the key, so that the line itself flushes, echoes and signals as it always
// does. A line that takes nothing even then is signalled from outside.
func (b *ptyBackend) Interrupt(key byte) error {
	if err := b.DiscardInput(); err == nil {
		if n, err := b.Write([]byte{key}); n == 1 || err != nil {
			return err
		}
	}
	return b.control(func(fd int) error { return unix.IoctlSetInt(fd, unix.TIOCSIG, int(b.signalOf(fd, key))) })
}

// signalOf returns the signal that the line makes of key.
func (b *ptyBackend) signalOf(fd int, key byte) syscall.Signal {
	if tio, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
		switch key {
		case tio.Cc[unix.VQUIT]:
			return unix.SIGQUIT
		case tio.Cc[unix.VSUSP]:
			return unix.SIGTSTP
		}
	}
	return unix.SIGINT
}

// DiscardInput empties both places where unread input waits: what was written and has not reached the line discipline
// yet (for the master, its output), and the line discipline's own buffer, which only the slave's side can flush.
func (b *ptyBackend) DiscardInput() error {
	return b.control(func(fd int) error {
		if err := unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCOFLUSH); err != nil {
			return err
		}
		const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC
		slave, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCGPTPEER, flags)
		if errno != 0 {
			return errno
		}
		defer unix.Close(int(slave))
		return unix.IoctlSetInt(int(slave), unix.TCFLSH, unix.TCIFLUSH)
	})
}

func (b *ptyBackend) Resize(cols, rows int) error {
	ws := unix.Winsize{Col: uint16(cols), Row: uint16(rows)}
	return b.control(func(fd int) error { return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &ws) })
}

func (b *ptyBackend) Signal(sig syscall.Signal) error { return b.family.signal(sig) }

func (b *ptyBackend) SignalForeground(sig syscall.Signal) error {
	return b.control(func(fd int) error {
		pgrp, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP) // of the slave: tty_ioctl(4)
		if err != nil {
			return err
		}
		if pgrp <= 1 {
			return unix.ESRCH
		}
		return unix.Kill(-pgrp, sig)
	})
}

func (b *ptyBackend) Hangup(grace time.Duration) <-chan struct{} { return b.sweep.add(b.family, grace) }

func (b *ptyBackend) Wait() (ExitStatus, error) {
	<-b.reaped
	return b.status, b.err
}

func (b *ptyBackend) Close() error {
	b.outMu.Lock()
	b.closed = true
	out := b.out
	b.outMu.Unlock()
	err := b.in.close()
	if out != nil {
		err = errors.Join(err, out.close())
	}
	return errors.Join(err, b.master.Close())
}

func (b *ptyBackend) Pid() int { return b.pid }

// control runs f on the master's descriptor, which cannot be closed meanwhile. A closed master is ErrExited.
func (b *ptyBackend) control(f func(fd int) error) error {
	var err error
	if cerr := b.raw.Control(func(fd uintptr) { err = f(int(fd)) }); cerr != nil {
		return ErrExited
	}
	return err
}

// ignoringEINTR repeats a system call that a signal interrupted.
func ignoringEINTR(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR {
			return n, err
		}
	}
}
