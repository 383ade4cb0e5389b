package host_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
	"termhost/authz/admit"
)

// costly is a pattern that takes hundreds of steps for each character, and of which no text is
// known that every match has. Those of other numbers are others.
func costly(n int) *history.Pattern { return pattern(fmt.Sprintf("[0-9a-f].{200}[^ -~]{%d}", n%50+1)) }

// floods starts a terminal that prints about a MB a second until it is ended.
func floods(t testing.TB, h *host.Host, name string) *host.Terminal {
	t.Helper()
	line := strings.Repeat("0123456789abcdef and more ", 40)
	term := run(t, h, carol, name, "while :; do for i in 1 2 3 4 5 6 7 8 9 10; do echo '"+line+"'; done; sleep 0.01; done")
	awaitOutput(t, h, term, "and more")
	return term
}

// An observer's waits for lines that do not come are over when they must be, though output comes
// without end and the patterns are as costly as they may be.
func TestWaitsOnAFloodEndInEachWay(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := floods(t, h, "flood")
	observer, err := h.Connect(eve, host.DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	defer observer.Close()
	gone := errors.New("the caller is gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[string]int{}
	for i := range 60 {
		w := host.WaitFor{Match: costly(i), Fresh: i%2 == 0}
		if i < 20 {
			w.Timeout = time.Millisecond
		}
		caller := t.Context()
		if i < 40 {
			caller = ctx
		}
		p, err := observer.StartWait(term, w)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			how, err := p.End(caller)
			mu.Lock()
			defer mu.Unlock()
			got[fmt.Sprint(how.Reason, err)]++
		})
	}
	ends := func(n int, how string) {
		t.Helper()
		hosttest.Eventually(t, how, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return got[how] == n
		})
	}
	ends(20, fmt.Sprint(host.WaitTimeout, error(nil)))
	cancel(gone)
	ends(20, gone.Error())
	if _, _, err := door(t, h, alice, host.DoorSSH).Kick(term, "eve"); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if len(got) != 3 {
		t.Errorf("the waits have ended so: %v", got)
	}
	nothingIsLookedAt(t, h, term)
}

// nothingIsLookedAt checks that all that was taken for waits is given back.
func nothingIsLookedAt(t *testing.T, h *host.Host, term *host.Terminal) {
	t.Helper()
	hosttest.Eventually(t, "nothing is left of waits", func() bool {
		left := host.WaitsLeft(h, term)
		if left != "" && left != " turns" { // which come back a moment later
			t.Fatalf("of waits there is left:%s", left)
		}
		return left == ""
	})
}

// Whoever waits for much does not keep others from what they wait for, and the end of a connection
// gives back what its waits took.
func TestOthersAreAnsweredWhileAnAccountWaitsForMuch(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	flood, other := floods(t, h, "flood"), run(t, h, carol, "other", "stty -icanon -echo; while read x; do echo got $x; done")
	observer, err := h.Connect(eve, host.DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	defer observer.Close()
	var wg sync.WaitGroup
	for i := range 60 {
		p, err := observer.StartWait(flood, host.WaitFor{Match: costly(i), Fresh: true})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			if _, err := p.End(t.Context()); err == nil {
				t.Error("a line is found that was not printed")
			}
		})
	}
	person := attach(t, h, carol, "other", window)
	c := connect(t, h, carol, "c").c
	for i := range 5 {
		p, err := c.StartWait(other, host.WaitFor{Match: pattern(fmt.Sprintf("^got [%d]$", i)), Fresh: true,
			Timeout: hosttest.Patience})
		if err != nil {
			t.Fatal(err)
		}
		if err := person.a.Input(fmt.Appendf(nil, "%d\r", i)); err != nil {
			t.Fatal(err)
		}
		if how, err := p.End(t.Context()); err != nil || how.Reason != host.WaitMatch {
			t.Fatalf("%+v, %v", how, err)
		}
	}
	observer.End(errors.New("it is over"))
	wg.Wait()
	nothingIsLookedAt(t, h, flood)
}

// What is waited for is found though much comes before it, and what comes behind it does not count.
func TestTheFirstLineThatMatchesInAFloodIsFound(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "read x; seq 1 400000; echo done; read x")
	c := connect(t, h, carol, "c").c
	expect := map[string]string{"^1.*7$": "17", "9999[0-9]$": "99990", "^399999$": "399999",
		"(?i)DONE": "done", "^[d]...$": "done", "0{5}": "100000"}
	var waits []*host.PendingWait
	for expr := range expect {
		for range 2 {
			p, err := c.StartWait(term, host.WaitFor{Match: pattern(expr), Fresh: true, Timeout: hosttest.Patience})
			if err != nil {
				t.Fatal(err)
			}
			waits = append(waits, p)
		}
	}
	if err := attach(t, h, carol, "x", window).a.Input([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	for _, p := range waits {
		got, err := p.End(t.Context())
		if want := expect[p.Match.String()]; err != nil || got.Line != want {
			t.Errorf("%s: %+v, %v; want %s", p.Match, got, err, want)
		}
	}
	if got := search(t, h, term, "^399999$", history.Search{}); len(got) != 1 {
		t.Errorf("the log has %q", got)
	}
}

// Equal patterns are looked for once, and waits that begin in the middle of a line do not count
// what came before.
func TestEqualPatternsAreLookedForOnce(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	x := sharedTerminal(t, h, 80, 24)
	term := x.Terminal()
	c := connect(t, h, carol, "c").c
	var waits []*host.PendingWait
	begin := func() {
		p, err := c.StartWait(term, host.WaitFor{Match: pattern("a.c"), Fresh: true})
		if err != nil {
			t.Fatal(err)
		}
		waits = append(waits, p)
	}
	begin()
	begin()
	if n := host.PatternsOf(waits[0], waits[1]); n != 1 {
		t.Errorf("there are %d patterns", n)
	}
	prints(t, x, "abc")
	begin()
	for i, p := range waits[:2] {
		if got, err := p.End(t.Context()); err != nil || got.Line != "abc" {
			t.Errorf("wait %d: %+v, %v", i, got, err)
		}
	}
	prints(t, x, " more\nacc")
	if got, err := waits[2].End(t.Context()); err != nil || got.Line != "abc more" {
		t.Errorf("the wait that began later: %+v, %v", got, err)
	}
	nothingIsLookedAt(t, h, term)
}

// An account that has too much looked for is told so, and keeps no memory; others go on.
func TestWaitsThatFallTooFarBehindAreToldSo(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	x := sharedTerminal(t, h, 80, 24)
	term := x.Terminal()
	observer, err := h.Connect(eve, host.DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	defer observer.Close()
	p, err := observer.StartWait(term, host.WaitFor{Match: costly(1), Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	simple, err := connect(t, h, carol, "c").c.StartWait(term, host.WaitFor{Command: false,
		Idle: hosttest.Patience, Timeout: 2 * hosttest.Patience})
	if err != nil {
		t.Fatal(err)
	}
	account := eve.Account()
	const maxBehind = 32 << 20 // bytes
	if !host.PutBehind(h, account, maxBehind-1000) {
		t.Fatal("so much is too much")
	}
	prints(t, x, strings.Repeat("x", 2000))
	var behind *host.BehindError
	if _, err := p.End(t.Context()); !errors.As(err, &behind) {
		t.Errorf("it ends with %v", err)
	}
	host.PutBehind(h, account, -(maxBehind - 1000))
	x.Exit(0)
	if got, err := simple.End(t.Context()); err != nil || got.Reason != host.WaitExit {
		t.Errorf("another one's: %+v, %v", got, err)
	}
	nothingIsLookedAt(t, h, term)
}

func TestAnAccountHasSoManyWaitsForLines(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "read x")
	token, _ := of(worker)
	begin := func(p authz.Principal) (*host.PendingWait, error) {
		return door(t, h, p, host.DoorWebSocket).StartWait(term,
			host.WaitFor{Match: pattern("never"), Fresh: true, Timeout: 1})
	}
	const maxLineWaits = 512
	var waits []*host.PendingWait
	end := func(p *host.PendingWait) {
		t.Helper()
		_, err := p.End(t.Context())
		hosttest.Check(t, err)
	}
	c := door(t, h, worker, host.DoorWebSocket)
	for range maxLineWaits {
		p, err := c.StartWait(term, host.WaitFor{Match: pattern("never"), Fresh: true, Timeout: 1})
		hosttest.Check(t, err)
		waits = append(waits, p)
	}
	var quota *admit.QuotaError
	if _, err := begin(token); !errors.As(err, &quota) {
		t.Errorf("one too many: %v", err)
	}
	p, err := begin(chief)
	if err != nil {
		t.Fatalf("an admin: %v", err)
	}
	end(p)
	for _, p := range waits {
		end(p)
	}
	if p, err = begin(token); err != nil {
		t.Fatalf("when some have ended: %v", err)
	}
	end(p)
}

// BenchmarkWaits is how long it takes to look at output for 60 waits of one account.
func BenchmarkWaits(b *testing.B) {
	for name, of := range map[string]func(int) *history.Pattern{
		"text":   func(i int) *history.Pattern { return pattern(fmt.Sprintf("never%d", i)) },
		"equal":  func(int) *history.Pattern { return pattern("[nN]ever") },
		"choice": func(i int) *history.Pattern { return pattern(fmt.Sprintf("(never|[Nn]o)%d", i)) },
	} {
		b.Run(name, func(b *testing.B) {
			h := hosttest.New(b)
			x := sharedTerminal(b, h, 80, 24)
			c, err := h.Connect(alice, host.DoorWebSocket) // an admin, who has no budget
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			ctx, cancel := context.WithCancel(b.Context())
			var waits []*host.PendingWait
			var wg sync.WaitGroup
			for i := range 60 {
				p, err := c.StartWait(x.Terminal(), host.WaitFor{Match: of(i), Fresh: true})
				if err != nil {
					b.Fatal(err)
				}
				waits = append(waits, p)
				wg.Go(func() { _, _ = p.End(ctx) }) // it is cancelled
			}
			text := strings.Repeat("0123456789abcdef and some text that goes on\r\n", 700)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				prints(b, x, text)
				host.CatchUp(waits[0])
			}
			cancel()
			wg.Wait()
		})
	}
}
