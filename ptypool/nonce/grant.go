package nonce

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// FD is the descriptor on which a shell finds its nonce, on a line, unless that comes by a
	// FIFO.
	FD = 3
	// offerTime bounds how long a shell may take to start and open its FIFO, on a very busy
	// machine. The host checks every offerPoll.
	offerTime = 30 * time.Second
	offerPoll = 2 * time.Millisecond
	// openTime bounds how long the shell's open(2) may take to return, which has waited for ours.
	openTime = 2 * time.Second
)

// Grant passes a nonce to a shell that is about to be started.
type Grant struct {
	Secret string `json:"secret"`
	// FIFO is the absolute path of the FIFO that a shell reads if it cannot close a descriptor; "":
	// the shell reads FD.
	FIFO string `json:"fifo,omitempty"`
}

// Open makes the socket or FIFO that the shell reads. fd must become the shell's descriptor FD, and
// the caller must close it once the shell has been started; -1: there is none. A nil Grant grants
// nothing.
func (g *Grant) Open() (fd int, err error) {
	if g == nil {
		return -1, nil
	}
	if g.FIFO != "" {
		if err := unix.Mkfifo(g.FIFO, 0o600); err != nil {
			return -1, &os.PathError{Op: "mkfifo", Path: g.FIFO, Err: err}
		}
		return -1, nil
	}
	ends, err := socketpair()
	if err != nil {
		return -1, err
	}
	defer unix.Close(ends[1]) // what was written can still be read
	if _, err := unix.Write(ends[1], g.line()); err != nil {
		unix.Close(ends[0])
		return -1, err
	}
	return ends[0], nil
}

func (g *Grant) line() []byte { return []byte(Of(g.Secret) + "\n") }

// Give passes the nonce to the shell that was started with Open's descriptor as process pid; pid is
// 0 if it could not be started. Give returns at once.
func (g *Grant) Give(pid int) {
	if g == nil || g.FIFO == "" {
		return
	}
	if pid <= 0 {
		os.Remove(g.FIFO)
		return
	}
	go g.offer(pid) // ends with offerTime, or with the shell
}

// offer writes the nonce into the FIFO once the shell has opened it and no process can open it any
// more. If another process has opened it before, none gets the nonce.
func (g *Grant) offer(pid int) {
	defer os.Remove(g.FIFO)
	var w *os.File
	for end := time.Now().Add(offerTime); w == nil; time.Sleep(offerPoll) {
		flags := unix.O_WRONLY
		if time.Now().After(end) {
			flags = unix.O_RDWR // a reader who comes right now waits for nobody
		}
		fd, err := unix.Open(g.FIFO, flags|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		switch {
		case err == nil:
			w = os.NewFile(uintptr(fd), "nonce")
		case !errors.Is(err, unix.ENXIO) || unix.Kill(pid, 0) != nil:
			return
		}
	}
	defer w.Close()
	os.Remove(g.FIFO)
	for end := time.Now().Add(openTime); !opened(pid, w); time.Sleep(offerPoll) {
		if time.Now().After(end) {
			return
		}
	}
	_, _ = w.Write(g.line()) // it has gone if this fails
}

// socketpair returns two connected sockets, which no program inherits unless they are given to it.
func socketpair() ([2]int, error) {
	syscall.ForkLock.RLock() // not all systems have SOCK_CLOEXEC
	defer syscall.ForkLock.RUnlock()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(ends[0])
		unix.CloseOnExec(ends[1])
	}
	return ends, err
}
