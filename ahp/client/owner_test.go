package client_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/host"
)

// owner is a client that owns a client-executed terminal, and what it is told.
type owner struct {
	*client.Client
	states  chan client.State
	actions chan ahp.Action
	uri     string
}

func (w *world) owner(token, name, grace string, change ...func(*client.Config)) *owner {
	w.t.Helper()
	o := &owner{states: make(chan client.State, 16), actions: make(chan ahp.Action, 16),
		uri: ahp.TerminalURI(name)}
	o.Client = w.connect(token, append(change, func(c *client.Config) {
		c.OnState = func(s client.State) { o.states <- s }
		c.OnAction = func(_ string, a ahp.Action) { o.actions <- a }
	})...)
	meta := &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{Grace: grace}}
	check(w.t, o.CreateTerminal(w.ctx, ahp.CreateTerminalParams{Channel: o.uri,
		ExecutionTarget: ahp.ExecutorClient, Meta: meta}))
	return o
}

// prints posts output of the owner's terminal on its first connection.
func (o *owner) prints(w *world, data []byte, tell func(notice string, err error)) {
	w.t.Helper()
	_, err := o.Post(w.ctx, 1, o.uri, ahp.TerminalOutput{Data: data}, tell)
	check(w.t, err)
}

// connected waits for the next connection.
func (o *owner) connected(t testing.TB) client.State {
	t.Helper()
	for {
		select {
		case s := <-o.states:
			if s.Connected {
				return s
			}
		case <-time.After(patience):
			t.Fatal("not connected")
		}
	}
}

// TestWhatWasPostedIsKnownAfterALoss cuts the connection while it posts, and posts
// again what, by the host's account, has not arrived. Then nothing may be missing and
// nothing may be there twice.
func TestWhatWasPostedIsKnownAfterALoss(t *testing.T) {
	const pieces = 2000
	w := newWorld(t, func(c *host.Config) { c.ClientGrace = time.Hour })
	n := &network{}
	o := w.owner("alice", "laptop", "1h", func(c *client.Config) { c.Dial = n.through(c.Dial) })
	state := o.connected(t)
	seqs := make([]int64, pieces)
	text := func(i int) string { return fmt.Sprintf("%d;", i) }
	var told atomic.Int64
	posted := int64(0)
	for next, cut := 0, 0; next < pieces; {
		output := ahp.TerminalOutput{Data: []byte(text(next))}
		seq, err := o.Post(w.ctx, state.Conn, o.uri, output, func(string, error) { told.Add(1) })
		switch {
		case err == nil:
			posted++
			seqs[next] = seq
			if next++; next > cut && next%500 == 0 && next < pieces {
				cut = next
				n.drop()
			}
		case errors.Is(err, client.ErrLost):
			before := state.Conn
			state = o.connected(t)
			if !state.Resumed || state.Conn == before {
				t.Fatalf("the new connection is %+v", state)
			}
			arrived := state.Owned[o.uri].ClientSeq
			for next = 0; next < pieces && seqs[next] != 0 && seqs[next] <= arrived; next++ {
			}
			for i := next; i < pieces; i++ {
				seqs[i] = 0
			}
		default:
			t.Fatal(err)
		}
	}
	m := w.follow(w.connect("eve"), o.uri)
	var want strings.Builder
	for i := range pieces {
		want.WriteString(text(i))
	}
	w.sees(m, text(pieces-1))
	if st := m.Terminal(); client.Text(&st) != want.String() {
		t.Error("the output is not what was posted")
	}
	check(t, o.Ping(w.ctx))
	if n := told.Load(); n != posted {
		t.Errorf("the sender was told of %d actions, and posted %d", n, posted)
	}
	_, err := o.Post(w.ctx, state.Conn+1, o.uri, ahp.TerminalOutput{}, nil)
	if !errors.Is(err, client.ErrLost) {
		t.Errorf("posted to a connection that is not the present one: %v", err)
	}
}

func TestAnOwnerIsToldWhoEndedItsTerminal(t *testing.T) {
	w := newWorld(t)
	o := w.owner("alice", "laptop", "")
	check(t, w.connect("alice").DisposeTerminal(w.ctx, o.uri))
	select {
	case a := <-o.actions:
		if e, ok := a.(ahp.TerminalExited); !ok || !strings.Contains(e.Notice, "disposed by") {
			t.Errorf("it was told %+v", a)
		}
	case <-time.After(patience):
		t.Error("it was told nothing")
	}
	refused := make(chan error, 1)
	o.prints(w, nil, func(_ string, err error) { refused <- err })
	var r *client.Rejected
	if err := <-refused; !errors.As(err, &r) {
		t.Errorf("output to a terminal that is gone: %v", err)
	}
}

// BenchmarkOwner is how fast the output of a client-executed terminal goes from its
// owner through the host to one watcher, and ten.
func BenchmarkOwner(b *testing.B) {
	for _, n := range []int{1, 10} {
		for _, piece := range []int{4 << 10, 32 << 10} {
			b.Run(fmt.Sprintf("watchers=%d/pieces=%dKiB", n, piece>>10),
				func(b *testing.B) { benchmarkOwner(b, n, piece) })
		}
	}
}

func benchmarkOwner(b *testing.B, watchers, piece int) {
	const size = 16 << 20
	w := newWorld(b)
	o := w.owner("alice", "laptop", "")
	line := "\x1b[32m" + strings.Repeat("The quick brown fox ", 4) + "12345678" + "\x1b[0m\r\n"
	data := []byte(strings.Repeat(line, piece/len(line)))
	var all []watcher
	for i := range watchers {
		all = append(all, w.watcher(b, fmt.Sprintf("w%d", i), o.uri))
	}
	window := make(chan struct{}, 64)
	post := func(p []byte) {
		window <- struct{}{}
		o.prints(w, p, func(string, error) { <-window })
	}
	b.SetBytes(size)
	n := 0
	for b.Loop() {
		n++
		end := fmt.Sprintf("the-end-%d-", n)
		var done sync.WaitGroup
		for _, x := range all {
			done.Go(func() { x.until(b, end) })
		}
		for sent := 0; sent < size; sent += len(data) {
			post(data)
		}
		post([]byte(end))
		done.Wait()
	}
}

// BenchmarkTinyOutputs is how many outputs of one byte per second a host takes on one
// connection, and echoes.
func BenchmarkTinyOutputs(b *testing.B) {
	w := newWorld(b)
	o := w.owner("alice", "laptop", "")
	window := make(chan struct{}, 1024)
	for b.Loop() {
		window <- struct{}{}
		o.prints(w, []byte("x"), func(string, error) { <-window })
	}
	for range cap(window) {
		window <- struct{}{} // the echoes are here
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "outputs/s")
}

// TestAFloodingOwnerIsSlowedAndNobodyElse sends a quarter more than the rate limit lets through at
// once, which takes a second, and goes on until another client is answered.
func TestAFloodingOwnerIsSlowedAndNobodyElse(t *testing.T) {
	t.Parallel()
	// So low that any machine exceeds it.
	const rate, piece = 32 << 10, 8 << 10
	w := newWorld(t, func(c *host.Config) { c.ClientOutputRate = rate })
	o, other := w.owner("alice", "laptop", ""), w.connect("eve")
	begin := time.Now()
	const pieces = 5 * rate / piece // the bucket holds four seconds' worth
	notices, posted := make(chan string, 64), make(chan struct{}, rate/piece)
	var posting sync.WaitGroup
	var answered atomic.Bool
	posting.Go(func() {
		for i := 0; i < pieces || !answered.Load(); i++ {
			posted <- struct{}{}
			o.prints(w, bytes.Repeat([]byte{'x'}, piece), func(notice string, err error) {
				check(t, err)
				if notice != "" {
					notices <- notice
				}
				<-posted
			})
		}
	})
	select {
	case notice := <-notices:
		if !strings.Contains(notice, "client_output_rate") {
			t.Errorf("the owner was told %q", notice)
		}
	case <-w.ctx.Done():
		t.Fatal("the owner was not told")
	}
	check(t, other.Ping(w.ctx))
	answered.Store(true)
	posting.Wait()
	for range cap(posted) {
		posted <- struct{}{} // all was taken
	}
	if d := time.Since(begin); d < 700*time.Millisecond {
		t.Errorf("everything was taken after %s", d)
	}
	if len(notices) > 0 {
		t.Errorf("the owner was told again: %s", <-notices)
	}
}
