package admit

import (
	"net"
	"slices"
	"testing"
	"time"
)

// The stages of a test, as far as they matter.
const (
	silent  Stage = 0
	offered Stage = 4
	stages        = offered + 1
)

const (
	startupsPerSource = 10
	startupGrace      = time.Second
	startupBurst      = 8
)

// newTestGate returns a gate whose time is the test's: it sweeps when the test does.
func newTestGate(change func(*GateOptions)) (*Gate, *time.Time) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := func() time.Time { return now }
	o := GateOptions{
		Startups:  Startups{10, 30, 100},
		PerSource: startupsPerSource,
		Grace:     startupGrace,
		Burst:     startupBurst,
		Stages:    int(stages),
		Penalties: NewPenalties(clock),
		Now:       clock,
		Rand:      func(int) int { return 99 },
	}
	if change != nil {
		change(&o)
	}
	g := NewGate(o)
	g.later = func(time.Duration, func()) {}
	return g, &now
}

func addr(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 4} }

// startups are those of a test, by number.
type startups struct {
	t       *testing.T
	gate    *Gate
	now     *time.Time
	all     []*Admission
	dropped []int
	awaits  map[int]Awaits
	step    time.Duration // between two of them
}

func (s *startups) admit(ip string) *Admission {
	s.t.Helper()
	*s.now = s.now.Add(s.step)
	a, refusal := s.gate.Admit(SourceOf(addr(ip)))
	if refusal != "" {
		s.t.Fatalf("startup %d is refused: %s", len(s.all), refusal)
	}
	i := len(s.all)
	s.all = append(s.all, a)
	a.OnDrop(func() { s.dropped = append(s.dropped, i) }, func() Awaits { return s.awaits[i] })
	return a
}

// source returns an address for each number.
func source(i int) string { return net.IPv4(10, 0, byte(i>>8), byte(i)).String() }

func TestTheGateFillsAsSshdsDoesAndDropsWhoStandsStill(t *testing.T) {
	t.Parallel()
	roll := 0
	g, now := newTestGate(func(c *GateOptions) { c.Rand = func(int) int { return roll } })
	s := &startups{t: t, gate: g, now: now, step: time.Millisecond}
	for i := range 10 {
		s.admit(source(i))
	}
	*now = now.Add(startupGrace / 2)
	if s.admit(source(10)); len(s.dropped) != 0 {
		t.Errorf("%v went, who have not stood still for long", s.dropped)
	}
	*now = now.Add(startupGrace / 2)
	if roll = 30; len(s.dropped) != 0 {
		t.Errorf("a roll of 30 dropped %v", s.dropped)
	}
	roll = 29
	if s.admit(source(11)); !slices.Equal(s.dropped, []int{0}) {
		t.Errorf("at 10, 30 percent must cost the one that stands still longest, not %v", s.dropped)
	}
	roll, s.dropped = 99, nil
	for i := 12; g.pending < 100; i++ {
		s.admit(source(i))
	}
	*now = now.Add(startupGrace)
	if len(s.dropped) != 0 {
		t.Errorf("a roll of 99 dropped %v", s.dropped)
	}
	s.all[1].Advance(silent)
	s.admit(source(500)) // there is room: 99 stand still
	*now = now.Add(startupGrace)
	if s.admit(source(501)); !slices.Equal(s.dropped, []int{2}) {
		t.Errorf("at 100, one must go for each that comes, not %v", s.dropped)
	}
}

// For a moment there may be more, but not any number.
func TestABurstOfStartupsIsBoundedAndPasses(t *testing.T) {
	t.Parallel()
	g, now := newTestGate(nil)
	s := &startups{t: t, gate: g, now: now} // all at once
	for range 2000 {
		s.admit("127.0.0.1")
	}
	if want := 100 * startupBurst; g.pending != want || len(s.dropped) != 2000-want {
		t.Errorf("%d are held, %d are dropped", g.pending, len(s.dropped))
	}
	*now = now.Add(startupGrace)
	if g.sweep(); g.pending != 100 {
		t.Errorf("%d are held when they have stood still", g.pending)
	}
	for _, a := range s.all {
		a.Leave()
	}
}

// Strangers that stop at one stage of the handshake take no room at the other stages.
func TestWhoGetsOnIsNotDroppedForThoseWhoStop(t *testing.T) {
	t.Parallel()
	for crowded := silent; crowded < stages; crowded++ {
		g, now := newTestGate(nil)
		s := &startups{t: t, gate: g, now: now, step: time.Millisecond}
		var honest []*Admission
		for at := silent; at < stages; at++ {
			a := s.admit("127.0.0.1")
			a.Advance(at)
			honest = append(honest, a)
		}
		*now = now.Add(10 * time.Second) // the strangers stand still for less long
		for range 3000 {
			honest[crowded].Advance(crowded) // it gets on
			s.admit("127.0.0.1").Advance(crowded)
		}
		for i, a := range honest {
			if a.place == nil {
				t.Errorf("a crowd at stage %d dropped somebody at %d", crowded, i)
			}
		}
	}
}

// Of those at one stage, somebody from elsewhere is not dropped for a crowd from one place, be that
// loopback, nor for those who come again and again.
func TestACrowdOfOnePlaceCostsItself(t *testing.T) {
	t.Parallel()
	g, now := newTestGate(nil)
	s := &startups{t: t, gate: g, now: now, step: time.Millisecond}
	honest := s.admit("192.0.2.1")
	for range 3000 {
		s.admit("127.0.0.1")
	}
	if honest.place == nil {
		t.Error("it went for a crowd from loopback")
	}
	g, now = newTestGate(nil)
	s = &startups{t: t, gate: g, now: now, step: time.Millisecond}
	honest, local := s.admit("192.0.2.1"), s.admit("127.0.0.1")
	for i := range 1200 {
		s.admit(source(i % 200))
	}
	if honest.place == nil || local.place == nil {
		t.Error("somebody went for a crowd from 200 places")
	}
}

// Whoever comes often enough from one address to be in the way is refused there, but on loopback.
func TestWhoIsInTheWayHasToWait(t *testing.T) {
	t.Parallel()
	g, now := newTestGate(nil)
	refused := 0
	for i := range 8_000 {
		*now = now.Add(time.Second / 1600)
		for _, ip := range []string{source(i % 200), "127.0.0.1"} {
			a, refusal := g.Admit(SourceOf(addr(ip)))
			switch {
			case refusal == "":
				a.OnDrop(func() {}, nil)
			case ip == "127.0.0.1":
				t.Fatalf("loopback: %s", refusal)
			default:
				refused++
			}
		}
	}
	if refused < 3_000 {
		t.Errorf("%d of 8000 are refused", refused)
	}
}

// Sources that have logged in have a share of their own, and no more than that.
func TestKnownSourcesHaveAShare(t *testing.T) {
	t.Parallel()
	g, now := newTestGate(func(c *GateOptions) { c.Startups = Startups{10, 30, 40} })
	s := &startups{t: t, gate: g, now: now, step: time.Millisecond}
	const knowns = 60
	for i := range knowns {
		a := s.admit(source(i))
		a.Authenticated()
		a.Leave()
	}
	one := s.admit(source(0))
	for i := range 1000 {
		s.admit(source(1000 + i))
	}
	if one.place == nil {
		t.Error("a known source was dropped for strangers")
	}
	for i := range knowns {
		s.admit(source(i))
	}
	stranger := s.admit("192.0.2.1")
	*now = now.Add(startupGrace)
	if g.sweep(); stranger.place == nil {
		t.Error("known sources leave no room for strangers")
	}
	for i := range 2 * maxKnown {
		g.known.add(SourceOf(addr(source(i))), now.Add(time.Duration(i)))
	}
	if len(g.known) > maxKnown {
		t.Errorf("%d are known", len(g.known))
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
			a, refusal := g.Admit(SourceOf(addr(ip)))
			if refusal != "" {
				t.Fatal(refusal)
			}
			a.OnDrop(func() { dropped[ip]++ }, nil)
		}
	}
	if dropped["192.0.2.1"] != 50-sourceBurst*startupsPerSource || dropped["127.0.0.1"] != 0 {
		t.Errorf("dropped: %v", dropped)
	}
}

func TestClientsThatOneSourceStartsTogetherAllStay(t *testing.T) {
	t.Parallel()
	g, now := newTestGate(nil)
	dropped := 0
	come := func() *Admission {
		t.Helper()
		a, refusal := g.Admit(SourceOf(addr("192.0.2.1")))
		if refusal != "" {
			t.Fatal(refusal)
		}
		a.OnDrop(func() { dropped++ }, nil)
		return a
	}
	var together []*Admission
	for range 30 {
		together = append(together, come())
	}
	if dropped != 0 {
		t.Fatalf("%d of those that came together were dropped", dropped)
	}
	for _, a := range together[startupsPerSource:] {
		a.Authenticated()
	}
	*now = now.Add(2 * time.Second) // the rest stand still now
	for range 3 {
		come()
	}
	if dropped != 3 {
		t.Errorf("%d of those that stand still were dropped for 3 others", dropped)
	}
}

func TestASourceOfFailuresWaitsUntilItLogsIn(t *testing.T) {
	t.Parallel()
	g, now := newTestGate(nil)
	far := SourceOf(addr("192.0.2.1"))
	for range 3 {
		tk, refusal := g.Admit(far)
		if refusal != "" {
			t.Fatalf("refused: %s", refusal)
		}
		tk.Penalize(AuthPenalty)
		tk.Leave()
	}
	if _, refusal := g.Admit(far); refusal == "" {
		t.Error("it need not wait")
	}
	*now = now.Add(MinPenalty)
	tk, refusal := g.Admit(far)
	if refusal != "" {
		t.Fatalf("it waits for ever: %s", refusal)
	}
	tk.Penalize(AuthPenalty)
	tk.Authenticated()
	tk.Leave()
	if g.opts.Penalties.Owes(far) != 0 {
		t.Error("a login does not forgive")
	}
	if g.pending != 0 || len(g.sources) != 0 {
		t.Errorf("counters: %d, %d", g.pending, len(g.sources))
	}
}

func TestAProvenPeerIsNoStartup(t *testing.T) {
	t.Parallel()
	g, _ := newTestGate(func(c *GateOptions) { c.Rand = func(int) int { return 0 } })
	for range 200 {
		a := g.Proven()
		a.OnDrop(func() { t.Error("it is dropped") }, nil)
		a.Penalize(TimeoutPenalty)
		a.Advance(offered)
		a.Authenticated()
		defer a.Leave()
	}
	if g.pending+len(g.sources)+len(g.known)+len(g.opts.Penalties.sources) > 0 {
		t.Error("they count as startups")
	}
}

// Where only so many may wait, somebody new is turned away when all others are being answered, and
// otherwise costs one of the source that has most of those who are not.
func TestWhoIsHeldIsNotDropped(t *testing.T) {
	t.Parallel()
	g, now := newTestGate(func(c *GateOptions) {
		c.Startups, c.Burst, c.Grace, c.Stages = Startups{20, 100, 20}, 1, 0, 1
	})
	s := &startups{t: t, gate: g, now: now, step: time.Millisecond}
	for i := range 20 {
		s.admit(source(i % 2)).Hold(true)
	}
	if _, refusal := g.Admit(SourceOf(addr(source(2)))); refusal == "" || g.pending != 20 {
		t.Errorf("%d are held, and one more is let in", g.pending)
	}
	s.all[4].Hold(false)
	s.all[2].Hold(false)
	s.admit(source(2))
	if !slices.Equal(s.dropped, []int{4}) {
		t.Errorf("%v went", s.dropped)
	}
	s.admit(source(2)).Hold(true) // its source has two, and the other one of them is not held
	if !slices.Equal(s.dropped, []int{4, 2}) {
		t.Errorf("%v went", s.dropped)
	}
	s.admit(source(3))
	if !slices.Equal(s.dropped, []int{4, 2, 20}) {
		t.Errorf("%v went, though only one was not held", s.dropped)
	}
}

// Among peers that have been silent equally long, one that waits for a turn is dropped last, and of
// these the newest.
func TestWhoWaitsForATurnIsDroppedLast(t *testing.T) {
	t.Parallel()
	g, now := newTestGate(func(c *GateOptions) { c.Startups, c.Burst = Startups{4, 100, 4}, 1 })
	s := &startups{t: t, gate: g, now: now, step: time.Millisecond}
	for range 4 {
		s.admit("192.0.2.1")
	}
	s.all[0].Wait(true)
	s.all[1].Wait(true)
	for range 3 {
		s.admit("192.0.2.1").Wait(true)
	}
	if !slices.Equal(s.dropped, []int{2, 3, 5}) {
		t.Errorf("%v went", s.dropped)
	}
}

// Whose packet the host works on is not at fault that nothing happens: it goes only where everybody
// waits for the host.
func TestTheOneThatHasBeenWaitedForLongestIsDropped(t *testing.T) {
	t.Parallel()
	g, now := newTestGate(func(c *GateOptions) { c.Startups, c.Burst = Startups{4, 100, 4}, 1 })
	s := &startups{t: t, gate: g, now: now, step: time.Millisecond,
		awaits: map[int]Awaits{0: AwaitsHost, 1: AwaitsHost, 4: AwaitsHost, 5: AwaitsHost, 6: AwaitsHost}}
	for range 4 {
		s.admit("192.0.2.1")
	}
	s.admit("192.0.2.1") // there are 0, 1, 2 and 3
	s.admit("192.0.2.1") // 0, 1, 3 and 4
	s.all[4].Wait(true)
	s.admit("192.0.2.1") // all of 0, 1, 4 and 5 wait for the host, and one of them for its turn
	s.admit("192.0.2.1") // 0, 1, 5 and 6
	if !slices.Equal(s.dropped, []int{2, 3, 4, 0}) {
		t.Errorf("%v went", s.dropped)
	}
}

// Where all that have stood still are held, none that has just come goes for them.
func TestWhoHasJustComeIsNotDroppedForWhoIsHeld(t *testing.T) {
	t.Parallel()
	g, now := newTestGate(func(c *GateOptions) { c.Startups = Startups{4, 100, 4} })
	s := &startups{t: t, gate: g, now: now}
	for range 4 {
		s.admit("192.0.2.1").Hold(true)
	}
	*now = now.Add(startupGrace)
	s.admit("192.0.2.1")
	s.admit("192.0.2.1")
	if len(s.dropped) > 0 {
		t.Errorf("%v went within the grace", s.dropped)
	}
	*now = now.Add(startupGrace)
	s.admit("192.0.2.1")
	if !slices.Equal(s.dropped, []int{4}) {
		t.Errorf("%v went after it", s.dropped)
	}
}

// A shared source weighs only what is more than another one may have.
func TestASharedSourceIsNoCrowd(t *testing.T) {
	t.Parallel()
	const full = startupsPerSource + 4
	g, now := newTestGate(func(c *GateOptions) { c.Startups, c.Burst = Startups{full, 100, full}, 1 })
	s := &startups{t: t, gate: g, now: now, step: time.Millisecond}
	for range startupsPerSource + 2 { // two too many
		s.admit("127.0.0.1")
	}
	s.admit("192.0.2.1")
	s.admit("192.0.2.1")
	s.admit("192.0.2.1") // the two weigh as much, and loopback's first has waited longer
	s.admit("192.0.2.1") // the three weigh more
	if first := startupsPerSource + 2; !slices.Equal(s.dropped, []int{0, first}) {
		t.Errorf("%v went, not the first of loopback and then number %d", s.dropped, first)
	}
}
