package ptypool

import (
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"termhost/ptypool/environ"
	"termhost/ptypool/keeper"
	"termhost/ptypool/nonblock"
	"termhost/ptypool/nonce"
	"termhost/ptypool/ttymodes"
)

// ptyBackend is a pty with a program on it.
type ptyBackend struct {
	*child
	*fdReader
	fdWriter

	// master is non-blocking, close-on-exec and not shared. Fd is never called on it, because that
	// would make it blocking.
	master *os.File
	raw    syscall.RawConn

	// sealer seals output that is not read into a landing; nil: the shell has no nonce.
	sealer *nonce.Sealer

	exact io.WriteCloser // see Pool.StartExact; nil: nobody reads every byte
}

// startPTY runs s on a new pty. It fails with a *StartError.
func startPTY(s *Spec, r *reaper) (*ptyBackend, error) {
	path, err := s.resolve()
	if err != nil {
		return nil, err
	}
	ptmx, tty, err := pty.Open()
	if err != nil {
		return nil, &StartError{Name: "a pseudo terminal", Err: underlying(err)}
	}
	defer tty.Close()
	var b *ptyBackend
	master, err := ownMaster(ptmx)
	if err == nil {
		b, err = newPTYBackend(master)
	}
	if err != nil {
		return nil, &StartError{Name: "a pseudo terminal", Err: err}
	}
	if err = b.Resize(s.Cols, s.Rows, s.Pixels); err == nil {
		err = b.control(func(fd int) error { return ttymodes.Apply(fd, s.Modes) })
	}
	if err == nil {
		// A background process may keep the terminal open. It does not delay the exit.
		b.child, err = startOnTTY(s, path, tty, r, b.drain)
	}
	if s.Grant != nil {
		b.sealer = nonce.NewSealer(s.Grant.Secret, 0)
	}
	if err != nil {
		b.Close()
		return nil, s.notExecuted(path, err)
	}
	return b, nil
}

// outputs is the pty's one output.
func (b *ptyBackend) outputs() []output {
	return []output{{b.fdReader, b.exact, b.landing(0), b.sealer}}
}

// newPTYBackend returns a backend without a child for a master from ownMaster or ownFD, which
// belongs to the backend from then on.
func newPTYBackend(master *os.File) (*ptyBackend, error) {
	raw, err := master.SyscallConn()
	if err != nil {
		master.Close()
		return nil, err
	}
	reader, err := newFDReader(raw, true)
	if err != nil {
		master.Close()
		return nil, err
	}
	return &ptyBackend{
		fdReader: reader, fdWriter: fdWriter{fd: raw}, master: master, raw: raw,
	}, nil
}

// ownMaster replaces ptmx, on which Fd has been called, by a descriptor that nothing else uses, and
// closes ptmx. The new one is close-on-exec and non-blocking. It is not in the runtime's poller:
// see watch.
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
	// os.NewFile uses the poller for descriptors that do not block; this one does at this moment.
	master := os.NewFile(uintptr(fd), "pty")
	// The flag belongs to the open file description, which ptmx shares: calling Fd on ptmx has
	// cleared it, so it is set after the last use of ptmx.
	if err := unix.SetNonblock(fd, true); err != nil {
		master.Close()
		return nil, err
	}
	return master, nil
}

// startOnTTY forks the child, as leader of a process session with tty as its controlling terminal,
// and with tty as descriptors 0 to 2, the nonce that it is granted as the third, and no others.
func startOnTTY(s *Spec, path string, tty *os.File, r *reaper, onExit func()) (*child, error) {
	env := s.environment()
	if s.TTYVar != "" {
		env = environ.Set(env, s.TTYVar, tty.Name())
	}
	fd := tty.Fd() // blocking, as programs expect their terminal to be
	defer runtime.KeepAlive(tty)
	keeper.OwnTTY(int(fd))
	files := []uintptr{fd, fd, fd}
	granted, err := s.Grant.Open()
	if err != nil {
		return nil, err
	}
	if granted >= 0 {
		files = append(files, uintptr(granted)) // nonce.FD
		defer unix.Close(granted)
	}
	c, err := startChild(path, s.arguments(), &syscall.ProcAttr{
		Dir:   s.Dir,
		Env:   env,
		Files: files,
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0},
	}, s.Marker, r, onExit)
	if err != nil {
		s.Grant.Give(0)
		return nil, err
	}
	s.Grant.Give(c.Pid())
	return c, nil
}

func (b *ptyBackend) SignalChars() (chars signalChars) {
	var tio *unix.Termios
	err := b.control(func(fd int) (err error) {
		tio, err = unix.IoctlGetTermios(fd, unix.TCGETS) // the slave's: tty_ioctl(4)
		return err
	})
	if err != nil || tio.Lflag&unix.ISIG == 0 || tio.Lflag&unix.NOFLSH != 0 {
		return nil
	}
	for _, i := range []int{unix.VINTR, unix.VQUIT, unix.VSUSP} {
		c := tio.Cc[i]
		if c == 0 { // _POSIX_VDISABLE
			continue
		}
		chars = append(chars, c)
		if tio.Iflag&unix.ISTRIP != 0 {
			chars = append(chars, c|0x80)
		}
	}
	return chars
}

func (b *ptyBackend) LineKeys() (k lineKeys) {
	_ = b.control(func(fd int) error { // it fails only after the end
		tio, err := unix.IoctlGetTermios(fd, unix.TCGETS) // the slave's: tty_ioctl(4)
		if err != nil || tio.Lflag&unix.ICANON == 0 {
			return err
		}
		// _POSIX_VDISABLE is 0 on Linux, too.
		k = lineKeys{edits: true, strip: tio.Iflag&unix.ISTRIP != 0,
			erase: tio.Cc[unix.VERASE], kill: tio.Cc[unix.VKILL],
			ends: [...]byte{'\n', tio.Cc[unix.VEOF], tio.Cc[unix.VEOL], tio.Cc[unix.VEOL2], 0}}
		if tio.Iflag&unix.INLCR != 0 {
			k.ends[0] = 0 // it becomes \r, which ends nothing
		}
		if tio.Iflag&unix.ICRNL != 0 && tio.Iflag&unix.IGNCR == 0 {
			k.ends[4] = '\r'
		}
		if tio.Lflag&unix.IEXTEN != 0 {
			k.quote = tio.Cc[unix.VLNEXT]
		} else {
			k.ends[3] = 0
		}
		return nil
	})
	return k
}

func (b *ptyBackend) Line() (l Line, err error) {
	err = b.control(func(fd int) error {
		tio, err := unix.IoctlGetTermios(fd, unix.TCGETS) // the slave's: tty_ioctl(4)
		if err != nil {
			return err
		}
		l.Canonical, l.Echo = tio.Lflag&unix.ICANON != 0, tio.Lflag&unix.ECHO != 0
		if l.Foreground, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil {
			return err
		}
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, err = ignoringEINTR(func() (int, error) { return unix.Poll(p, 0) })
		l.Unread = p[0].Revents&unix.POLLIN != 0
		return err
	})
	return l, err
}

// Interrupt discards the input and then writes chars, so that the line discipline flushes, echoes
// and signals as usual. For what it does not accept even then, an ioctl sends the signals.
func (b *ptyBackend) Interrupt(chars []byte) error {
	if err := b.DiscardInput(); err == nil {
		n, err := b.Write(chars)
		if err != nil {
			return err
		}
		chars = chars[n:]
	}
	return b.control(func(fd int) error {
		for _, char := range chars {
			sig := signalOfChar(fd, char)
			if err := unix.IoctlSetInt(fd, unix.TIOCSIG, int(sig)); err != nil {
				return err
			}
		}
		return nil
	})
}

// signalOfChar returns the signal that the line discipline makes of char.
func signalOfChar(fd int, char byte) syscall.Signal {
	if tio, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
		if tio.Iflag&unix.ISTRIP != 0 {
			char &= 0x7f
		}
		switch char {
		case tio.Cc[unix.VQUIT]:
			return unix.SIGQUIT
		case tio.Cc[unix.VSUSP]:
			return unix.SIGTSTP
		}
	}
	return unix.SIGINT
}

// DiscardInput empties both buffers of unread input: that before the line discipline (the master's
// output), and the line discipline's own, which can be flushed only from the slave's side.
func (b *ptyBackend) DiscardInput() error {
	return b.control(func(fd int) error {
		if err := unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCOFLUSH); err != nil {
			return err
		}
		return onSlave(fd, func(slave int) error {
			return unix.IoctlSetInt(slave, unix.TCFLSH, unix.TCIFLUSH)
		})
	})
}

// Readable polls the slave. What was written to the master passes through a work queue of the
// kernel to the line discipline; a poll that finds nothing to read waits for the queue (n_tty_poll
// in Linux), so no input is overlooked.
func (b *ptyBackend) Readable() (readable bool) {
	_ = b.control(func(fd int) error {
		return onSlave(fd, func(slave int) error {
			p := []unix.PollFd{{Fd: int32(slave), Events: unix.POLLIN}}
			_, err := ignoringEINTR(func() (int, error) { return unix.Poll(p, 0) })
			readable = p[0].Revents&unix.POLLIN != 0
			return err
		})
	})
	return readable
}

func (b *ptyBackend) StopKeys() (stop, start byte) {
	_ = b.control(func(fd int) error { // it fails only after the end
		tio, err := unix.IoctlGetTermios(fd, unix.TCGETS) // the slave's: tty_ioctl(4)
		if err == nil && tio.Iflag&unix.IXON != 0 {
			stop, start = tio.Cc[unix.VSTOP], tio.Cc[unix.VSTART]
		}
		return err
	})
	return stop, start
}

// Stopped polls the slave, which takes no output while it is stopped, or while what it has taken
// fills its buffer (pty_write_room in Linux). With nothing in the buffer it is stopped. The poll
// waits for input that is on its way to the line discipline: see Readable.
func (b *ptyBackend) Stopped() (stopped bool) {
	_ = b.control(func(fd int) error {
		if out, err := nonblock.Poll(uintptr(fd), unix.POLLIN); err != nil || out != 0 {
			return err
		}
		return onSlave(fd, func(slave int) error {
			p := []unix.PollFd{{Fd: int32(slave), Events: unix.POLLIN | unix.POLLOUT}}
			_, err := ignoringEINTR(func() (int, error) { return unix.Poll(p, 0) })
			stopped = err == nil && p[0].Revents&unix.POLLOUT == 0
			return err
		})
	})
	return stopped
}

// onSlave runs f on the slave of a master, which it opens for that.
func onSlave(master int, f func(slave int) error) error {
	const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC
	slave, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, flags)
	if errno != 0 {
		return errno
	}
	defer unix.Close(int(slave))
	return f(int(slave))
}

func (b *ptyBackend) Resize(cols, rows int, px Pixels) error {
	ws := unix.Winsize{Col: uint16(cols), Row: uint16(rows),
		Xpixel: uint16(px.Width), Ypixel: uint16(px.Height)}
	return b.control(func(fd int) error { return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &ws) })
}

// pixels returns how large the window is in pixels, if it has that many cells.
func (b *ptyBackend) pixels(cols, rows int) (px Pixels) {
	_ = b.control(func(fd int) error { // it fails only after the end
		ws, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		if err == nil && int(ws.Col) == cols && int(ws.Row) == rows {
			px = Pixels{int(ws.Xpixel), int(ws.Ypixel)}
		}
		return err
	})
	return px
}

func (b *ptyBackend) SignalForeground(sig syscall.Signal) error {
	return b.control(func(fd int) error {
		pgrp, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP) // the slave's: tty_ioctl(4)
		if err != nil {
			return err
		}
		if pgrp <= 1 {
			return unix.ESRCH
		}
		return unix.Kill(-pgrp, sig)
	})
}

func (b *ptyBackend) Close() error {
	err := errors.Join(b.fdReader.close(), b.fdWriter.close(), b.master.Close())
	b.child.letGo()
	return err
}

// control runs f on the master's descriptor, which cannot be closed meanwhile. It fails with
// ErrExited when it is closed.
func (b *ptyBackend) control(f func(fd int) error) error {
	var err error
	if cerr := b.raw.Control(func(fd uintptr) { err = f(int(fd)) }); cerr != nil {
		return ErrExited
	}
	return err
}
