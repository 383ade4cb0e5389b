package sshd

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// flood is a command that prints rounds of 100,000 lines and adds a byte to the file rounds after
// each: the program itself tells how far it has come.
func flood(rounds int) string {
	return fmt.Sprintf("n=0; while [ $((n+=1)) -le %d ]; do "+
		"seq 1 100000 | cat; printf x >>$HOME/rounds; done", rounds)
}

// forever is how many rounds no test sees the end of.
const forever = 1 << 30

// roundBytes is what one round prints: 488,895 digits and as many line ends of two bytes as lines.
const roundBytes = 488_895 + 2*100_000

// rounds is how many rounds the flood has printed.
func (r *rig) rounds() int { return len(r.read("rounds")) }

// windowBytes is the window of a channel of x/crypto: what comes for a client that reads nothing.
const windowBytes = 2 << 20

// countedConn counts what is read from it.
type countedConn struct {
	net.Conn
	n atomic.Int64
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// dialCounted is dial with the count of what the client receives.
func (r *rig) dialCounted(key string) (*gossh.Client, *countedConn) {
	r.t.Helper()
	nc, err := net.Dial("tcp", r.addr)
	hosttest.Check(r.t, err)
	counted := &countedConn{Conn: nc}
	conn, channels, requests, err := gossh.NewClientConn(counted, r.addr, r.clientConfig(key))
	if err != nil {
		nc.Close()
		r.t.Fatal(err)
	}
	c := gossh.NewClient(conn, channels, requests)
	r.t.Cleanup(func() { c.Close() })
	return c, counted
}

// stalledLog is how much the logs of the terminals keep whose viewers stall, in bytes.
const stalledLog = 1 << 20

// newStalledRig has a terminal, flood, that prints without end.
func newStalledRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "mallory": ""},
		host: func(c *host.Config) { c.LogBytes = stalledLog },
		door: func(c *Config) { c.MaxSessions = 100 }})
	r.ssh("alice", "", "new -d -n flood -- "+flood(forever))
	return r
}

// stall has count viewers of the flood, all on a connection that it returns, fill their windows and
// take nothing more.
func (r *rig) stall(count int) *gossh.Client {
	r.t.Helper()
	c, received := r.dialCounted("mallory")
	for range count {
		ch, _ := rawSession(r.t, c)
		request(r.t, ch, "pty-req", ptyMsg{Term: "xterm", Cols: 80, Rows: 24})
		request(r.t, ch, "exec", stringMsg{"attach -r flood"})
	}
	hosttest.Reaches(r.t, "the viewers' windows are full", count*windowBytes,
		func() int { return int(received.n.Load()) })
	return c
}

// Viewers that take nothing of a flood stop neither the flood nor another terminal.
func TestStalledViewersHoldNobodyUp(t *testing.T) {
	r := newStalledRig(t)
	healthy := r.open(r.dial("alice"), 80, 24, "new -n calm")
	healthy.typeIn("echo calm-$((1+1))\r")
	healthy.sees("calm-2")
	r.stall(10)
	// More is printed than the log holds.
	hosttest.Reaches(t, "the flood goes on", r.rounds()+2+stalledLog/roundBytes, r.rounds)
	slowtest.Hurry(t)
	for range 10 {
		healthy.typeIn("x")
		healthy.sees("x")
	}
	r.ssh("alice", "", "rm flood")
}

// What a stalled viewer costs is the difference between some of them and twice as many. The client
// is in the same process, so the windows of its channels, 2 MiB each, are counted with it.
func TestMeasuresStalledViewers(t *testing.T) {
	slowtest.Measures(t)
	const stalled = 10
	r := newStalledRig(t)
	goroutines := runtime.NumGoroutine()
	first := r.stall(stalled)
	memory := held()
	second := r.stall(stalled)
	if got := (held() - memory) / stalled; got > 6<<20 {
		t.Errorf("%d bytes per stalled viewer", got)
	}
	first.Close()
	second.Close()
	hosttest.Eventually(t, "all goroutines end",
		func() bool { return runtime.NumGoroutine() <= goroutines })
	r.ssh("alice", "", "rm flood")
}

// A viewer that falls off the log is shown the present screen. The program has not waited for it.
func TestAViewerThatFellBehindIsShownTheEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{host: func(c *host.Config) { c.LogBytes = 256 << 10 }})
	ch, _ := rawSession(t, r.dial("alice"))
	request(t, ch, "pty-req", ptyMsg{Term: "xterm", Cols: 80, Rows: 24})
	const rounds = 2 * windowBytes / roundBytes
	request(t, ch, "exec", stringMsg{"new -n work -- " + flood(rounds) + "; echo the-end; sleep 1000"})
	hosttest.Reaches(t, "the program does not wait for its viewer", rounds, r.rounds)
	seen := newTranscript()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(seen, ch)
	}()
	if _, ok := seen.await("the-end"); !ok {
		t.Error("the end was not shown")
	}
	if n := len(seen.all()); n >= rounds*roundBytes {
		t.Errorf("%d bytes were sent: it was not resynchronised", n)
	}
	ch.Close()
	<-copied
}

// No flood of requests is kept in memory.
func TestMeasuresFloodsOfRequests(t *testing.T) {
	slowtest.Measures(t)
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
