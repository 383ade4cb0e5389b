package proctag

import (
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"termhost/ahp/hosttest/slowtest"
)

// run runs a script with the tag and returns what it printed.
func run(t *testing.T, tag Tag, script string) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	pid, err := ForkExec("/bin/sh", []string{"sh", "-c", script}, &syscall.ProcAttr{
		Env: append(os.Environ(), slowtest.Owner(t)), Files: []uintptr{0, w.Fd(), 2},
	}, tag)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	buf := make([]byte, 1024)
	for {
		n, err := r.Read(buf)
		out.Write(buf[:n])
		if err != nil {
			break
		}
	}
	if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWhatATaggedProcessLeavesBehindHasItsTag(t *testing.T) {
	tag := New("realm-one")
	const sleep = "sleep 1000 >/dev/null & echo $!"
	for name, script := range map[string]string{
		"a child":             sleep,
		"a process session":   "setsid sh -c '" + sleep + "'",
		"with no environment": "env -i sh -c '" + sleep + "'",
		"a daemon":            "env -i setsid -f sh -c '" + sleep + "'",
		"with other limits":   "ulimit -c 0; ulimit -n 64; " + sleep,
	} {
		t.Run(name, func(t *testing.T) {
			pid, err := strconv.Atoi(strings.TrimSpace(run(t, tag, script)))
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Kill(pid, unix.SIGKILL)
			if got := Of(pid); got != tag {
				t.Errorf("its tag is %x, want %x", got, tag)
			}
		})
	}
}

// The tag of a terminal that is being started must not get into what is started beside it: that
// would be hung up with the terminal.
func TestWhatIsStartedWithoutATagGetsNone(t *testing.T) {
	cat := func(tag Tag) (pid int, end func()) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		pid, err = ForkExec("/bin/cat", []string{"cat"}, &syscall.ProcAttr{
			Files: []uintptr{r.Fd(), 1, 2},
		}, tag)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		return pid, func() {
			w.Close()
			_, _ = syscall.Wait4(pid, nil, 0, nil)
		}
	}
	var tagging sync.WaitGroup
	done := make(chan struct{})
	tagging.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				_, end := cat(New("realm-one"))
				end()
			}
		}
	})
	for range 100 {
		pid, end := cat(0)
		if got := Of(pid); got != 0 {
			t.Errorf("a process without a tag has tag %x", got)
		}
		end()
	}
	close(done)
	tagging.Wait()
}

func TestTagsTellNamesAndRealmsApart(t *testing.T) {
	one, two, other := New("realm-one"), New("realm-two"), New("other-one")
	if one == two || one == other || one == 0 {
		t.Errorf("tags %x %x %x", one, two, other)
	}
	if !one.In("realm") || !two.In("realm") || other.In("realm") || Tag(0).In("realm") {
		t.Error("a realm is not recognised")
	}
	if Of(os.Getpid()) != 0 || Of(1<<22+1) != 0 {
		t.Error("who has no tag has one")
	}
}

func TestThisProcessKeepsItsLimits(t *testing.T) {
	var before, after unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_RTTIME, &before); err != nil {
		t.Fatal(err)
	}
	run(t, New("realm-x"), "true")
	if err := unix.Getrlimit(unix.RLIMIT_RTTIME, &after); err != nil || after != before {
		t.Errorf("%+v became %+v, %v", before, after, err)
	}
}

func TestAHostInsideATerminalHasTagsOfItsOwn(t *testing.T) {
	l := unix.Rlimit{Cur: math.MaxUint64, Max: math.MaxUint64}
	last := topBit + 1
	for range topBit - lowestBit + 1 {
		bit, ok := topOf(l)
		if !ok || bit != last-1 {
			t.Fatalf("below %x tags begin with bit %d, %v", l.Max, bit, ok)
		}
		last = bit
		l.Max = 1<<bit | 12345 // a tag
	}
	if bit, ok := topOf(l); ok {
		t.Errorf("tags that begin with bit %d would limit something", bit)
	}
	for _, max := range []uint64{0, 1, 200_000, 1 << 40} {
		if _, ok := topOf(unix.Rlimit{Max: max}); ok {
			t.Errorf("a limit of %d has room for tags", max)
		}
	}
}
