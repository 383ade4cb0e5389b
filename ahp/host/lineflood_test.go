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
