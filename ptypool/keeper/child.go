package keeper

import (
	"errors"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// Child is a program that a keeper holds, with its pty or pipes, as a host sees it.
type Child struct {
	Info
	// Landings are the buffers into which its output is read: one for a pty, or one each for
	// standard output and standard error.
	Landings []*Landing
	// Note is the description of the terminal by the host that started the program, for the next
	// host.
	Note []byte
	// Secret is the secret of the shell's nonce; "": it has none.
	Secret string

	once      sync.Once
	exitKnown chan struct{} // closed when exit is set
	exit      Exit

	mu     sync.Mutex // guards the fields below
	client *Client    // changes when another keeper adopts it
	files  []file     // what another keeper would need, besides the files of Landings
	place  place
	over   bool // Forget or Close was called: no keeper may adopt it
}

// place is where a keeper logs the program while no host runs: see Program.
type place struct{ log, exit string }

// The names for TakeFD: the master of a pty, or the ends of a program's pipes.
const (
	Master = fdMaster
	Stdin  = fdStdin
	Stdout = fdStdout
	Stderr = fdStderr
)

// TakeFD returns a descriptor of that name, which the caller owns; -1: there is none. Its blocking
// mode is undefined, because the keeper shares it.
func (c *Child) TakeFD(name string) int {
	if fds := c.dups(name); len(fds) > 0 {
		return fds[0]
	}
	return -1
}

// dups returns duplicates of the descriptors of that name, which the caller owns.
func (c *Child) dups(name string) (fds []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.files {
		if f.name != name {
			continue
		}
		if fd, err := dup(f.fd); err == nil {
			fds = append(fds, fd)
		}
	}
	return fds
}

// Place sets where a keeper that adopts the child logs it while no host runs: see Log and Exit of
// [Program]. Call it for each child that was taken; for one that was started the place is known.
func (c *Child) Place(log, exit string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.place = place{log, exit}
}

// Drained reports whether the program had ended, and the keeper had logged all its output, before
// the child was taken.
func (c *Child) Drained() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(c.files, func(f file) bool {
		return slices.Contains(outputNames(), f.name)
	})
}

// Abandoned reports whether the keeper has ended and no other one has adopted the child. Then the
// system hangs the child up when this process closes its descriptors, and its exit status is lost.
func (c *Child) Abandoned() bool { return c.keeper().isGone() }

// keeper returns the connection to the keeper that has the child.
func (c *Child) keeper() *Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.client
}

// Memory returns the segments of a log in memory, which the caller owns.
func (c *Child) Memory() (segments []*os.File) {
	for _, fd := range c.dups(fdMemory) {
		segments = append(segments, os.NewFile(uintptr(fd), "memory"))
	}
	return segments
}

// Trail returns the file that Start got as Memory.Trail, which the caller owns; nil: there is none.
func (c *Child) Trail() *os.File {
	if fd := c.TakeFD(fdTrail); fd >= 0 {
		return os.NewFile(uintptr(fd), "trail")
	}
	return nil
}

// Decided returns the file that Start got as Memory.Decided, which the caller owns; nil: there is
// none.
func (c *Child) Decided() *os.File {
	if fd := c.TakeFD(fdDecided); fd >= 0 {
		return os.NewFile(uintptr(fd), "decisions")
	}
	return nil
}

// mapLandings maps the landings of a child that was taken.
func (c *Child) mapLandings() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = slices.DeleteFunc(c.files, func(f file) bool {
		if f.name != fdLanding || err != nil {
			return false
		}
		var l *Landing
		if l, err = MapLanding(os.NewFile(uintptr(f.fd), "landing")); err == nil {
			c.Landings = append(c.Landings, l)
		}
		return true // MapLanding has closed it if it failed
	})
	return err
}

func (c *Child) ended(e Exit) {
	c.once.Do(func() {
		c.exit = e
		close(c.exitKnown)
	})
}

// ErrUnknownExit says that the keeper ended before the program, so the exit status is unknown.
var ErrUnknownExit = errors.New("keeper: the exit status is unknown: the keeper had ended")

// Wait waits for the program's end and returns its exit. If the keeper died first and the system
// does not reveal the status either (see statusOfEnded), it fails with ErrUnknownExit. It fails
// with ErrGone when the connection is closed.
func (c *Child) Wait() (Exit, error) {
	keeper := c.keeper()
	select {
	case <-c.exitKnown:
		return c.told()
	case <-keeper.done:
	}
	select {
	case <-c.exitKnown: // the keeper reported it before it ended
		return c.told()
	default:
	}
	if keeper.left.Load() {
		return Exit{}, ErrGone
	}
	// If another keeper adopts the child meanwhile, that one knows no more.
	if pidfd := c.TakeFD(fdPid); pidfd >= 0 {
		return awaitOrphan(c.Pid, pidfd)
	}
	return Exit{Ticks: bootTicks()}, ErrUnknownExit
}

// told returns the exit that the keeper reported.
func (c *Child) told() (Exit, error) {
	if c.exit.Unknown {
		return c.exit, ErrUnknownExit
	}
	return c.exit, nil
}

// CloseEnd has the keeper close its descriptor of a pipe. Otherwise the program would not see the
// end of its input (Stdin), or that nobody reads its output (Stdout, Stderr).
func (c *Child) CloseEnd(name string) {
	c.mu.Lock()
	keeper := c.client
	c.files = slices.DeleteFunc(c.files, func(f file) bool {
		if f.name == name {
			unix.Close(f.fd)
		}
		return f.name == name
	})
	c.mu.Unlock()
	keeper.tell(message{Op: opClose, ID: c.ID, Name: name})
}

// Forget has the keeper close its descriptors and forget the exit status.
func (c *Child) Forget() {
	c.mu.Lock()
	keeper := c.client
	c.over = true
	c.mu.Unlock()
	keeper.drop(c)
	keeper.tell(message{Op: opForget, ID: c.ID})
}

// Close closes this side's descriptors and memory, which must not be in use. The program keeps
// running.
func (c *Child) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	closeFiles(c.files)
	c.files, c.over = nil, true
	for _, l := range c.Landings {
		_ = l.Close() // its memory is released even if that fails
	}
	c.Landings = nil
}
