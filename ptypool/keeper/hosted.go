package keeper

import (
	"errors"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// Terminal is a host's side of a terminal that a keeper keeps.
type Terminal struct {
	Info
	// Landings is where each output is to be read into: a pty's, or the standard output's and the
	// error output's.
	Landings []*Landing
	// Note is what the host that started the program has told about it, for the next host.
	Note []byte
	// Secret is that of the shell's nonce; "": it has none.
	Secret string

	once      sync.Once
	exitKnown chan struct{} // closed when exit is set
	exit      Exit

	mu     sync.Mutex // guards the fields below
	client *Client    // changes when another keeper adopts it
	files  []file     // what another keeper would need; Landings have theirs
	place  place
	over   bool // Forget or Close was called: no keeper is to adopt it
}

// place is where a keeper notes what the program does while no host is there: see Program.
type place struct{ log, exit string }

// The names for TakeFD: the master of a pty, or the ends of a program's pipes.
const (
	Master = fdMaster
	Stdin  = fdStdin
	Stdout = fdStdout
	Stderr = fdStderr
)

// TakeFD returns a descriptor of that name, which is the caller's from then on. It may block or
// not: the keeper has it as well. It is -1 if there is none.
func (t *Terminal) TakeFD(name string) int {
	if fds := t.dups(name); len(fds) > 0 {
		return fds[0]
	}
	return -1
}

// dups returns further descriptors for those of that name, which are the caller's.
func (t *Terminal) dups(name string) (fds []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.files {
		if f.name != name {
			continue
		}
		if fd, err := dup(f.fd); err == nil {
			fds = append(fds, fd)
		}
	}
	return fds
}

// Place says where a keeper that adopts the terminal is to note what its program does while no host
// is there: see Log and Exit of a [Program]. Whoever takes a terminal says so before another keeper
// may be needed; of one that was started it is known.
func (t *Terminal) Place(log, exit string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.place = place{log, exit}
}

// Drained reports whether all output has been read, and logged, before the terminal was taken: its
// program has ended.
func (t *Terminal) Drained() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !slices.ContainsFunc(t.files, func(f file) bool {
		return slices.Contains(outputNames(), f.name)
	})
}

// Abandoned reports whether the keeper has ended and no other has adopted the terminal: the system
// ends it when this process lets go of it, and nobody learns how.
func (t *Terminal) Abandoned() bool { return t.keeper().isGone() }

// keeper returns the connection to the keeper that has the terminal.
func (t *Terminal) keeper() *Client {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.client
}

// Memory returns the segments of a log in memory, which are the caller's from then on.
func (t *Terminal) Memory() (segments []*os.File) {
	for _, fd := range t.dups(fdMemory) {
		segments = append(segments, os.NewFile(uintptr(fd), "memory"))
	}
	return segments
}

// mapLandings maps the landings that came with a terminal that was taken.
func (t *Terminal) mapLandings() (err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files = slices.DeleteFunc(t.files, func(f file) bool {
		if f.name != fdLanding || err != nil {
			return false
		}
		var l *Landing
		if l, err = MapLanding(os.NewFile(uintptr(f.fd), "landing")); err == nil {
			t.Landings = append(t.Landings, l)
		}
		return true // it is closed if it could not be mapped
	})
	return err
}

func (t *Terminal) ended(e Exit) {
	t.once.Do(func() {
		t.exit = e
		close(t.exitKnown)
	})
}

// ErrUnknownExit: the keeper has ended before the program, and nobody knows how that ended.
var ErrUnknownExit = errors.New("keeper: the exit status is unknown: the keeper had ended")

// Wait waits until the program has ended and returns how. If its keeper had died before, it fails
// with ErrUnknownExit where the system cannot tell either (see statusOfEnded). It fails with
// ErrGone when the connection is closed.
func (t *Terminal) Wait() (Exit, error) {
	keeper := t.keeper()
	select {
	case <-t.exitKnown:
		return t.told()
	case <-keeper.done:
	}
	select {
	case <-t.exitKnown: // it said so before it went
		return t.told()
	default:
	}
	if keeper.left.Load() {
		return Exit{}, ErrGone
	}
	// If another keeper adopts the terminal meanwhile, that knows no more.
	if pidfd := t.TakeFD(fdPid); pidfd >= 0 {
		return awaitOrphan(t.Pid, pidfd)
	}
	return Exit{Ticks: bootTicks()}, ErrUnknownExit
}

// told returns what the keeper has said of the exit.
func (t *Terminal) told() (Exit, error) {
	if t.exit.Unknown {
		return t.exit, ErrUnknownExit
	}
	return t.exit, nil
}

// CloseEnd has the keeper close its descriptor of a pipe, without which the program does not see
// the end of its input (Stdin), or that nobody reads its output (Stdout, Stderr).
func (t *Terminal) CloseEnd(name string) {
	t.mu.Lock()
	keeper := t.client
	t.files = slices.DeleteFunc(t.files, func(f file) bool {
		if f.name == name {
			unix.Close(f.fd)
		}
		return f.name == name
	})
	t.mu.Unlock()
	keeper.tell(message{Op: opClose, ID: t.ID, Name: name})
}

// Forget lets the keeper close its descriptors and forget the exit status.
func (t *Terminal) Forget() {
	t.mu.Lock()
	keeper := t.client
	t.over = true
	t.mu.Unlock()
	keeper.drop(t)
	keeper.tell(message{Op: opForget, ID: t.ID})
}

// Close closes this side's descriptors and memory, which must not be in use. Nothing ends thereby.
func (t *Terminal) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	closeFiles(t.files)
	t.files, t.over = nil, true
	for _, l := range t.Landings {
		_ = l.Close() // memory is given back whatever becomes of it
	}
	t.Landings = nil
}
