package sshd

import (
	"net"
	"slices"
	"testing"
	"time"

	"termhost/authz"
	"termhost/authz/penalty"
)

func newTestGate(change func(*Config)) (*gate, *time.Time) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cfg := &Config{
		MaxStartups:    Startups{10, 30, 100},
		MaxConnections: 1000,
		Now:            func() time.Time { return now },
		Rand:           func(int) int { return 99 },
	}
	if change != nil {
		change(cfg)
	}
	return newGate(cfg), &now
}

func addr(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 4} }

func TestTheGateFillsAsSshdsDoesAndDropsWhoIsSilent(t *testing.T) {
	t.Parallel()
	roll := 0
	g, now := newTestGate(func(c *Config) { c.Rand = func(int) int { return roll } })
	source := func(i int) net.Addr { return addr(net.IPv4(10, 0, byte(i>>8), byte(i)).String()) }
	var dropped []int
	admit := func(i int) *admission {
		*now = now.Add(time.Millisecond)
		a, refusal := g.admit(source(i), false)
		if refusal != "" {
			t.Fatalf("startup %d is refused: %s", i, refusal)
		}
		a.onDrop(func() { dropped = append(dropped, i) })
		return a
	}
	first := admit(0)
	for i := 1; i < 10; i++ {
		admit(i)
	}
	*now = now.Add(time.Millisecond)
	first.hear()
	if roll = 29; admit(10) == nil || !slices.Equal(dropped, []int{1}) {
		t.Errorf("at 10, 30 percent must cost the one that is silent longest, not %v", dropped)
	}
	roll, dropped = 99, nil
	for i := 11; i < 101; i++ {
		admit(i)
	}
	if len(dropped) != 0 || len(g.pending) != 100 {
		t.Errorf("a roll of 99 dropped %v, %d wait", dropped, len(g.pending))
	}
	if admit(101); !slices.Equal(dropped, []int{2}) || len(g.pending) != 100 {
		t.Errorf("at 100, one must go for each that comes: %v, %d wait", dropped, len(g.pending))
	}
	// A byte now and then does not help for ever.
	dropped = nil
	*now = now.Add(9 * time.Second)
	for a := range g.pending {
		if a != first {
			*now = now.Add(time.Microsecond)
			a.since = *now
			a.hear()
		}
	}
	first.hear()
	if admit(102); !slices.Equal(dropped, []int{0}) {
		t.Errorf("%v went, not the slowest", dropped)
	}
}

func TestOneSourceDropsItsOwnStartups(t *testing.T) {
	t.Parallel()
	g, now := newTestGate(nil)
	dropped := map[string]int{}
	for i := range 50 {
		*now = now.Add(time.Millisecond)
		for _, ip := range []string{"192.0.2.1", "127.0.0.1"} {
			if ip == "127.0.0.1" && i >= 30 {
				continue
			}
			a, refusal := g.admit(addr(ip), false)
			if refusal != "" {
				t.Fatal(refusal)
			}
			a.onDrop(func() { dropped[ip]++ })
		}
	}
	if dropped["192.0.2.1"] != 50-startupsPerSource || dropped["127.0.0.1"] != 0 {
		t.Errorf("dropped: %v", dropped)
	}
}

func TestASourceOfFailuresWaitsUntilItLogsIn(t *testing.T) {
	t.Parallel()
	g, now := newTestGate(nil)
	far := addr("192.0.2.1")
	for range 3 {
		tk, refusal := g.admit(far, false)
		if refusal != "" {
			t.Fatalf("refused: %s", refusal)
		}
		tk.penalize(penalty.Auth)
		tk.leave()
	}
	if _, refusal := g.admit(far, false); refusal == "" {
		t.Error("it need not wait")
	}
	*now = now.Add(penalty.Min)
	tk, refusal := g.admit(far, false)
	if refusal != "" {
		t.Fatalf("it waits for ever: %s", refusal)
	}
	tk.penalize(penalty.Auth)
	tk.authenticated(authz.Observer)
	tk.leave()
	if g.penalties.Owes(penalty.SourceOf(far)) != 0 {
		t.Error("a login does not forgive")
	}
	if g.total != 0 || len(g.pending) != 0 || len(g.sources) != 0 {
		t.Errorf("counters: %d, %d, %d", g.total, len(g.pending), len(g.sources))
	}
}

func TestAProvenPeerIsNoStartup(t *testing.T) {
	t.Parallel()
	g, _ := newTestGate(func(c *Config) { c.Rand = func(int) int { return 0 } })
	local := &net.UnixAddr{Name: "@", Net: "unix"}
	for i := range 200 {
		tk, refusal := g.admit(local, true)
		if refusal != "" || !tk.authenticated(authz.Admin) {
			t.Fatalf("number %d is refused: %s", i, refusal)
		}
		tk.penalize(penalty.Timeout)
	}
	if len(g.pending)+len(g.sources) > 0 {
		t.Error("they count as startups")
	}
}

// The last connections are for admins.
func TestAdminsHaveAReserve(t *testing.T) {
	t.Parallel()
	g, _ := newTestGate(func(c *Config) { c.MaxConnections = 32 })
	enter := func(role authz.Role) (*admission, bool) {
		a, refusal := g.admit(addr("192.0.2.1"), false)
		if refusal != "" {
			t.Fatal(refusal)
		}
		return a, a.authenticated(role)
	}
	for i := range 30 {
		if _, ok := enter(authz.Operator); !ok {
			t.Fatalf("number %d is refused", i)
		}
	}
	if _, ok := enter(authz.Operator); ok {
		t.Error("an operator takes an admin's place")
	}
	for range 2 {
		if _, ok := enter(authz.Admin); !ok {
			t.Error("an admin is refused")
		}
	}
	if _, ok := enter(authz.Admin); ok {
		t.Error("there is no end to admins")
	}
}
