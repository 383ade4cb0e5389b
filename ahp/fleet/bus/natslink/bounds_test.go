package natslink_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/bus/natslink"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// answers is a host that answers everybody.
var answers = bus.Handlers{Asked: func(_ context.Context, from string, _ []byte) ([]byte, error) {
	return []byte("hello " + from), nil
}}

// talks fails the test if a gets no answer from b.
func talks(t *testing.T, a *bus.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hosttest.Patience)
	defer cancel()
	if p, err := a.Request(ctx, "b", nil); string(p) != "hello "+a.Name() {
		t.Fatalf("%s is answered %q, %v", a.Name(), p, err)
	}
}

// dial speaks to the server as a client does that ends when its connection does. ended is closed
// then.
func dial(t *testing.T, o natslink.Options, more ...nats.Option) (c *nats.Conn, ended chan struct{}) {
	t.Helper()
	ended = make(chan struct{})
	options := append([]nats.Option{nats.Secure(o.TLS), nats.NoReconnect(),
		nats.Timeout(hosttest.Patience), nats.ClosedHandler(func(*nats.Conn) { close(ended) })}, more...)
	if o.Token != "" {
		options = append(options, nats.Token(o.Token))
	} else {
		public, err := o.Key.PublicKey()
		hosttest.Check(t, err)
		options = append(options, nats.Nkey(public, o.Key.Sign))
	}
	c, err := nats.Connect(o.Servers[0], options...)
	hosttest.Check(t, err)
	t.Cleanup(c.Close)
	return c, ended
}

// Strangers open connections and say nothing, as fast as they can.
func TestSilentStrangersAreFewAndKeepNobodyOut(t *testing.T) {
	w := newTown(t)
	w.join("b", answers)
	most := 0
	for range 1400 {
		c, err := net.Dial("tcp", w.server.Addr().String())
		hosttest.Check(t, err)
		t.Cleanup(func() { c.Close() })
		most = max(most, w.server.NumClients())
	}
	a, _ := w.join("a", bus.Handlers{})
	talks(t, a)
	if most > 1100 { // 4 times maxStrangers, those of b, and some that are about to end
		t.Errorf("%d silent connections were open at once", most)
	}
}

// Strangers who keep the server waiting, for the first byte of TLS or the last one of CONNECT, are
// cut off.
func TestStrangersAreNotWaitedFor(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	w := newTown(t)
	silent, err := net.Dial("tcp", w.server.Addr().String())
	hosttest.Check(t, err)
	defer silent.Close()
	o, _ := w.options("stranger", false)
	below, err := net.Dial("tcp", w.server.Addr().String())
	hosttest.Check(t, err)
	defer below.Close()
	info := make([]byte, 4096)
	_, err = below.Read(info)
	hosttest.Check(t, err)
	slow := tls.Client(below, o.TLS)
	hosttest.Check(t, slow.Handshake())
	go func() {
		_, err := slow.Write([]byte(`CONNECT {"name": "`))
		for ; err == nil; time.Sleep(100 * time.Millisecond) {
			_, err = slow.Write([]byte("x"))
		}
	}()
	for what, c := range map[string]net.Conn{"silent": silent, "slow": slow} {
		_ = c.SetReadDeadline(time.Now().Add(hosttest.Patience))
		var late net.Error
		for err = nil; err == nil; {
			_, err = c.Read(info)
		}
		if errors.As(err, &late) && late.Timeout() {
			t.Errorf("the %s one stays", what)
		}
	}
	hosttest.Eventually(t, "both are gone", func() bool { return w.server.NumClients() == 0 })
}

// Whoever has the key of c opens connections without end. The other hosts do not notice, and c
// itself, of which the network has forgotten some, gets in.
func TestAHostHasFewConnectionsAndItsOldestEnds(t *testing.T) {
	w := newTown(t)
	w.join("b", answers)
	a, _ := w.join("a", bus.Handlers{})
	o, _ := w.options("c", true)
	var ended []chan struct{}
	for i := range 20 {
		_, end := dial(t, o)
		if ended = append(ended, end); i >= 4 {
			<-ended[i-4]
		}
	}
	hosttest.Eventually(t, "four of c are left", func() bool { return w.server.NumClients() == 4+4 })
	talks(t, a)
	c, err := bus.New("c", natslink.Connect(o), bus.Handlers{})
	hosttest.Check(t, err)
	defer c.Close()
	talks(t, c)
}

// Somebody has the token of a line to join.
func TestAGuestIsThereForAMomentAndSpeaksToTheHomeOnly(t *testing.T) {
	w := newTown(t)
	o, _ := w.options("", false)
	o.Token = "secret"
	denied := make(chan error, 10)
	c, ended := dial(t, o, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		denied <- err
	}))
	for _, subject := range []string{"th.join-1.b.c", "th.join-1.all.c", "th.home.b.c"} {
		hosttest.Check(t, c.Publish(subject, nil))
		if err := <-denied; !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("publishing %s: %v", subject, err)
		}
	}
	_, err := c.SubscribeSync("th.*.all.c")
	hosttest.Check(t, err)
	if err := <-denied; !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("listening to what is for all: %v", err)
	}
	w.server.End("join-1")
	<-ended
	var first chan struct{}
	for i := range 5 {
		if _, end := dial(t, o); i == 0 {
			first = end
		}
	}
	<-first
	w.server.End("join-1")
	w.mu.Lock()
	w.guests = time.Second / 2
	w.mu.Unlock()
	_, ended = dial(t, o) // its token expires
	<-ended
}

// A guest stays no longer than it takes to join, however long the token is good.
func TestAGuestDoesNotStay(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	w := newTown(t)
	o, _ := w.options("", false)
	o.Token = "secret"
	_, ended := dial(t, o)
	<-ended
}
