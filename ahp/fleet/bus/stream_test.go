package bus_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	mathrand "math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp/fleet/bus"
)

// join connects a host, and disconnects it at the end.
func join(t *testing.T, w *bus.Network, name string, h bus.Handlers) *bus.Node {
	t.Helper()
	n, err := bus.New(name, w.Connect(name), h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// echo serves streams by sending back what comes.
func echo(_ string, _ []byte, s *bus.Stream) {
	defer s.Close()
	_, _ = io.Copy(s, s)
}

func open(t *testing.T, n *bus.Node, to string) *bus.Stream {
	t.Helper()
	s, err := n.Open(to, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func random(n int) []byte {
	p := make([]byte, n)
	_, _ = rand.Read(p)
	return p
}

// transfer writes want to a stream that echoes, and checks what comes back.
func transfer(t *testing.T, s net.Conn, want []byte) {
	t.Helper()
	go func() {
		if _, err := s.Write(want); err != nil {
			t.Errorf("writing: %v", err)
		}
	}()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(s, got); err != nil {
		t.Fatalf("reading: %v", err)
	}
	if !bytes.Equal(got, want) {
		t.Fatal("other bytes have come back")
	}
}

func TestAStreamIsExactThoughTheLinkLosesAThirdOfAllMessages(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			lottery := mathrand.New(mathrand.NewPCG(seed, 2))
			var mu sync.Mutex
			w := &bus.Network{Lose: func(_, _ string, _ bus.Class, _ []byte) bool {
				mu.Lock()
				defer mu.Unlock()
				return lottery.IntN(3) == 0
			}}
			join(t, w, "b", bus.Handlers{Opened: echo})
			a := join(t, w, "a", bus.Handlers{})
			s := open(t, a, "b")
			transfer(t, s, random(1<<20))
		})
	}
}

// What opens a stream is on the way longer than what the stream carries.
func TestAStreamThatIsOpenedLateIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		first := true
		w := &bus.Network{Lose: func(from, _ string, _ bus.Class, _ []byte) bool {
			mu.Lock()
			defer mu.Unlock()
			lose := first && from == "a"
			first = first && !lose
			return lose
		}}
		join(t, w, "b", bus.Handlers{Opened: echo})
		transfer(t, open(t, join(t, w, "a", bus.Handlers{}), "b"), random(100))
	})
}

// A cut link is whole again after an hour; nothing is lost, and nothing ends meanwhile.
func TestAStreamOutlivesACutLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		cut := false
		w := &bus.Network{Lose: func(_, _ string, _ bus.Class, _ []byte) bool {
			mu.Lock()
			defer mu.Unlock()
			return cut
		}}
		join(t, w, "b", bus.Handlers{Opened: echo})
		s := open(t, join(t, w, "a", bus.Handlers{}), "b")
		transfer(t, s, random(100))
		set := func(v bool) {
			mu.Lock()
			defer mu.Unlock()
			cut = v
		}
		set(true)
		time.AfterFunc(time.Hour, func() { set(false) })
		transfer(t, s, random(1<<20))
	})
}

func TestAReaderThatStandsStillStopsItsWriterAndNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &bus.Network{}
		stop := make(chan struct{})
		defer close(stop)
		join(t, w, "b", bus.Handlers{Opened: func(from string, greeting []byte, s *bus.Stream) {
			if string(greeting) == "stall" {
				<-stop
				s.Close()
				return
			}
			echo(from, greeting, s)
		}})
		a := join(t, w, "a", bus.Handlers{})
		s, err := a.Open("b", []byte("stall"))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_ = s.SetWriteDeadline(time.Now().Add(time.Minute))
		n, err := s.Write(make([]byte, 1<<20))
		if n != bus.Window || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%d bytes were written to a reader that takes none (%v)", n, err)
		}
		transfer(t, open(t, a, "b"), random(1<<20))
	})
}

func TestWhatWasWrittenBeforeCloseArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &bus.Network{}
		got := make(chan []byte, 1)
		join(t, w, "b", bus.Handlers{Opened: func(_ string, _ []byte, s *bus.Stream) {
			defer s.Close()
			p, err := io.ReadAll(s)
			if err != nil {
				t.Error(err)
			}
			got <- p
		}})
		s := open(t, join(t, w, "a", bus.Handlers{}), "b")
		want := random(200 << 10)
		if _, err := s.Write(want); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if !bytes.Equal(<-got, want) {
			t.Error("the end is missing")
		}
	})
}

// A host that has restarted knows none of its streams: their peers learn it at the next sign.
func TestAStreamEndsWhenItsPeerHasRestarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		cut := false
		w := &bus.Network{Lose: func(from, _ string, _ bus.Class, _ []byte) bool {
			mu.Lock()
			defer mu.Unlock()
			return cut && from == "b"
		}}
		b, err := bus.New("b", w.Connect("b"), bus.Handlers{Opened: echo})
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, join(t, w, "a", bus.Handlers{}), "b")
		transfer(t, s, random(10))
		mu.Lock()
		cut = true // it is killed: it says nothing
		mu.Unlock()
		b.Close()
		mu.Lock()
		cut = false
		mu.Unlock()
		join(t, w, "b", bus.Handlers{Opened: echo})
		_, _ = s.Write([]byte("x"))
		if _, err := s.Read(make([]byte, 1)); err == nil ||
			!strings.Contains(err.Error(), "restarted") {
			t.Errorf("it ends with %v", err)
		}
	})
}

func TestAThirdHostCannotReachIntoAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &bus.Network{}
		var ids [][]byte
		var mu sync.Mutex
		w.Lose = func(from, to string, class bus.Class, p []byte) bool {
			mu.Lock()
			defer mu.Unlock()
			if from == "a" && to == "b" {
				ids = append(ids, bytes.Clone(p))
			}
			return false
		}
		join(t, w, "b", bus.Handlers{Opened: echo})
		s := open(t, join(t, w, "a", bus.Handlers{}), "b")
		transfer(t, s, []byte("hello"))
		c, err := w.Connect("c")(bus.Receiver{Receive: func(string, bool, []byte) {}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		mu.Lock()
		seen := ids
		mu.Unlock()
		for _, p := range seen { // c repeats a's messages, and then every kind with a's id
			_ = c.Send("b", bus.Bytes, p)
			for kind := range 16 {
				p = bytes.Clone(p)
				p[0] = byte(kind)
				_ = c.Send("b", bus.Control, p)
				_ = c.Send("a", bus.Control, p)
			}
		}
		synctest.Wait()
		transfer(t, s, random(100<<10))
	})
}

func TestDropEndsTheStreamsWithOneHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &bus.Network{}
		join(t, w, "b", bus.Handlers{Opened: echo})
		join(t, w, "c", bus.Handlers{Opened: echo})
		a := join(t, w, "a", bus.Handlers{})
		b, c := open(t, a, "b"), open(t, a, "c")
		transfer(t, b, random(10))
		transfer(t, c, random(10))
		why := errors.New("removed")
		a.Drop("b", why)
		if _, err := b.Read(make([]byte, 1)); !errors.Is(err, why) {
			t.Errorf("it ends with %v", err)
		}
		transfer(t, c, random(10))
	})
}
