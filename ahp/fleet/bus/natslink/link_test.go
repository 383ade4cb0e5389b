package natslink_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"go.uber.org/goleak"

	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/bus/natslink"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/cable"
	"termhost/ahp/hosttest/slowtest"
)

func TestMain(m *testing.M) {
	if os.Getenv(boxVariable) != "" {
		if err := boxMain(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// town is a server with the keys of its hosts.
type town struct {
	t      testing.TB
	folder roster.Folder
	self   roster.Membership
	server *natslink.Server

	mu     sync.Mutex
	names  map[string]string
	guests time.Duration // for how long the token of guests is good
}

func newTown(t testing.TB) *town {
	w := &town{t: t, folder: roster.Folder(t.TempDir()), names: map[string]string{},
		guests: time.Hour}
	hosttest.Check(t, w.folder.Found("home", "127.0.0.1:0", nil))
	var err error
	if w.self, err = w.folder.Membership(); err != nil {
		t.Fatal(err)
	}
	w.serve("127.0.0.1:0")
	return w
}

func (w *town) serve(listen string) {
	certificate, err := w.folder.Certificate(w.self)
	hosttest.Check(w.t, err)
	w.server, err = natslink.Serve(natslink.ServerOptions{
		Listen: listen, Certificate: certificate, Log: slog.New(slog.DiscardHandler),
		Name: func(key string) string {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.names[key]
		},
		Home: "home", Guest: func(token string) (string, time.Time) {
			if token == "secret" {
				w.mu.Lock()
				defer w.mu.Unlock()
				return "join-1", time.Now().Add(w.guests)
			}
			return "", time.Time{}
		},
	})
	hosttest.Check(w.t, err)
	w.t.Cleanup(w.server.Close)
}

// options returns how a host connects; registered: the server knows its key.
func (w *town) options(name string, registered bool) (natslink.Options, string) {
	key, err := nkeys.CreateUser()
	hosttest.Check(w.t, err)
	public, err := key.PublicKey()
	hosttest.Check(w.t, err)
	tls, err := roster.ClientTLS(w.self.Authority)
	hosttest.Check(w.t, err)
	if registered {
		w.mu.Lock()
		w.names[public] = name
		w.mu.Unlock()
	}
	return natslink.Options{Name: name, Servers: []string{"tls://" + w.server.Addr().String()},
		TLS: tls, Key: key, Log: slog.New(slog.DiscardHandler)}, public
}

func (w *town) join(name string, h bus.Handlers) (*bus.Node, string) {
	o, public := w.options(name, true)
	n, err := bus.New(name, natslink.Connect(o), h)
	hosttest.Check(w.t, err)
	w.t.Cleanup(func() { n.Close() })
	return n, public
}

func echo(_ string, _ []byte, s *bus.Stream) {
	defer s.Close()
	_, _ = io.Copy(s, s)
}

func transfer(t *testing.T, s *bus.Stream, n int) {
	t.Helper()
	want := make([]byte, n)
	_, _ = rand.Read(want)
	go func() { _, _ = s.Write(want) }()
	got := make([]byte, n)
	if _, err := io.ReadFull(s, got); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("other bytes have come back (%v)", err)
	}
}

func TestHostsTalkThroughTheServerAndOutliveItsRestart(t *testing.T) {
	w := newTown(t)
	w.join("b", bus.Handlers{Opened: echo,
		Asked: func(_ context.Context, from string, _ []byte) ([]byte, error) {
			return []byte("hello " + from), nil
		}})
	a, _ := w.join("a", bus.Handlers{})
	if p, err := a.Request(t.Context(), "b", nil); string(p) != "hello a" {
		t.Fatalf("%q, %v", p, err)
	}
	s, err := a.Open("b", nil)
	hosttest.Check(t, err)
	defer s.Close()
	transfer(t, s, 3<<20)
	if !slowtest.On(t) { // hosts wait before they connect again
		return
	}
	at := w.server.Addr().String()
	w.server.Close()
	w.serve(at)
	transfer(t, s, 3<<20)
}

func TestAStrangerAndARemovedHostAreKeptOut(t *testing.T) {
	w := newTown(t)
	stranger, _ := w.options("b", false)
	if connects(stranger) {
		t.Error("a key that nobody has registered connects")
	}
	if plain, _ := w.options("b", true); true {
		plain.TLS = nil
		if connects(plain) {
			t.Error("the server is believed without a certificate of the fleet")
		}
	}
	b, public := w.join("b", bus.Handlers{})
	heard := make(chan struct{}, 100)
	w.join("a", bus.Handlers{Announced: func(from string, _ []byte) {
		if from == "b" {
			heard <- struct{}{}
		}
	}})
	hosttest.Check(t, b.Announce(nil))
	<-heard
	w.mu.Lock()
	delete(w.names, public)
	w.mu.Unlock()
	w.server.Prune()
	hosttest.Eventually(t, "the removed host is cut off", func() bool {
		return w.server.NumClients() == 2 // those of a
	})
}

// connects reports whether a host gets as far as a connection.
func connects(o natslink.Options) bool {
	public, _ := o.Key.PublicKey()
	options := []nats.Option{nats.Nkey(public, o.Key.Sign), nats.Timeout(5 * time.Second)}
	if o.TLS != nil {
		options = append(options, nats.Secure(o.TLS))
	}
	c, err := nats.Connect(o.Servers[0], options...)
	if err == nil {
		c.Close()
	}
	return err == nil
}

// Host c has its own key, and speaks NATS as it likes.
func TestAHostCanNeitherSpeakAsAnotherNorListenForIt(t *testing.T) {
	w := newTown(t)
	got := make(chan string, 10)
	w.join("b", bus.Handlers{
		Announced: func(from string, _ []byte) { got <- from }, Opened: echo})
	c, _ := w.options("c", true)
	public, err := c.Key.PublicKey()
	hosttest.Check(t, err)
	denied := make(chan error, 10)
	nc, err := nats.Connect(c.Servers[0], nats.Nkey(public, c.Key.Sign), nats.Secure(c.TLS),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err }))
	hosttest.Check(t, err)
	defer nc.Close()
	for _, subject := range []string{"th.a.b.c", "th.a.all.c", "th.a.b.b", "x", "_INBOX.x"} {
		hosttest.Check(t, nc.Publish(subject, make([]byte, 30)))
		if err := <-denied; !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("publishing %s: %v", subject, err)
		}
	}
	for _, subject := range []string{"th.>", "th.*.b.c", "th.*.*.c", ">", "_INBOX.>", "$SYS.>"} {
		_, err := nc.SubscribeSync(subject)
		hosttest.Check(t, err)
		if err := <-denied; !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("subscribing to %s: %v", subject, err)
		}
	}
	for range 20 {
		_, err := nc.SubscribeSync("th.*.c.c")
		hosttest.Check(t, err)
	}
	if err := <-denied; !errors.Is(err, nats.ErrMaxSubscriptionsExceeded) {
		t.Errorf("subscribing without end: %v", err)
	}
	announcement := make([]byte, 25)
	announcement[0] = 1
	hosttest.Check(t, nc.Publish("th.c.all.c", announcement))
	if from := <-got; from != "c" {
		t.Errorf("b hears of %q", from)
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{"a": true, "box-2": true, "": false, "all": false,
		"a.b": false, "A": false, "*": false, ">": false, "-a": false, "a b": false} {
		if natslink.ValidName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// A host sends more than the connection takes when its network has forgotten the connections.
func TestConnectionsThatTakeNothingAreGivenUp(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	slowtest.Hurry(t)
	w := newTown(t)
	w.join("b", bus.Handlers{Opened: echo})
	o, _ := w.options("a", true)
	way := cable.New(t, w.server.Addr().String())
	o.Servers = []string{"tls://" + way.Addr().String()}
	var link bus.Link
	a, err := bus.New("a", func(r bus.Receiver) (bus.Link, error) {
		var err error
		link, err = natslink.Connect(o)(r)
		return link, err
	}, bus.Handlers{})
	hosttest.Check(t, err)
	defer a.Close()
	s, err := a.Open("b", nil)
	hosttest.Check(t, err)
	defer s.Close()
	transfer(t, s, 1<<20)
	way.Lose()
	var sent atomic.Int64
	full := make(chan struct{})
	go func() {
		defer close(full)
		for range 1000 {
			_ = link.Send("c", bus.Bytes, make([]byte, 100<<10))
			sent.Add(1)
		}
	}()
	for before := int64(-1); before != sent.Load(); time.Sleep(time.Second / 2) {
		before = sent.Load() // until nothing more is taken
	}
	a.Reconnect() // it does not wait
	go func() { _, _ = s.Write(make([]byte, 10<<10)) }()
	hosttest.Eventually(t, "the stream goes on", func() bool {
		_ = s.SetReadDeadline(time.Now().Add(time.Second))
		_, err := io.ReadFull(s, make([]byte, 10<<10))
		return err == nil
	})
	<-full
}

// Credentials that are made for another host, as an operator of NATS makes them.
func TestAHostIsToldThatItMayNotSpeakAsItself(t *testing.T) {
	w := newTown(t)
	o, public := w.options("box", true)
	w.mu.Lock()
	w.names[public] = "other"
	w.mu.Unlock()
	o.Once = true
	if _, err := bus.New("box", natslink.Connect(o), bus.Handlers{}); !errors.Is(err, natslink.ErrDenied) {
		t.Errorf("who connects once gets %v", err)
	}
	o.Once = false
	denied := make(chan error, 100)
	o.Denied = func(err error) { denied <- err }
	n, err := bus.New("box", natslink.Connect(o), bus.Handlers{})
	hosttest.Check(t, err)
	defer n.Close()
	hosttest.Check(t, n.Announce([]byte("here")))
	missing := []string{"th.*.box.c", "th.*.box.b", "th.box.all.c"}
	for len(missing) > 0 {
		select {
		case err := <-denied:
			missing = slices.DeleteFunc(missing, func(subject string) bool {
				return errors.Is(err, natslink.ErrDenied) && strings.Contains(err.Error(), subject)
			})
		case <-time.After(hosttest.Patience):
			t.Fatalf("nothing is said of %s", missing)
		}
	}

	// Otherwise it is logged, and once: a host speaks every few seconds.
	var log hosttest.Log
	o.Denied, o.Log = nil, log.Logger()
	loud, err := bus.New("box", natslink.Connect(o), bus.Handlers{})
	hosttest.Check(t, err)
	defer loud.Close()
	hosttest.Eventually(t, "both connections have logged it", func() bool {
		hosttest.Check(t, loud.Announce([]byte("here")))
		return strings.Count(log.String(), "not heard") == 2
	})
}
