package sshd

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

// Viewers that take nothing of a flood cost a window each and nobody else's time.
func TestStalledViewersHoldNobodyUp(t *testing.T) {
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
	time.Sleep(500 * time.Millisecond) // the flood goes on for a while; nothing tells of it
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
		// The client of this test is in the same process: its windows of 2 MiB
		// are counted.
		t.Errorf("%d bytes per stalled viewer", got)
	}
	c.Close()
	eventually(t, "all goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
	r.ssh("alice", "", "rm flood")
}
