package nonblock

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pipe returns the two ends of a pipe that does not block.
func pipe(t *testing.T) (r, w uintptr) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fds[0]); unix.Close(fds[1]) })
	return uintptr(fds[0]), uintptr(fds[1])
}

func TestAPipeIsReadWrittenAndPolled(t *testing.T) {
	r, w := pipe(t)
	buf := make([]byte, 128<<10)
	if n, err := Read(r, buf); n != 0 || err != syscall.EAGAIN {
		t.Errorf("an empty pipe reads %d, %v", n, err)
	}
	if got, err := Poll(r, unix.POLLIN); got != 0 || err != nil {
		t.Errorf("an empty pipe polls %#x, %v", got, err)
	}
	n, err := Write(w, buf)
	if n == 0 || err != nil {
		t.Fatalf("wrote %d, %v", n, err)
	}
	if n, err := Write(w, buf); n != 0 || err != syscall.EAGAIN {
		t.Errorf("a full pipe writes %d, %v", n, err)
	}
	if got, err := Poll(r, unix.POLLIN); got != unix.POLLIN || err != nil {
		t.Errorf("a full pipe polls %#x, %v", got, err)
	}
	if m, err := Read(r, buf); m != n || err != nil {
		t.Errorf("read %d of %d, %v", m, n, err)
	}
	unix.Close(int(w))
	if n, err := Read(r, buf); n != 0 || err != nil {
		t.Errorf("the end reads %d, %v", n, err)
	}
	if got, _ := Poll(r, unix.POLLIN); got != unix.POLLHUP {
		t.Errorf("the end polls %#x", got)
	}
}

func TestAnErrorIsAnErrno(t *testing.T) {
	const none = 1 << 20
	if _, err := Read(none, make([]byte, 1)); !errors.Is(err, syscall.EBADF) {
		t.Error(err)
	}
	if _, err := Write(none, nil); !errors.Is(err, syscall.EBADF) {
		t.Error(err)
	}
	if got, err := Poll(none, unix.POLLIN); got != unix.POLLNVAL || err != nil {
		t.Error(got, err)
	}
}

func TestACallThatASignalInterruptsIsRepeated(t *testing.T) {
	calls := 0
	n, err := repeat(func() (int, error) {
		if calls++; calls < 3 {
			return -1, syscall.EINTR
		}
		return calls, nil
	})
	if n != 3 || err != nil {
		t.Errorf("returned %d, %v", n, err)
	}
	// As they are while a program runs: signals in the middle of calls.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGWINCH)
	defer signal.Stop(signals)
	r, w := pipe(t)
	buf := make([]byte, 32<<10)
	for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
		_ = syscall.Kill(os.Getpid(), syscall.SIGWINCH)
		if n, err := Write(w, buf); n != len(buf) || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
		if n, err := Read(r, buf); n != len(buf) || err != nil {
			t.Fatalf("read %d, %v", n, err)
		}
	}
}

// A call per key must not cost an allocation.
func TestCallsAllocateNothing(t *testing.T) {
	r, w := pipe(t)
	buf := make([]byte, 16)
	if n := testing.AllocsPerRun(100, func() {
		_, _ = Write(w, buf)
		_, _ = Poll(r, unix.POLLIN)
		_, _ = Read(r, buf)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
