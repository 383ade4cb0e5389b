package keeper

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

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

	client *Client

	once      sync.Once
	exitKnown chan struct{} // closed when exit is set
	exit      Exit

	mu    sync.Mutex // guards files
	files []file     // that have not been taken
}

// The names for TakeFD: the master of a pty, or the ends of a program's pipes.
const (
	Master = fdMaster
	Stdin  = fdStdin
	Stdout = fdStdout
	Stderr = fdStderr
)

// TakeFD returns the descriptor of that name, which is the caller's from then on. It may block or
// not: the keeper has it as well. It is -1 if there is none.
func (t *Terminal) TakeFD(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, f := range t.files {
		if f.name == name {
			t.files = slices.Delete(t.files, i, i+1)
			return f.fd
		}
	}
	return -1
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

// Abandoned reports whether the keeper has ended: the system ends the terminal when this process
// lets go of it, and nobody learns how.
func (t *Terminal) Abandoned() bool { return t.client.isGone() }

// Memory returns the segments of a log in memory, which are the caller's from then on.
func (t *Terminal) Memory() (segments []*os.File) {
	for fd := t.TakeFD(fdMemory); fd >= 0; fd = t.TakeFD(fdMemory) {
		segments = append(segments, os.NewFile(uintptr(fd), "memory"))
	}
	return segments
}

// mapLandings maps the landings that came with a terminal that was taken.
func (t *Terminal) mapLandings() error {
	for fd := t.TakeFD(fdLanding); fd >= 0; fd = t.TakeFD(fdLanding) {
		l, err := MapLanding(os.NewFile(uintptr(fd), "landing"))
		if err != nil {
			return err
		}
		t.Landings = append(t.Landings, l)
	}
	return nil
}

func (t *Terminal) ended(e Exit) {
	t.once.Do(func() {
		t.exit = e
		close(t.exitKnown)
	})
}

// ErrUnknownExit: the keeper has ended before the program, and nobody knows how that ended.
var ErrUnknownExit = errors.New("keeper: the exit status is unknown: the keeper had ended")

// Wait waits until the program has ended and returns how. When the keeper has gone, it fails with
// ErrUnknownExit where the system cannot tell either (see statusOfEnded). It fails with ErrGone
// when the connection is closed.
func (t *Terminal) Wait() (Exit, error) {
	select {
	case <-t.exitKnown:
		return t.exit, nil
	case <-t.client.done:
	}
	select {
	case <-t.exitKnown: // it said so before it went
		return t.exit, nil
	default:
	}
	if t.client.left.Load() {
		return Exit{}, ErrGone
	}
	return t.waitAlone()
}

// pidfdEnded reports whether the process of a pidfd has ended.
func pidfdEnded(pidfd int) (bool, error) {
	p := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(p, 0)
	if err == unix.EINTR {
		err = nil
	}
	return n > 0, err
}

const (
	// adoptTime bounds how long the system's own init may take to collect an orphan's status, and
	// adoptPoll is how often that is looked for.
	adoptTime = time.Second
	adoptPoll = 5 * time.Millisecond
)

// waitAlone is Wait without a keeper.
func (t *Terminal) waitAlone() (Exit, error) {
	pidfd := t.TakeFD(fdPid)
	if pidfd < 0 {
		return Exit{}, ErrUnknownExit
	}
	own, err := dup(pidfd)
	if err != nil {
		unix.Close(pidfd)
		return Exit{}, err
	}
	defer unix.Close(own)
	err = awaitPidfd(pidfd, func() (bool, error) { return pidfdEnded(own) })
	if err != nil {
		return Exit{}, err
	}
	for deadline := time.Now().Add(adoptTime); time.Now().Before(deadline); time.Sleep(adoptPoll) {
		if status, ok := statusOfEnded(t.Pid, own); ok {
			return Exit{Status: status, Ticks: bootTicks()}, nil
		}
	}
	return Exit{Ticks: bootTicks()}, ErrUnknownExit
}

// statusOfEnded returns how a process that has ended, and is no child of ours, has done so. The
// system tells as long as nobody has collected its status (/proc/PID/stat, see proc(5)) and, since
// Linux 6.15, to whoever has a pidfd afterwards.
func statusOfEnded(pid, pidfd int) (status syscall.WaitStatus, ok bool) {
	status, ok = statusOfZombie(pid)
	if ok && unix.PidfdSendSignal(pidfd, 0, nil, 0) == nil {
		return status, true // the number still belongs to the process
	}
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	err := unix.IoctlPidfdInfo(pidfd, &info)
	return syscall.WaitStatus(info.Exit_code), err == nil && info.Mask&unix.PIDFD_INFO_EXIT != 0
}

// statusOfZombie returns what /proc says of a process that has ended.
func statusOfZombie(pid int) (status syscall.WaitStatus, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	// Of the fields the third, which is the first behind the command in parentheses, is the state,
	// and the 52nd is the status.
	const state, exitCode = 0, 52 - 3
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) <= exitCode || string(f[state]) != "Z" {
		return 0, false
	}
	n, err := strconv.ParseUint(string(f[exitCode]), 10, 32)
	return syscall.WaitStatus(n), err == nil
}

// CloseEnd has the keeper close its descriptor of a pipe, without which the program does not see
// the end of its input (Stdin), or that nobody reads its output (Stdout, Stderr).
func (t *Terminal) CloseEnd(name string) {
	t.client.tell(message{Op: opClose, ID: t.ID, Name: name})
}

// Forget lets the keeper close its descriptors and forget the exit status.
func (t *Terminal) Forget() {
	t.client.mu.Lock()
	if t.client.terms[t.ID] == t {
		delete(t.client.terms, t.ID)
	}
	t.client.mu.Unlock()
	t.client.tell(message{Op: opForget, ID: t.ID})
}

// Close closes this side's descriptors and memory, which must not be in use. Nothing ends thereby.
func (t *Terminal) Close() {
	t.mu.Lock()
	closeFiles(t.files)
	t.files = nil
	t.mu.Unlock()
	for _, l := range t.Landings {
		_ = l.Close() // memory is given back whatever becomes of it
	}
	t.Landings = nil
}
