package fleet

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nkeys"
	"golang.org/x/crypto/ssh"

	"termhost/ahp/age"
	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/bus/natslink"
	"termhost/ahp/fleet/roster"
)

// Options are what a Fleet is made from.
type Options struct {
	Folder roster.Folder
	// Name is what this host is to be called; "": as it has joined.
	Name string
	// Servers, CredentialsFile and CAFile are those of a NATS cluster, instead of the fleet's own
	// server.
	Servers         []string
	CredentialsFile string
	CAFile          string
	// Labels are this host's.
	Labels  map[string]string
	Version string
	// Terminals returns how many terminals run here.
	Terminals func() int
	// Names are the NAMEs of the terminals here; nil: they are not told.
	Names Names
	// Serve serves a stream from a door until it ends, and closes it.
	Serve func(f *Fleet, kind Kind, door roster.Member, nc net.Conn)
	Log   *slog.Logger

	// Connect makes the link; nil: it is one on NATS.
	Connect bus.Connect
}

// Names are the NAMEs of a host's terminals.
type Names interface {
	// Names returns them.
	Names() []string
	// FollowNames has changed called, which waits for nothing, whenever they change; nil ends that.
	FollowNames(changed func())
}

// Kind is what a stream is for.
type Kind string

// The kinds of streams.
const (
	// KindCarried is an SSH connection with which a door speaks for its user.
	KindCarried Kind = "carried"
	// KindJump is a connection to the host's own SSH server, as over TCP.
	KindJump Kind = "jump"
	// kindRoster is the signed roster, and kindHosts what a door knows of the hosts.
	kindRoster Kind = "roster"
	kindHosts  Kind = "hosts"
)

// Fleet is a host's part in a fleet. Its methods may be called concurrently.
type Fleet struct {
	o      Options
	self   roster.Membership
	key    nkeys.KeyPair
	signer ssh.Signer
	boot   string // of this process
	server *natslink.Server
	node   *bus.Node
	ready  chan struct{} // closed when node is set: the handlers wait for that

	stop    chan struct{}
	ended   chan struct{} // closed when run has ended
	running sync.WaitGroup
	speak   chan struct{} // 1 deep: announce at once
	renamed chan struct{} // 1 deep: announce the names, which have changed

	storing sync.Mutex // held while a roster that has come is stored; mu is taken under it
	hearing sync.Mutex // held while it is chosen who is heard; likewise

	mu        sync.Mutex // a leaf
	roster    roster.Roster
	file      os.FileInfo // of roster
	peers     map[string]*peer
	removal   int              // see sign
	turns     map[string]*turn // by the host that has a newer roster
	told      map[string]bool  // see news
	answering bool             // an announcement is due that another host has asked for
	closed    bool
	heardUs   time.Time // when an announcement of our own came back
	beats     beats
}

// Open puts the host into the fleet that its folder names; the error is roster.ErrNoFleet if there
// is none, and roster.ErrRemoved if the host is not in it any more. A server that cannot be reached
// is no error: it is tried again for ever.
func Open(o Options) (_ *Fleet, err error) {
	f := &Fleet{o: o, boot: rand.Text(), stop: make(chan struct{}), ended: make(chan struct{}),
		speak: make(chan struct{}, 1), renamed: make(chan struct{}, 1),
		ready: make(chan struct{}), peers: map[string]*peer{},
		turns: map[string]*turn{}, heardUs: time.Now(), beats: newBeats()}
	if f.self, err = o.Folder.Membership(); err != nil {
		return nil, err
	}
	if o.Name != "" && o.Name != f.self.Name {
		return nil, &NameError{f.self.Name, o.Name}
	}
	if f.key, err = o.Folder.Key(); err != nil {
		return nil, err
	}
	if f.signer, err = roster.Signer(f.key); err != nil {
		return nil, err
	}
	f.file = o.Folder.RosterChanged()
	if f.roster, err = o.Folder.Roster(f.self.Root); err != nil {
		return nil, err
	}
	f.removal = f.roster.Version // those before are not known
	if _, is := f.roster.Named(f.self.Name); !is {
		return nil, roster.ErrRemoved
	}
	connect, err := f.connect()
	if err == nil {
		f.node, err = bus.New(f.self.Name, connect, bus.Handlers{
			Announced: f.announced, Hears: hears(f.roster, f.self.Name),
			Connected: f.soon, Asked: f.asked, Opened: f.opened,
		})
	}
	close(f.ready)
	if err != nil {
		if f.server != nil {
			f.server.Close()
		}
		return nil, err
	}
	f.running.Go(f.run)
	if o.Names != nil {
		o.Names.FollowNames(f.namesChanged)
	}
	return f, nil
}

// NameError says that a host is in its fleet by another name than the one that it is to have.
type NameError struct{ Is, Configured string }

func (e *NameError) Error() string {
	return fmt.Sprintf("it is called %s there, and %s in the configuration: write name = %q in"+
		" [fleet], or leave the fleet and join it again", e.Is, e.Configured, e.Is)
}

// connect returns what makes the host's link, and starts the fleet's server if it is here.
func (f *Fleet) connect() (bus.Connect, error) {
	if f.o.Connect != nil {
		return f.o.Connect, nil
	}
	if len(f.o.Servers) > 0 { // they know no keys of hosts
		return natslink.Connect(natslink.Options{Name: f.self.Name, Servers: f.o.Servers,
			CredentialsFile: f.o.CredentialsFile, CAFile: f.o.CAFile, Log: f.o.Log}), nil
	}
	link := natslink.Options{Name: f.self.Name, Key: f.key, Log: f.o.Log}
	if f.self.Listen == "" {
		var err error
		link.Servers = f.self.Servers
		link.TLS, err = roster.ClientTLS(f.self.Authority)
		return natslink.Connect(link), err
	}
	certificate, err := f.o.Folder.Certificate(f.self)
	if err != nil {
		return nil, err
	}
	f.server, err = natslink.Serve(natslink.ServerOptions{
		Listen: f.self.Listen, Certificate: certificate, Name: f.nameOf, Guest: f.guest,
		Home: f.self.Name, Log: f.o.Log,
	})
	if err != nil {
		return nil, err
	}
	link.InProcess = f.server
	return natslink.Connect(link), nil
}

// Close leaves the bus, with all streams.
func (f *Fleet) Close() error {
	f.mu.Lock()
	closed := f.closed
	f.closed = true
	f.mu.Unlock()
	if closed {
		return nil
	}
	if f.o.Names != nil {
		f.o.Names.FollowNames(nil)
	}
	close(f.stop)
	<-f.ended
	err := f.node.Close()
	f.running.Wait()
	if f.server != nil {
		f.server.Close()
	}
	return err
}

// Name returns this host's name in the fleet.
func (f *Fleet) Name() string { return f.self.Name }

// Signer proves this host to others in SSH.
func (f *Fleet) Signer() ssh.Signer { return f.signer }

// Member returns the host of that name.
func (f *Fleet) Member(name string) (roster.Member, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m, ok := f.roster.Named(name)
	if !ok {
		_, err := f.roster.Without(name)
		return m, err
	}
	return m, nil
}

// nameOf returns the name of the host that has a key; "": none has.
func (f *Fleet) nameOf(key string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	m, _ := f.roster.WithKey(key)
	return m.Name
}

// UnreachableError is for a host that is silent.
type UnreachableError struct {
	Host  string
	Since time.Time // zero: since before this host has begun to listen
}

func (e *UnreachableError) Error() string {
	if e.Since.IsZero() {
		return e.Host + " is unreachable"
	}
	return e.Host + " is unreachable since " + age.Text(time.Since(e.Since))
}

// Reachable fails with an *UnreachableError if a host is silent. One that has only not answered may
// do so the next time.
func (f *Fleet) Reachable(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.peers[name]
	switch {
	case name == f.self.Name:
		return nil
	case p == nil:
		return &UnreachableError{Host: name}
	case !p.there():
		return &UnreachableError{name, p.heard}
	}
	return nil
}

// NoAnswer notes that a host has not answered, and returns an *UnreachableError. Until the host
// says again that it is there, it is listed as unreachable, so that all tell the same.
func (f *Fleet) NoAnswer(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.peers[name]
	if p == nil {
		return &UnreachableError{Host: name}
	}
	p.failed = true
	return &UnreachableError{name, p.heard}
}

// errSelf refuses a stream to the host itself, and ErrNoDoor one from a host that is no door.
var (
	errSelf   = errors.New("fleet: that is this host")
	ErrNoDoor = errors.New("this host is not a door of its fleet; log in to one that is, or to " +
		"the host itself")
)

// Dial opens a stream to a host that is there.
func (f *Fleet) Dial(name string, kind Kind) (net.Conn, error) {
	if name == f.self.Name {
		return nil, errSelf
	}
	if _, err := f.Member(name); err != nil {
		return nil, err
	}
	if self, err := f.Member(f.self.Name); err != nil || !self.Door {
		return nil, ErrNoDoor
	}
	if err := f.Reachable(name); err != nil {
		return nil, err
	}
	return f.node.Open(name, []byte(kind))
}

// opened serves a stream from a host.
func (f *Fleet) opened(from string, greeting []byte, s *bus.Stream) {
	<-f.ready
	kind := Kind(greeting)
	if kind == kindRoster { // it is signed, and no secret
		f.write(s, f.o.Folder.Signed)
		return
	}
	f.catchUp(from)
	m, err := f.Member(from)
	switch {
	case err != nil:
		f.o.Log.Warn("a host that is not in the fleet was refused", "host", from)
		s.Refuse(fmt.Errorf("%s does not know %s", f.self.Name, from))
	case kind == kindHosts:
		f.write(s, func() ([]byte, error) { return json.Marshal(f.Hosts()) })
	case kind != KindCarried && kind != KindJump:
		f.o.Log.Debug("a stream of an unknown kind was refused", "host", from)
		s.Refuse(f.unknown(fmt.Sprintf("%q", kind[:min(len(kind), maxShown)])))
	case !m.Door:
		f.o.Log.Warn("a host that is not a door was refused", "host", from, "kind", string(kind))
		s.Refuse(fmt.Errorf("%s is not a door of the fleet", from))
	default:
		f.o.Serve(f, kind, m, s)
	}
}

// maxShown is how much of what is not known is repeated, in bytes.
const maxShown = 64

// unknown refuses what another host asks whose termhost is a later one.
func (f *Fleet) unknown(what string) error {
	return fmt.Errorf("%s runs termhost %s, which does not know %s over the fleet: update it",
		f.self.Name, f.o.Version, what)
}

// write answers a stream with what get returns, and closes it.
func (f *Fleet) write(s *bus.Stream, get func() ([]byte, error)) {
	defer s.Close()
	_ = s.SetWriteDeadline(time.Now().Add(fetchTime))
	p, err := get()
	if err != nil {
		f.o.Log.Error("another host is not told of the fleet", "host", s.Peer(), "err", err)
		s.Refuse(fmt.Errorf("%s cannot read it, as its log says", f.self.Name))
		return
	}
	_, _ = s.Write(p)
}
