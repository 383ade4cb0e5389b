package sshd

import (
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// A viewer that takes nothing of a flood costs the bytes of its channel's window, and nobody's
// time.
func TestStalledViewersHoldNobodyUp(t *testing.T) {
	slowtest.Skip(t)
	const stalled = 10
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "mallory": ""}})
	r.ssh("alice", "", "new -d -n flood -- while :; do seq 1 100000; done")
	healthy := r.open(r.dial("alice"), 80, 24, "new -n calm")
	healthy.typeIn("echo calm-$((1+1))\r")
	healthy.sees("calm-2")
	goroutines, memory := runtime.NumGoroutine(), held()
	c := r.dial("mallory")
	for range stalled {
		ch, _ := rawSession(t, c)
		request(t, ch, "pty-req", ptyMsg{Term: "xterm", Cols: 80, Rows: 24})
		request(t, ch, "exec", stringMsg{"attach -r flood"})
	}
	// Far more is printed than the stalled viewers' windows and the log hold.
	from := r.host.Stats().ServerSeq
	hosttest.Eventually(t, "the flood goes on", func() bool { return r.host.Stats().ServerSeq > from+1000 })
	var took []time.Duration
	for i := range 100 {
		begun := time.Now()
		healthy.typeIn("x")
		healthy.sees("x")
		took = append(took, time.Since(begun))
		if i%10 == 9 {
			healthy.typeIn("\x15") // the line is emptied
		}
	}
	slices.Sort(took)
	t.Logf("echo beside a flood: p50 %v, p99 %v", took[50], took[99])
	if got := (held() - memory) / stalled; got > 6<<20 {
		// The client of this test is in the same process, so its windows of 2 MiB are counted.
		t.Errorf("%d bytes per stalled viewer", got)
	}
	c.Close()
	hosttest.Eventually(t, "all goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
	r.ssh("alice", "", "rm flood")
}

// A viewer that falls off the log is shown the present screen. The program has not waited for it.
func TestAViewerThatFellBehindIsShownTheEnd(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	r := newRig(t, rigOptions{host: func(c *host.Config) { c.LogBytes = 256 << 10 }})
	ch, _ := rawSession(t, r.dial("alice"))
	request(t, ch, "pty-req", ptyMsg{Term: "xterm", Cols: 80, Rows: 24})
	request(t, ch, "exec", stringMsg{"new -n work -- seq 1 2000000; echo the-end; sleep 1000"})
	const whole = 15 << 20 // about what seq prints
	if got := r.ssh("alice", "", "wait --match ^the-end$ --timeout 30s work"); got.status != 0 {
		t.Fatalf("the program waits for its viewer: %+v", got)
	}
	seen := newTranscript()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(seen, ch)
	}()
	if _, ok := seen.await("the-end"); !ok {
		t.Error("the end was not shown")
	}
	if n := len(seen.all()); n > whole {
		t.Errorf("%d bytes were sent: it was not resynchronised", n)
	}
	ch.Close()
	<-copied
}

// No flood of requests is kept in memory.
func TestFloodsAreNotKept(t *testing.T) {
	slowtest.Skip(t)
	r := newRig(t, rigOptions{})
	r.dial("alice").Close()
	memory := held()
	c := r.dial("alice")
	ch, _ := rawSession(t, c)
	request(t, ch, "pty-req", ptyMsg{Term: "xterm", Cols: 80, Rows: 24})
	type env struct{ Name, Value string }
	for i := range 20_000 {
		for name, payload := range map[string]any{
			"window-change": windowMsg{Cols: uint32(i), Rows: 9},
			"env":           env{"LC_X", strings.Repeat("x", 1000)},
			"signal":        stringMsg{"USR1"},
			"whatever":      env{},
		} {
			if _, err := ch.SendRequest(name, false, gossh.Marshal(payload)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 1000 {
		if _, _, err := c.SendRequest("tcpip-forward", true, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	request(t, ch, "shell", nil)
	if during := held(); during > memory+4<<20 {
		t.Errorf("%d bytes are held of the floods", during-memory)
	}
}
