package sshd

import (
	"net"
	"testing"
	"time"
)

func newTestGate(change func(*Config)) (*gate, *time.Time) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cfg := &Config{MaxStartups: Startups{10, 30, 100}, MaxConnections: 1000, Now: func() time.Time { return now }, Rand: func(int) int { return 99 }}
	if change != nil {
		change(cfg)
	}
	return newGate(cfg), &now
}

func addr(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 4} }

func TestTheGateFillsAsSshdsDoes(t *testing.T) {
	roll := 0
	g, _ := newTestGate(func(c *Config) { c.Rand = func(int) int { return roll } })
	source := func(i int) net.Addr { return addr(net.IPv4(10, 0, byte(i>>8), byte(i)).String()) }
	admit := func(i int) bool { _, refusal := g.admit(source(i), false); return refusal == "" }
	for i := range 10 {
		if !admit(i) {
			t.Fatalf("startup %d was refused", i)
		}
	}
	if roll = 29; admit(10) {
		t.Error("at 10, 30 percent must be refused")
	}
	roll = 99
	for i := 10; i < 100; i++ {
		if !admit(i) {
			t.Fatalf("startup %d was refused by a roll of 99", i)
		}
	}
	if admit(100) {
		t.Error("at 100 all must be refused")
	}
}

func TestPenaltiesAddUpAndPass(t *testing.T) {
	g, now := newTestGate(nil)
	fail := func(a net.Addr, d time.Duration) {
		t.Helper()
		tk, refusal := g.admit(a, false)
		if refusal != "" {
			t.Fatalf("refused: %s", refusal)
		}
		tk.penalize(d)
		tk.leave()
	}
	refused := func(a net.Addr) bool {
		tk, refusal := g.admit(a, false)
		if tk != nil {
			tk.leave()
		}
		return refusal != ""
	}
	far := addr("192.0.2.1")
	fail(far, penaltyAuth)
	fail(far, penaltyAuth)
	if refused(far) {
		t.Error("two failures are a person's mistake")
	}
	fail(far, penaltyAuth)
	if !refused(far) || refused(addr("192.0.2.2")) {
		t.Error("the third must be refused, and only that source")
	}
	*now = now.Add(penaltyMin)
	if refused(far) {
		t.Error("the penalty has passed")
	}
	fail(far, penaltyAuth)
	tk, _ := g.admit(far, false)
	tk.authenticated()
	tk.leave()
	if len(g.penalties) != 0 {
		t.Error("a login forgives")
	}
	near := addr("127.0.0.1")
	fail(near, penaltyTimeout)
	fail(near, penaltyTimeout)
	*now = now.Add(penaltyLoopback)
	if refused(near) {
		t.Error("loopback waits too long")
	}
	six := addr("2001:db8::1")
	fail(six, penaltyTimeout)
	fail(addr("2001:db8::2"), penaltyTimeout)
	if !refused(addr("2001:db8::3")) {
		t.Error("an IPv6 customer is one source")
	}
}

func TestPenaltiesAreBounded(t *testing.T) {
	g, _ := newTestGate(nil)
	for i := range maxPenalized + 100 {
		tk, refusal := g.admit(addr(net.IPv4(10, byte(i>>16), byte(i>>8), byte(i)).String()), false)
		if refusal != "" {
			t.Fatal(refusal)
		}
		tk.penalize(penaltyNoAuth)
		tk.leave()
	}
	if len(g.penalties) > maxPenalized {
		t.Errorf("%d are remembered", len(g.penalties))
	}
	if g.total != 0 || g.pending != 0 || len(g.sources) != 0 {
		t.Errorf("counters: %d, %d, %d", g.total, g.pending, len(g.sources))
	}
}

func TestWhoeverIsKnownIsNoStartup(t *testing.T) {
	g, _ := newTestGate(func(c *Config) { c.Rand = func(int) int { return 0 }; c.MaxConnections = 201 })
	local := &net.UnixAddr{Name: "@", Net: "unix"}
	for i := range 200 {
		tk, refusal := g.admit(local, true)
		if refusal != "" {
			t.Fatalf("number %d is refused: %s", i, refusal)
		}
		tk.penalize(penaltyTimeout)
	}
	if _, refusal := g.admit(addr("192.0.2.1"), false); refusal != "" {
		t.Errorf("they keep a stranger out: %s", refusal)
	}
	if _, refusal := g.admit(local, true); refusal == "" {
		t.Error("there is no end to them")
	}
}
