package client_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/ahp/transport"
)

// network lets a test cut the connections that go through it.
type network struct {
	mu    sync.Mutex
	conns []*cuttable
}

// through returns a Dialer whose transports can be cut.
func (n *network) through(d client.Dialer) client.Dialer {
	return func(ctx context.Context) (transport.Transport, error) {
		t, err := d(ctx)
		if err != nil {
			return nil, err
		}
		c := &cuttable{Transport: t, cut: make(chan struct{})}
		n.mu.Lock()
		defer n.mu.Unlock()
		n.conns = append(n.conns, c)
		return c, nil
	}
}

// drop cuts the newest connection without telling the peer.
func (n *network) drop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.conns[len(n.conns)-1]
	c.once.Do(func() { close(c.cut); c.Transport.Close("cut") })
}

// cuttable is a Transport that loses, when it is cut, what it has read and not yet
// returned.
type cuttable struct {
	transport.Transport
	once   sync.Once
	cut    chan struct{}
	closed atomic.Bool // by the client
}

func (c *cuttable) Close(reason string) error {
	c.closed.Store(true)
	return c.Transport.Close(reason)
}

func (c *cuttable) Read() ([]byte, error) {
	msg, err := c.Transport.Read()
	select {
	case <-c.cut:
		return nil, errors.New("cut")
	default:
		return msg, err
	}
}

func (c *cuttable) Finish() {
	if f, ok := c.Transport.(transport.Finisher); ok {
		f.Finish()
	}
}

// TestAReconnectMissesNothing cuts a client off five times in the middle of 10 MiB of a program's
// output, and compares its copy with the output.
func TestAReconnectMissesNothing(t *testing.T) {
	t.Parallel()
	const drops, piece = 5, 2 << 20
	w := newWorld(t, func(c *host.Config) { c.LogBytes, c.ScrollbackBytes = 64<<20, 32<<20 })
	file := filepath.Join(t.TempDir(), "data")
	data := pattern(drops * piece)
	check(t, os.WriteFile(file, data, 0o600))
	var n network
	var lost, back atomic.Int32
	c := w.connect("alice", func(c *client.Config) {
		c.Dial = n.through(c.Dial)
		c.MirrorBytes = 64 << 20
		c.OnState = func(s client.State) {
			if s.Connected {
				back.Store(lost.Load())
			} else {
				lost.Add(1)
			}
		}
	})
	const ready = "ready"
	m := w.run(c, "t", "exec 3<"+file+"; stty raw -echo; printf "+ready+"; "+
		"while read x; do head -c 2097152 <&3; done")
	w.sees(m, ready)
	for i := range drops {
		w.types(c, m, "go\n")
		before := len(ready) + i*piece
		w.waits(m, func(s *ahp.TerminalState) bool { return length(s) >= before+piece/4 })
		n.drop()
		hosttest.Eventually(t, "the client is back", func() bool { // what is typed before is lost
			return int(back.Load()) > i
		})
		w.waits(m, func(s *ahp.TerminalState) bool { return length(s) >= before+piece })
	}
	st := m.Terminal()
	got := strings.TrimPrefix(client.Text(&st), ready)
	if sha256.Sum256([]byte(got)) != sha256.Sum256(data) {
		t.Errorf("%d bytes came of %d, and not the same", len(got), len(data))
	}
	check(t, c.Close())
	if n := lost.Load(); n != drops {
		t.Errorf("the connection was lost %d times, want %d", n, drops)
	}
}

// A client that is closed at the very moment in which it has connected ends that connection.
func TestAClientClosedWhileItConnectsLeavesNoConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var n network
	var c *client.Client
	closed := make(chan error, 1)
	c = w.connect("alice", func(cfg *client.Config) {
		cfg.Dial = n.through(cfg.Dial)
		cfg.OnState = func(s client.State) {
			if !s.Connected || s.Conn == 1 {
				return
			}
			go func() { closed <- c.Close() }()
			for c.Err() == nil {
				runtime.Gosched()
			}
		}
	})
	n.drop()
	check(t, <-closed)
	if !n.conns[len(n.conns)-1].closed.Load() {
		t.Error("the connection is left open")
	}
}

// pattern returns lines of text, all different.
func pattern(size int) []byte {
	b := make([]byte, size)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = ' ' + byte(x>>24)%95
		if i%80 == 79 {
			b[i] = '\n'
		}
	}
	return b
}

func length(s *ahp.TerminalState) int {
	n := 0
	for i := range s.Content {
		n += s.Content[i].Text.Len()
	}
	return n
}

// TestALaggingClientIsResynchronised has a client stop reading while more is written
// than the log and the kernel's buffers hold.
func TestALaggingClientIsResynchronised(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *host.Config) { c.LogBytes, c.ScrollbackBytes = 256<<10, 128<<10 })
	alice, eve := w.connect("alice"), w.connect("eve")
	release := make(chan struct{})
	goOn := sync.OnceFunc(func() { close(release) })
	var gate gated
	late := w.connect("bob", func(c *client.Config) { c.Dial = gate.through(c.Dial, release) })
	t.Cleanup(goOn) // before the client is closed, which waits for its reader
	term := w.run(alice, "t", `read x; head -c 16777216 /dev/zero | tr '\0' x | fold -w 99; `+
		`printf '\nthe end'; read y`)
	behind, root := w.follow(late, term.URI()), w.follow(late, ahp.RootURI)
	healthy := w.follow(eve, term.URI())
	gate.shut()
	w.types(alice, term, "\r")
	w.sees(healthy, "the end")
	check(t, alice.Dispatch(w.ctx, term.URI(), ahp.TerminalTitleChanged{Title: "meanwhile"}))
	check(t, alice.Dispatch(w.ctx, term.URI(), ahp.TerminalResized{Cols: 91, Rows: 31}))
	st := behind.Terminal()
	if strings.Contains(client.Text(&st), "the end") {
		t.Error("the client that stopped has read on")
	}
	goOn()
	w.waits(behind, func(s *ahp.TerminalState) bool {
		return s.Title == "meanwhile" && s.Cols == 91 && strings.Contains(client.Text(s), "the end")
	})
	check(t, root.WaitRoot(w.ctx, func(s *ahp.RootState) bool {
		return len(s.Terminals) == 1 && s.Terminals[0].Title == "meanwhile"
	}))
	// It has caught up: it ends as a fresh snapshot does. On a slow machine the snapshot that it got
	// was of before the end, and has earlier lines.
	check(t, late.Ping(w.ctx))
	fresh := w.follow(w.connect("eve"), term.URI()).Terminal()
	st = behind.Terminal()
	if !strings.HasSuffix(client.Text(&st), client.Text(&fresh)) || st.Claim != fresh.Claim ||
		st.Title != fresh.Title || st.Rows != fresh.Rows || st.Cwd != fresh.Cwd {
		t.Errorf("it has %d bytes of output, a fresh snapshot %d", length(&st), length(&fresh))
	}
	w.types(alice, term, "echoed")
	w.sees(behind, "echoed")
}

// gated lets a test stop a transport from being read.
type gated struct {
	mu     sync.Mutex
	closed bool
}

func (g *gated) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

func (g *gated) through(d client.Dialer, release <-chan struct{}) client.Dialer {
	return func(ctx context.Context) (transport.Transport, error) {
		t, err := d(ctx)
		return &gatedTransport{Transport: t, gate: g, release: release}, err
	}
}

type gatedTransport struct {
	transport.Transport
	gate    *gated
	release <-chan struct{}
}

func (t *gatedTransport) Read() ([]byte, error) {
	t.gate.mu.Lock()
	closed := t.gate.closed
	t.gate.mu.Unlock()
	if closed {
		<-t.release
	}
	return t.Transport.Read()
}

func (t *gatedTransport) Finish() { t.Transport.(transport.Finisher).Finish() }

func TestTwoClientsRaceForAClaim(t *testing.T) {
	w := newWorld(t)
	alice := w.connect("alice")
	bob, carol := w.connect("bob"), w.connect("carol")
	for round := range 20 {
		uri := w.create(alice, "race-"+string(rune('a'+round)), "read x")
		views := []*client.Mirror{w.follow(bob, uri), w.follow(carol, uri)}
		racers := []*client.Client{bob, carol}
		outcome := make([]error, 2)
		var race sync.WaitGroup
		for i, c := range racers {
			race.Go(func() {
				mine := ahp.TerminalClaimed{Claim: ahp.ClientClaim(c.ID())}
				outcome[i] = c.Dispatch(w.ctx, uri, mine)
			})
		}
		// Meanwhile the holder gives it to bob. An operator cannot take it.
		check(t, alice.Dispatch(w.ctx, uri, ahp.TerminalClaimed{Claim: ahp.ClientClaim(bob.ID())}))
		race.Wait()
		check(t, bob.Ping(w.ctx))
		check(t, carol.Ping(w.ctx))
		a, b := views[0].Terminal(), views[1].Terminal()
		if a.Claim != b.Claim || a.Claim != ahp.ClientClaim(bob.ID()) {
			t.Fatalf("round %d: they see %v and %v; %v", round, a.Claim, b.Claim, outcome)
		}
		var rejected *client.Rejected
		if !errors.As(outcome[1], &rejected) {
			t.Errorf("round %d: carol took a terminal that was not hers: %v", round, outcome[1])
		}
	}
}

// The host's clock stands still: however busy the machine is, the claims are made at one moment.
func TestTwoAdminsRaceForAClaim(t *testing.T) {
	now := time.Now()
	w := newWorld(t, func(c *host.Config) { c.Now = func() time.Time { return now } })
	owner := w.connect("bob")
	racers := []*client.Client{w.connect("alice"), w.connect("ann")}
	for round := range 20 {
		uri := w.create(owner, "race-"+string(rune('a'+round)), "read x")
		view := w.follow(owner, uri)
		outcome := make([]error, len(racers))
		var race sync.WaitGroup
		for i, c := range racers {
			race.Go(func() {
				mine := ahp.TerminalClaimed{Claim: ahp.ClientClaim(c.ID())}
				outcome[i] = c.Dispatch(w.ctx, uri, mine)
			})
		}
		race.Wait()
		if (outcome[0] == nil) == (outcome[1] == nil) {
			t.Fatalf("round %d: %v and %v, want one of them to win", round, outcome[0], outcome[1])
		}
		winner := racers[0]
		if outcome[0] != nil {
			winner = racers[1]
		}
		before := ahp.ClientClaim(owner.ID())
		w.waits(view, func(s *ahp.TerminalState) bool { return s.Claim != before })
		if st := view.Terminal(); st.Claim != ahp.ClientClaim(winner.ID()) {
			t.Errorf("round %d: %v holds it, want the winner", round, st.Claim)
		}
	}
}

// TestAClientBeginsAnewAtAHostThatForgotIt replaces the host while the client is
// away.
func TestAClientBeginsAnewAtAHostThatForgotIt(t *testing.T) {
	first := newWorld(t)
	second := newWorld(t)
	var mu sync.Mutex
	url := first.url
	var n network
	c := first.connect("alice", func(c *client.Config) {
		c.Dial = n.through(func(ctx context.Context) (transport.Transport, error) {
			mu.Lock()
			defer mu.Unlock()
			return client.WebSocket(url, client.WebSocketOptions{Token: "alice"})(ctx)
		})
	})
	root := first.follow(c, ahp.RootURI)
	term := first.run(c, "here", "read x")
	check(t, root.WaitRoot(first.ctx, func(s *ahp.RootState) bool { return len(s.Terminals) == 1 }))
	mu.Lock()
	url = second.url
	mu.Unlock()
	n.drop()
	check(t, root.WaitRoot(first.ctx, func(s *ahp.RootState) bool { return len(s.Terminals) == 0 }))
	err := term.WaitTerminal(first.ctx, func(*ahp.TerminalState) bool { return false })
	if !errors.Is(err, client.ErrGone) {
		t.Errorf("a terminal that is not there: %v", err)
	}
	check(t, c.Ping(first.ctx))
}

func TestNothingIsAnsweredWithoutAConnection(t *testing.T) {
	w := newWorld(t)
	var n network
	c := w.connect("alice", func(c *client.Config) {
		c.Dial = n.through(c.Dial)
		c.NoReconnect = true
	})
	m := w.run(c, "t", "read x")
	n.drop()
	if err := m.WaitTerminal(w.ctx, func(*ahp.TerminalState) bool { return false }); err == nil {
		t.Error("the mirror lives on")
	}
	<-c.Done()
	if err := c.Dispatch(w.ctx, m.URI(), ahp.TerminalCleared{}); err == nil {
		t.Error("an action was accepted without a connection")
	}
	if err := c.Ping(w.ctx); err == nil || c.Err() == nil {
		t.Error("a ping was answered without a connection")
	}
}

func TestATakenOverClientDoesNotFightForItsName(t *testing.T) {
	w := newWorld(t)
	name := func(c *client.Config) { c.ClientID = "same" }
	first := w.connect("alice", name)
	w.connect("alice", name)
	select {
	case <-first.Done():
	case <-w.ctx.Done():
		t.Fatal("it does not end")
	}
	if err := first.Err(); err == nil || !strings.Contains(err.Error(), "taken over") {
		t.Errorf("it ended with %v", err)
	}
}

// TestLinesCarryAClient connects without a WebSocket, as through ssh -s ahp.
func TestLinesCarryAClient(t *testing.T) {
	w := newWorld(t)
	dial := client.Lines(func(context.Context) (io.ReadWriteCloser, error) {
		return hosttest.Dial(t, w.host, principals()["alice"], rpc.Options{})
	})
	var n network
	cfg := client.Config{Dial: n.through(dial), MinBackoff: time.Millisecond}
	c, err := client.Connect(w.ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	m := w.run(c, "t", "read x; echo got $x; read y")
	n.drop()
	for { // ErrLost until it is connected again
		err := c.Dispatch(w.ctx, m.URI(), ahp.TerminalInput{Data: []byte("it\r")})
		if err == nil {
			break
		}
		if !errors.Is(err, client.ErrLost) {
			t.Fatal(err)
		}
	}
	w.sees(m, "got it")
}

func TestAMirrorIsBounded(t *testing.T) {
	w := newWorld(t)
	c := w.connect("alice", func(c *client.Config) { c.MirrorBytes = 100 << 10 })
	m := w.run(c, "t", `read x; head -c 3000000 /dev/zero | tr '\0' x | fold -w 99; `+
		`echo; echo the end; read y`)
	w.types(c, m, "\r")
	w.waits(m, func(s *ahp.TerminalState) bool {
		if n := length(s); n > 130<<10 {
			t.Errorf("the mirror holds %d bytes", n)
		}
		return strings.HasSuffix(client.Text(s), "the end\r\n")
	})
	m.Close()
	if m.Err() == nil {
		t.Error("a closed mirror lives on")
	}
}
