package relay_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/rpc"
	"termhost/ahp/transport"
)

// wire is what a client is connected through, and can be cut.
type wire struct {
	mu   sync.Mutex
	last io.Closer
}

func (n *wire) through(dial client.Dialer) client.Dialer {
	return func(ctx context.Context) (transport.Transport, error) {
		t, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		n.last = closer{t}
		return t, nil
	}
}

type closer struct{ transport.Transport }

func (c closer) Close() error { return c.Transport.Close(transport.Goodbye) }

func (n *wire) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last.Close()
}

// whole returns all output that the terminal's own host keeps.
func (w *town) whole(name, uri string) string {
	w.t.Helper()
	c := w.connect(name, nil, bob)
	defer c.Close()
	s := w.follow(c, uri).Terminal()
	return client.Text(&s)
}

// The client's copy, made of a snapshot, actions and resynchronisations, becomes the owner's state,
// whatever is cut meanwhile.
func TestAFloodThatIsCutEndsAsItsHostHasIt(t *testing.T) {
	w := newTown(t, "home", "box")
	var n wire
	way := w.door("home")
	c := w.connect("home", way, ann, func(cfg *client.Config) { cfg.Dial = n.through(cfg.Dial) })
	m := w.run(c, "ahp-terminal://box/t",
		"i=0; while [ $i -lt 60 ]; do i=$((i+1)); seq 2000; done; echo the end; read x")
	for i := range 6 {
		hosttest.Check(t, m.WaitTerminal(w.ctx, func(s *ahp.TerminalState) bool {
			return contains(client.Text(s), "00")
		}))
		if i%2 == 0 {
			w.lose("box")
		} else {
			n.cut()
		}
		for {
			err := c.Ping(w.ctx)
			if err == nil {
				break
			} else if !errors.Is(err, client.ErrLost) {
				t.Fatal(err)
			}
		}
	}
	w.sees(m, "the end")
	want := w.whole("box", "ahp-terminal:/t")
	s := m.Terminal()
	if got := client.Text(&s); !strings.HasSuffix(got, want[len(want)/2:]) ||
		strings.Count(got, "the end") != 1 {
		t.Errorf("there are %d bytes, and its host has %d", len(got), len(want))
	}
}

// A door's client that reconnects gets what it has missed, once; after the door's own restart it
// gets the present state.
func TestAClientReconnectsToADoor(t *testing.T) {
	w := newTown(t, "box")
	dir := t.TempDir()
	start := func() *host.Host {
		h := hosttest.New(t, func(cfg *host.Config) { cfg.StateDir = dir })
		w.mu.Lock()
		w.hosts["home"] = h
		w.mu.Unlock()
		return h
	}
	first := start()
	way := w.door("home")
	var n wire
	c := w.connect("home", nil, ann, func(cfg *client.Config) {
		cfg.Dial = n.through(client.Lines(func(context.Context) (io.ReadWriteCloser, error) {
			w.mu.Lock()
			h, way := w.hosts["home"], way
			w.mu.Unlock()
			return hosttest.Dial(t, h, ann, rpc.Options{Fleet: way, RequestsPerSecond: -1})
		}))
	})
	m := w.run(c, "ahp-terminal://box/t", "while read x; do echo got $x; done")
	other := w.connect("box", nil, bob)
	watched := w.follow(other, "ahp-terminal:/t")
	want := ""
	for i := range 6 {
		if i == 3 {
			way.Set(nil)
			hosttest.Check(t, first.Shutdown(w.ctx))
			start()
			w.mu.Lock()
			way = w.door("home")
			w.mu.Unlock()
		} else if i > 0 {
			n.cut()
		}
		line := fmt.Sprint("line", i)
		for {
			err := w.types(c, m, line)
			if err == nil {
				break
			}
			if s := watched.Terminal(); contains(client.Text(&s), line) {
				break // it was taken, which nobody knew
			}
		}
		want += line + "\r\ngot " + line + "\r\n"
		w.sees(watched, "got "+line+"\r\n")
		w.sees(m, "got "+line+"\r\n")
		if s := m.Terminal(); client.Text(&s) != want {
			t.Errorf("after %s there is %q", line, client.Text(&s))
			want = client.Text(&s)
		}
	}
}

// A client that has not read while a terminal of another host printed reads on up to the end.
func TestAStalledClientOfADoorSeesTheEnd(t *testing.T) {
	slowtest.Skip(t)
	stallAtADoor(t, func(flood func()) { flood() })
}

// What a terminal of another host floods is not kept for a client that does not read.
func TestMeasuresAStalledClientOfADoor(t *testing.T) {
	slowtest.Measures(t)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	stallAtADoor(t, func(flood func()) {
		before := heap()
		flood()
		if after := heap(); after > before+16<<20 {
			t.Errorf("it keeps %d MiB", (after-before)>>20)
		}
	})
}

// stallAtADoor has a client subscribe to a terminal of another host, and read nothing while during
// runs. That calls flood, which returns when the terminal has printed 30 MB. The client then reads
// until it sees the end.
func stallAtADoor(t *testing.T, during func(flood func())) {
	t.Helper()
	w := newTown(t, "home", "box")
	way := w.door("home")
	a := w.connect("box", nil, bob)
	done := w.run(a, "ahp-terminal:/t",
		"read x; head -c 30000000 /dev/zero | tr '\\0' x | fold -w 99; echo the end; read x")
	nc, err := hosttest.Dial(t, w.hosts["home"], ann, rpc.Options{Fleet: way})
	hosttest.Check(t, err)
	lines := bufio.NewReaderSize(nc, 1<<20)
	for i, request := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://","clientId":"c","protocolVersions":["1.0.0"]}}`,
		`{"jsonrpc":"2.0","id":2,"method":"subscribe","params":{"channel":"ahp-terminal://box/t"}}`,
	} {
		_, err := io.WriteString(nc, request+"\n")
		hosttest.Check(t, err)
		answer, err := lines.ReadString('\n')
		if err != nil || !contains(answer, fmt.Sprintf(`"id":%d,"result"`, i+1)) {
			t.Fatalf("%q (%v)", answer, err)
		}
	}
	during(func() {
		hosttest.Check(t, w.types(a, done, "go"))
		w.sees(done, "the end")
	})
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if contains(line, "the end") {
			break
		}
	}
}
