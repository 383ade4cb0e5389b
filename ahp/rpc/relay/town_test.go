package relay_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/ahp/rpc/relay"
	"termhost/authz"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

var (
	ann = hosttest.Principal("ann", authz.Operator)
	bob = hosttest.Principal("bob", authz.Operator)
	dan = hosttest.Principal("dan", authz.Operator)
	eve = hosttest.Principal("eve", authz.Observer)
)

// town is a fleet of hosts in this process.
type town struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	hosts  map[string]*host.Host
	silent map[string]time.Time
	gone   map[string]bool
	links  map[string][]net.Conn
	dials  map[string]int
	change map[string]func(net.Conn) net.Conn // what the connections to a host go through
	heard  uint64                             // the last heartbeat of every host, and when it was said
	said   map[uint64]time.Time
}

func newTown(t *testing.T, names ...string) *town {
	ctx, cancel := context.WithTimeout(context.Background(), hosttest.Patience)
	t.Cleanup(cancel)
	w := &town{t: t, ctx: ctx, hosts: map[string]*host.Host{}, silent: map[string]time.Time{},
		gone: map[string]bool{}, links: map[string][]net.Conn{}, dials: map[string]int{},
		change: map[string]func(net.Conn) net.Conn{}, said: map[uint64]time.Time{}}
	for _, name := range names {
		w.hosts[name] = hosttest.New(t)
	}
	return w
}

// door returns the way from a host to the others.
func (w *town) door(name string) *relay.Doorway {
	way := &relay.Doorway{}
	way.Set(w.newDoor(name))
	w.t.Cleanup(func() { way.Set(nil) })
	return way
}

func (w *town) newDoor(name string) *relay.Door {
	return relay.NewDoor(member{w, name}, w.hosts[name], slog.New(slog.DiscardHandler))
}

// cut has a host fall silent, or speak again.
func (w *town) cut(name string, is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.silent, name)
	if is {
		w.silent[name] = time.Now().Add(-12 * time.Second)
	}
}

// lose ends all connections to a host.
func (w *town) lose(name string) {
	w.mu.Lock()
	all := w.links[name]
	w.links[name] = nil
	w.mu.Unlock()
	for _, nc := range all {
		nc.Close()
	}
}

// names returns the hosts that are members; w.mu is held.
func (w *town) names() (list []string) {
	for name := range w.hosts {
		if !w.gone[name] {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// connect returns a client of a door.
func (w *town) connect(at string, way *relay.Doorway, p authz.Principal,
	changes ...func(*client.Config)) *client.Client {
	w.t.Helper()
	cfg := client.Config{MinBackoff: time.Millisecond,
		Dial: client.Lines(func(context.Context) (io.ReadWriteCloser, error) {
			return hosttest.Dial(w.t, w.hosts[at], p, rpc.Options{Fleet: way, RequestsPerSecond: -1})
		})}
	for _, change := range changes {
		change(&cfg)
	}
	c, err := client.Connect(w.ctx, cfg)
	hosttest.Check(w.t, err)
	w.t.Cleanup(func() { c.Close() })
	return c
}

// follow returns the mirror of a channel.
func (w *town) follow(c *client.Client, uri string) *client.Mirror {
	w.t.Helper()
	m, err := c.Subscribe(w.ctx, uri)
	hosttest.Check(w.t, err)
	return m
}

// run makes a terminal, and returns its mirror.
func (w *town) run(c *client.Client, uri, script string) *client.Mirror {
	w.t.Helper()
	hosttest.Check(w.t, c.CreateTerminal(w.ctx, ahp.CreateTerminalParams{Channel: uri,
		Meta: &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{
			Command: "/bin/sh", Args: []string{"-c", script}}}}))
	return w.follow(c, uri)
}

// lists waits until the root lists terminals for which ok is true.
func (w *town) lists(root *client.Mirror, what string, ok func([]ahp.TerminalInfo) bool) {
	w.t.Helper()
	err := root.WaitRoot(w.ctx, func(s *ahp.RootState) bool { return ok(s.Terminals) })
	if err != nil {
		w.t.Fatalf("%s: %v; it lists %+v", what, err, root.Root().Terminals)
	}
}

// has returns whether terminals of these URIs, and no others, are listed.
func has(uris ...string) func([]ahp.TerminalInfo) bool {
	slices.Sort(uris)
	return func(list []ahp.TerminalInfo) bool {
		var all []string
		for _, t := range list {
			all = append(all, t.Resource)
		}
		slices.Sort(all)
		return slices.Equal(all, uris)
	}
}

// sees waits until a terminal's output has a text.
func (w *town) sees(m *client.Mirror, text string) {
	w.t.Helper()
	err := m.WaitTerminal(w.ctx, func(s *ahp.TerminalState) bool {
		return contains(client.Text(s), text)
	})
	if err != nil {
		s := m.Terminal()
		w.t.Fatalf("no %q: %v; there is %q", text, err, client.Text(&s))
	}
}

// types types a line.
func (w *town) types(c *client.Client, m *client.Mirror, line string) error {
	return c.Dispatch(w.ctx, m.URI(), ahp.TerminalInput{Data: []byte(line + "\r")})
}

// member is the fleet as one host sees it.
type member struct {
	w    *town
	name string
}

func (m member) Name() string { return m.name }

func (m member) Hosts() (list []relay.Host) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	for name := range m.w.hosts {
		since, silent := m.w.silent[name]
		if !m.w.gone[name] {
			list = append(list, relay.Host{Name: name, Self: name == m.name, Reachable: !silent,
				Heard: since, Version: "of " + name})
		}
	}
	slices.SortFunc(list, func(a, b relay.Host) int { return compare(a.Name, b.Name) })
	return list
}

func (m member) MayName(string) {}

func (m member) Heard(string) uint64 {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	return m.w.heard
}

// hears has all hosts hear a heartbeat that was said at a time.
func (w *town) hears(number uint64, said time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard, w.said[number] = number, said
}

// late is [rpc.Options.Late] of every host.
func (w *town) late(number uint64) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.said[number]) - 10*time.Second
}

func (m member) Has(name string) bool {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	return m.w.hosts[name] != nil && !m.w.gone[name] && name != m.name
}

func (m member) Choose(on string) (string, error) {
	if on == "gpu=a100" {
		return "box1", nil
	}
	if m.Has(on) || on == m.name {
		return on, nil
	}
	return "", errors.New("no host that can be reached has that name or these labels")
}

func (m member) Reachable(name string) error {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	if m.w.hosts[name] == nil || m.w.gone[name] {
		return fmt.Errorf("the fleet has no host %q, but %s", name,
			strings.Join(m.w.names(), ", "))
	}
	if since, silent := m.w.silent[name]; silent {
		return fmt.Errorf("%s is unreachable since %d s", name,
			int(time.Since(since)/time.Second))
	}
	return nil
}

func (m member) Dial(_ context.Context, p authz.Principal, _ authz.Source, name string) (
	io.ReadWriteCloser, error) {
	if err := m.Reachable(name); err != nil {
		return nil, err
	}
	m.w.mu.Lock()
	h, change := m.w.hosts[name], m.w.change[name]
	m.w.dials[name]++
	m.w.mu.Unlock()
	nc, err := hosttest.Dial(m.w.t, h, p, rpc.Options{RequestsPerSecond: -1, Late: m.w.late})
	if err != nil {
		return nil, err
	}
	if change != nil {
		nc = change(nc)
	}
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.w.links[name] = append(m.w.links[name], nc)
	return nc, nil
}
