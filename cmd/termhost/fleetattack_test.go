package main

import (
	"bytes"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/bus/natslink"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

// thief has what is in the state folder of a host that was broken into.
type thief struct {
	host string
	self roster.Membership
	tls  *tls.Config
	link natslink.Options
}

func (h *fleetHost) robbed() *thief {
	h.w.t.Helper()
	folder := roster.In(h.state())
	self, err := folder.Membership()
	hosttest.Check(h.w.t, err)
	key, err := folder.Key()
	hosttest.Check(h.w.t, err)
	secure, err := roster.ClientTLS(self.Authority)
	hosttest.Check(h.w.t, err)
	return &thief{h.name, self, secure, natslink.Options{Name: h.name, Servers: self.Servers,
		TLS: secure, Key: key, Once: true, Log: slog.New(slog.DiscardHandler)}}
}

// A host that is broken into, and is no door, hears nothing that is for others, and is believed by
// nobody as anybody.
func TestAHostThatIsBrokenIntoIsNobodyElse(t *testing.T) {
	slow(t)
	t.Parallel()
	w, home := newFleet(t, "")
	box, other := w.join("box", w.listen, ""), w.join("other", w.listen, "")
	w.together()
	stolen := box.robbed()
	_ = box.serve.Stop(os.Kill)

	denied := make(chan error, 10)
	public, err := stolen.link.Key.PublicKey()
	hosttest.Check(t, err)
	nc, err := nats.Connect(stolen.self.Servers[0], nats.Secure(stolen.tls),
		nats.Nkey(public, stolen.link.Key.Sign),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err }))
	hosttest.Check(t, err)
	defer nc.Close()
	refuses(t, nc, denied, []string{">", "th.*.other.c", "th.home.other.b", "th.*.home.*"},
		[]string{"th.home.other.c", "th.home.all.c", "th.other.home.b", "th.other.home.c",
			"th.other.all.c"}) // a door's, and bytes, answers and heartbeats of another host
	for _, as := range []string{"box", "home"} {
		o := stolen.link
		o.Name, o.Once = as, false // a client that is honest gives up where it is refused
		node, err := bus.New(as, natslink.Connect(o), bus.Handlers{})
		hosttest.Check(t, err)
		s, err := node.Open("other", []byte(fleet.KindCarried))
		hosttest.Check(t, err)
		_ = s.SetDeadline(time.Now().Add(5 * time.Second))
		if _, err := speaks(s, "other", as, stolen); err == nil {
			t.Errorf("it is let in as %s", as)
		}
		node.Close()
	}
	if !strings.Contains(other.logged(), `a host that is not a door was refused","host":"box"`) {
		t.Errorf("the host that was attacked logs %s", other.logged())
	}
	if strings.Contains(other.audit(), `"login","who":"alice"`) {
		t.Errorf("somebody has logged in: %s", other.audit())
	}
	home.run("alice", "new --on other -d -n fine -- cat")
}

// refuses checks that a server lets a connection neither subscribe to subjects nor publish them.
func refuses(t *testing.T, nc *nats.Conn, denied <-chan error, subscribe, publish []string) {
	t.Helper()
	slowtest.Hurry(t)
	for _, subject := range subscribe {
		_, err := nc.SubscribeSync(subject)
		hosttest.Check(t, err)
		err = slowtest.Receive(t, "subscribing to "+subject+" is refused", denied)
		if !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("subscribing to %s: %v", subject, err)
		}
	}
	for _, subject := range publish {
		hosttest.Check(t, nc.Publish(subject, []byte("x")))
		err := slowtest.Receive(t, "publishing "+subject+" is refused", denied)
		if !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("publishing %s: %v", subject, err)
		}
	}
}

// speaks logs in at a host over a stream as alice, in the name of a door, with the key of a thief.
func speaks(nc net.Conn, owner, door string, by *thief) (gossh.Conn, error) {
	signer, err := roster.Signer(by.link.Key)
	if err != nil {
		return nil, err
	}
	a := fleet.Assertion{Owner: owner, Door: door, Principal: authz.Principal{
		ID: "uid:0", Name: "alice", Role: authz.Admin}}
	c, _, _, err := gossh.NewClientConn(nc, owner, &gossh.ClientConfig{User: a.String(),
		Auth:            []gossh.AuthMethod{gossh.PublicKeys(signer)},
		HostKeyCallback: gossh.InsecureIgnoreHostKey()})
	return c, err
}

// operator is whoever runs the NATS servers: everything passes there, and they may say anything.
type operator struct {
	t  *testing.T
	nc *nats.Conn

	mu  sync.Mutex // a leaf
	all []*nats.Msg
}

// operate runs a server without permissions, and records what passes.
func operate(t *testing.T) (o *operator, url string) {
	t.Helper()
	s, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT,
		NoSigs: true, NoLog: true})
	hosttest.Check(t, err)
	s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server does not start")
	}
	o = &operator{t: t}
	o.nc, err = nats.Connect(s.ClientURL())
	hosttest.Check(t, err)
	t.Cleanup(o.nc.Close)
	_, err = o.nc.Subscribe("th.>", func(m *nats.Msg) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.all = append(o.all, m)
	})
	hosttest.Check(t, err)
	return o, s.ClientURL()
}

// passed returns the messages of a subject so far.
func (o *operator) passed(subject string) (list [][]byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.all {
		if m.Subject == subject {
			list = append(list, m.Data)
		}
	}
	return list
}

// as returns a node that pretends to be a host.
func (o *operator) as(name, url string, h bus.Handlers) *bus.Node {
	o.t.Helper()
	n, err := bus.New(name, natslink.Connect(natslink.Options{Name: name, Servers: []string{url},
		Log: slog.New(slog.DiscardHandler)}), h)
	hosttest.Check(o.t, err)
	o.t.Cleanup(func() { n.Close() })
	return n
}

// operated returns two hosts of a fleet, and who runs their servers.
func operated(t *testing.T) (evil *operator, url string, home, box *fleetHost) {
	t.Helper()
	evil, url = operate(t)
	servers := "[fleet]\nservers = [\"" + url + "\"]"
	w, home := newFleet(t, servers)
	box = w.host("box", servers)
	box.joins(w.token(), url)
	box.start()
	w.together()
	return evil, url, home, box
}

// Whoever runs the servers can read nothing, say nothing in a door's name, again or for the first
// time, and be no host: all they can do is withhold.
func TestWhoRunsTheServersCanOnlyWithhold(t *testing.T) {
	slow(t)
	t.Parallel()
	evil, url, home, box := operated(t)
	const canary = "canary-of-a-terminal"
	home.run("alice", "new --on box -d -n work -- echo "+canary+"; exec cat")
	hosttest.Eventually(t, "it can be seen", func() bool {
		return strings.Contains(home.run("alice", "peek box/work"), canary)
	})
	before := strings.Count(box.audit(), `"login","who":"alice"`)
	for _, subject := range []string{"th.home.box.b", "th.box.home.b"} {
		passed := evil.passed(subject)
		if len(passed) == 0 || bytes.Contains(bytes.Join(passed, nil), []byte(canary)) {
			t.Errorf("of %s the server sees %d messages, in which the screen is, or none", subject,
				len(passed))
		}
	}

	// An old assertion, and all that followed it, on another stream in the door's name.
	thaw := home.freeze() // it would say that it knows nothing of this
	home2 := evil.as("home", url, bus.Handlers{})
	s, err := home2.Open("box", []byte(fleet.KindCarried))
	hosttest.Check(t, err)
	const data, head = 6, 25 // see package bus
	for _, p := range evil.passed("th.home.box.b") {
		if len(p) > head && p[0] == data {
			if _, err := s.Write(p[head:]); err != nil {
				break
			}
		}
	}
	_ = s.SetReadDeadline(time.Now().Add(patience))
	for err = nil; err == nil; {
		_, err = s.Read(make([]byte, 1<<10))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the host waits for more of an old connection")
	}

	// A new one, with the key of a host that is none of the fleet's doors.
	s, err = home2.Open("box", []byte(fleet.KindCarried))
	hosttest.Check(t, err)
	if _, err := speaks(s, "box", "home", box.robbed()); err == nil {
		t.Error("an assertion that the door has not signed is taken")
	}
	if after := strings.Count(box.audit(), `"login","who":"alice"`); after != before {
		t.Errorf("alice has logged in %d times, and before %d", after, before)
	}
	hosttest.Eventually(t, "the audit log says who was refused", func() bool {
		return strings.Contains(box.audit(), `"refused","reason":"it does not have the key of the door"`)
	})

	// Somebody else in the place of a host.
	hosttest.Check(t, home2.Close())
	thaw()
	_ = box.serve.Stop(os.Kill)
	fake := newSigner(t)
	box2 := evil.as("box", url, bus.Handlers{Opened: func(_ string, _ []byte, s *bus.Stream) {
		defer s.Close()
		c := &gossh.ServerConfig{NoClientAuth: true}
		c.AddHostKey(fake)
		_, _, _, _ = gossh.NewServerConn(s, c)
	}})
	hosttest.Check(t, box2.Announce([]byte(`{"boot":"x","version":"1"}`)))
	if said, err := home.ask("alice", "peek box/work"); err == nil ||
		!strings.Contains(said, "it does not have the key of box") {
		t.Errorf("somebody else in the place of box: %q, %v", said, err)
	}
}
