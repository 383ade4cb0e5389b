package carry_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
	"termhost/keys"
	"termhost/sshd"
	"termhost/sshd/carry"
	"termhost/sshd/verbs"
	"termhost/sshd/viewertest"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

// prefix is the control character of the prefix key, Ctrl-\.
const prefix = 0x1c

// town is a fleet within this process: hosts with SSH servers, on a bus in memory. People log in to
// home.
type town struct {
	t   *testing.T
	net *bus.Network
	dir string

	mu     sync.Mutex
	silent map[string]bool // hosts of which nothing is heard
	mute   map[string]bool // hosts whose announcements nobody hears
}

// box is a host of a town.
type box struct {
	w       *town
	name    string
	host    *host.Host
	files   *authz.Authority
	fleet   *fleet.Fleet
	runner  *verbs.Runner
	carrier *carry.Carrier
	serve   func(fleet.Kind, roster.Member, net.Conn)
	// refuses: it lets nobody in from other hosts.
	refuses atomic.Bool
}

// newTown returns home and boxes of these names, which it sees.
func newTown(t *testing.T, names ...string) (w *town, home *box, boxes []*box) {
	t.Helper()
	w = &town{t: t, net: &bus.Network{}, dir: t.TempDir(), silent: map[string]bool{},
		mute: map[string]bool{}}
	w.net.Lose = func(from, to string, _ bus.Class, p []byte) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		const announced = 1 // the kind of a message
		return from != to && (w.silent[from] || w.silent[to] || w.mute[from] && p[0] == announced)
	}
	hosttest.Check(t, w.folder("home").Found("home", "127.0.0.1:1", nil))
	home = w.open("home")
	for _, name := range names {
		w.join(name)
		boxes = append(boxes, w.open(name))
	}
	w.sees(home, len(names)+1)
	return w, home, boxes
}

// sees waits until so many hosts are there for a box.
func (w *town) sees(b *box, hosts int) {
	w.t.Helper()
	hosttest.Reaches(w.t, "hosts are there", hosts, func() (n int) {
		for _, h := range b.fleet.Hosts() {
			if h.Reachable {
				n++
			}
		}
		return n
	})
}

// cut has nothing heard of a host, or again.
func (w *town) cut(name string, is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silent[name] = is
}

// mutes has nobody hear a host's announcements, or hear them again.
func (w *town) mutes(name string, is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mute[name] = is
}

func (w *town) folder(name string) roster.Folder {
	return roster.Folder(filepath.Join(w.dir, name, "fleet"))
}

func (w *town) join(name string) {
	w.t.Helper()
	secret, err := w.folder("home").NewToken(false)
	hosttest.Check(w.t, err)
	m, err := w.folder("home").Membership()
	hosttest.Check(w.t, err)
	ctx, cancel := context.WithTimeout(w.t.Context(), hosttest.Patience)
	defer cancel()
	hosttest.Check(w.t, fleet.Join(ctx, fleet.JoinOptions{Folder: w.folder(name), Name: name,
		Token: fleet.Token(m, "home", secret), Log: slog.New(slog.DiscardHandler),
		Connect: w.net.Connect}))
}

// open runs a host that has joined.
func (w *town) open(name string) *box {
	w.t.Helper()
	dir := filepath.Join(w.dir, name)
	hosttest.Check(w.t, os.MkdirAll(dir, 0o700))
	b := &box{w: w, name: name}
	authority := hosttest.Authority(w.t, keys.Options{Home: dir, StateDir: dir})
	b.host = hosttest.New(w.t, func(c *host.Config) {
		c.Env, c.StateDir, c.Authority = map[string]string{"HOME": dir}, dir, authority
		c.NoLookout = true // a test itself says which terminals want somebody
	})
	b.files = authority
	b.join(authority)
	w.t.Cleanup(b.leave)
	return b
}

// join puts the host into the fleet.
func (b *box) join(authority *authz.Authority) {
	w := b.w
	var server *sshd.Server
	ready := make(chan struct{})
	b.serve = func(kind fleet.Kind, door roster.Member, nc net.Conn) {
		<-ready
		server.ServeCarried(nc, sshd.Carried{Host: b.name, Signer: b.fleet.Signer(),
			Late: b.fleet.Late,
			Authenticate: func(user string, key gossh.PublicKey) (authz.Principal, string, error) {
				a, err := fleet.ParseAssertion(user, b.name, door.Name)
				if err != nil {
					return authz.Principal{}, "", err
				}
				most := authz.Operator
				if b.refuses.Load() {
					most = authz.NoRole
				}
				p, err := authority.Asserted(a.Principal, door.Name, most)
				return p, a.Source(), err
			}})
	}
	var err error
	b.fleet, err = fleet.Open(fleet.Options{Folder: w.folder(b.name), Version: "test",
		Terminals: func() int { return b.host.Stats().Terminals }, Names: b.host,
		Log: slog.New(slog.DiscardHandler), Connect: w.net.Connect(b.name),
		Serve: func(_ *fleet.Fleet, kind fleet.Kind, door roster.Member, nc net.Conn) {
			b.serve(kind, door, nc)
		}})
	hosttest.Check(w.t, err)
	server, err = sshd.New(sshd.Config{Host: b.host, Authority: authority, Version: "test",
		HostKeys: []gossh.Signer{b.fleet.Signer()},
		Policy:   sshd.Policy{Shell: true}}) // which is not for other hosts
	hosttest.Check(w.t, err)
	close(ready)
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), hosttest.Patience)
		defer cancel()
		hosttest.Check(w.t, server.Shutdown(ctx))
	})
	b.runner = newRunner(b)
}

// newRunner returns what runs verbs on a host that has just been started.
func newRunner(b *box) *verbs.Runner {
	b.carrier = &carry.Carrier{Fleet: b.fleet, Audit: slog.New(slog.DiscardHandler)}
	return &verbs.Runner{Prefix: prefix, Version: "test",
		Fleet: func() verbs.Fleet { return b.carrier }}
}

// leave ends the host's part in the fleet, as when its machine is lost.
func (b *box) leave() { _ = b.fleet.Close() }

// restarts has the host come back as after kill -9, of which nobody hears.
func (b *box) restarts() {
	b.w.cut(b.name, true)
	b.leave()
	b.w.cut(b.name, false)
	b.join(b.files)
}

// caller returns a peer of the host who may do everything.
func (b *box) caller(io verbs.IO) verbs.Caller {
	b.w.t.Helper()
	return b.callerAs(authz.ForUID(1000), io)
}

// callerAs returns a peer of the host.
func (b *box) callerAs(p authz.Principal, io verbs.IO) verbs.Caller {
	b.w.t.Helper()
	c, err := b.host.Connect(p, host.DoorUnix)
	hosttest.Check(b.w.t, err)
	b.w.t.Cleanup(c.Close)
	return verbs.Caller{IO: io, Conn: c}
}

// run runs a command line on pipes, and returns what it prints, or complains of.
func (b *box) run(line string) (out string, status int) {
	b.w.t.Helper()
	p := newPipes("")
	caller := b.caller(p)
	defer caller.Conn.Close() // it may be run at every look
	status = b.runner.Exec(b.w.t.Context(), caller, line).Status
	p.Wait()
	return p.out.String() + p.errs.String(), status
}

// sits runs a command line at a terminal.
func (b *box) sits(line string) *viewertest.Person {
	b.w.t.Helper()
	return b.sitsAs(authz.ForUID(1000), line)
}

// sitsAs is sits for a principal.
func (b *box) sitsAs(who authz.Principal, line string) *viewertest.Person {
	b.w.t.Helper()
	return viewertest.Sit(b.w.t, verbs.Window{Cols: 80, Rows: 24},
		func(ctx context.Context, p *viewertest.Peer) int {
			return b.runner.Exec(ctx, b.callerAs(who, p), line).Status
		})
}

// keys are what a person presses behind the prefix.
func pressed(key string) string { return string(rune(prefix)) + key }
