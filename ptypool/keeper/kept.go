package keeper

import (
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// kept is a child on the keeper's side.
type kept struct {
	adopted            bool // the program is not this process's child: see session.adopt
	id, marker, logDir string
	exitFile           string // see Program.Exit
	pid                int
	pipes              bool
	note               []byte
	secret             string        // of its shell's nonce, for hosts; "": none
	ended              chan struct{} // closed when exit is set

	mu    sync.Mutex // guards the fields below; server.mu may be held when it is taken
	exit  *Exit      // nil: it runs
	files []file     // all its descriptors, in the order in which hosts receive them
	drain *drain     // reads its output; nil: a host does, or it has been read to its end
}

func newKept(p Program, pid int, files []file) *kept {
	return &kept{
		id: p.ID, marker: p.Marker, logDir: p.Log, exitFile: p.Exit, pid: pid, pipes: p.Pipes,
		files: files, note: p.Note, secret: p.secret(), ended: make(chan struct{}),
	}
}

// wait collects the program's exit status. It blocks no thread while it waits, and closes pidfd.
func (t *kept) wait(pidfd int) error {
	await := awaitChild
	if t.adopted {
		await = awaitOrphan
	}
	exit, err := await(t.pid, pidfd)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.exit = &exit
	close(t.ended)
	if t.drain != nil {
		t.drain.programEnded()
	}
	return err
}

// awaitChild waits for the end of a child of this process and collects its status. It closes pidfd.
func awaitChild(pid, pidfd int) (Exit, error) {
	var ws syscall.WaitStatus
	err := awaitPidfd(pidfd, func() (ended bool, err error) {
		got, err := syscall.Wait4(pid, &ws, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			err = nil
		}
		return got == pid, err
	})
	return Exit{Status: ws, Ticks: bootTicks(), At: time.Now()}, err
}

// awaitPidfd waits until pidfd reports that its process has ended and done confirms it. It closes
// pidfd.
func awaitPidfd(pidfd int, done func() (bool, error)) error {
	f, err := polled(pidfd, "pidfd")
	if err != nil {
		return err
	}
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Read(func(uintptr) (ended bool) {
		ended, failed = done()
		return ended || failed != nil
	})
	if err != nil {
		return err
	}
	return failed
}

// polled returns a file that owns fd, in the runtime's poller.
func polled(fd int, name string) (*os.File, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// dup returns a duplicate of fd, which is close-on-exec.
func dup(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0) }

// info describes the child to a host.
func (t *kept) info() Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.infoLocked()
}

// infoLocked is info for callers that hold mu.
func (t *kept) infoLocked() Info {
	return Info{ID: t.id, Marker: t.marker, Pid: t.pid, Pipes: t.pipes, Exit: t.exit}
}

func (t *kept) running() bool { return t.info().Exit == nil }

// close closes the descriptors of that name; "": all.
func (t *kept) close(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files = slices.DeleteFunc(t.files, func(f file) bool {
		if name != "" && f.name != name {
			return false
		}
		unix.Close(f.fd)
		return true
	})
}

// named returns the descriptors of that name.
func (t *kept) named(name string) (fds []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.files {
		if f.name == name {
			fds = append(fds, f.fd)
		}
	}
	return fds
}

// give sends m with the child and all its descriptors, which stay open.
func (t *kept) give(to *conn, m message) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	m.Terms, m.files, m.Note = []Info{t.infoLocked()}, t.files, t.note
	m.Secret = t.secret
	return to.send(m)
}

// stopDraining ends the keeper's reading of t's output.
func (t *kept) stopDraining() {
	t.mu.Lock()
	d := t.drain
	t.mu.Unlock()
	if d == nil {
		return
	}
	d.stop()
	t.mu.Lock()
	t.drain = nil
	t.mu.Unlock()
}

// draining reports whether the keeper reads t's output.
func (t *kept) draining() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.drain == nil {
		return false
	}
	select {
	case <-t.drain.done:
		return false
	default:
		return true
	}
}
