package host_test

import (
	"slices"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// silence has the look come that is due when a program has printed nothing for d.
func silence(h *host.Host, clock *laterClock, d time.Duration) {
	clock.advance(d)
	host.Tend(h)
}

func TestAProgramThatPrintsNothingIsMarked(t *testing.T) {
	t.Parallel()
	const after = time.Hour // no timer goes off during the test
	clock := newClock()
	h := hosttest.New(t, withClock(clock), func(c *host.Config) { c.QuietAfter = after })
	heard := listen(t, h, eve)
	asks := run(t, h, carol, "asks", "printf 'Password: '; read x")
	c := door(t, h, carol, host.DoorSSH)
	if _, err := c.Wait(t.Context(), asks, host.WaitFor{Blocked: true}); err != nil {
		t.Fatal(err)
	}
	busy := newPrinter(t, h, carol, "busy", "")
	silence(h, clock, after-time.Second)
	if busy.term.Info(eve).Quiet {
		t.Error("it is quiet too early")
	}
	silence(h, clock, time.Second)
	if i := busy.term.Info(eve); !i.Quiet || i.State != host.StateRunning {
		t.Errorf("it is %+v", i)
	}
	if e := heard.until(host.EventQuiet); e.Terminal != "busy" {
		t.Errorf("the event is %+v", e)
	}
	if asks.Info(eve).Quiet {
		t.Error("what waits for somebody is quiet")
	}
	busy.prints("x")
	if busy.term.Info(eve).Quiet {
		t.Error("it prints, and is quiet")
	}
	silence(h, clock, after)
	if err := h.Hangup(carol, busy.term, 0); err != nil {
		t.Fatal(err)
	}
	<-busy.term.Done()
	if busy.term.Info(eve).Quiet {
		t.Error("what has ended is quiet")
	}
}

func TestAShellAtItsPromptIsNotQuiet(t *testing.T) {
	t.Parallel()
	const after = time.Hour
	clock := newClock()
	h := hosttest.New(t, withClock(clock), func(c *host.Config) { c.QuietAfter = after })
	term := run(t, h, carol, "x", "PS1='% ' exec sh -i")
	hosttest.Eventually(t, "it is at its prompt", func() bool {
		return host.Looked(term)
	})
	silence(h, clock, after)
	if term.Info(carol).Quiet {
		t.Error("it is quiet")
	}
}

func TestACommandThatFailsWantsThoseWhoDidNotLook(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock), func(c *host.Config) { c.AttentionAfter = 2 * time.Second })
	x := newPrinter(t, h, carol, "x", "")
	watcher := attach(t, h, alice, "x", window)
	fails := func(after time.Duration) {
		x.takes(clock, after, 2)
	}
	fails(2 * time.Second)
	if got := wanted(t, h, carol); got != nil {
		t.Errorf("after 2 s carol is wanted by %q", got)
	}
	fails(2*time.Second + time.Millisecond)
	if got := wanted(t, h, carol); !slices.Equal(got, []string{"x failed"}) {
		t.Errorf("carol is wanted by %q", got)
	}
	watcher.a.Close()
	if got := wanted(t, h, alice); got != nil {
		t.Errorf("who has watched is wanted by %q", got)
	}
}

func TestARequestForTheKeyboardWantsItsHolder(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	run(t, h, carol, "x", "exec sleep 1000")
	run(t, h, carol, "y", "exec sleep 1000")
	dave := hosttest.Principal("dave", authz.Operator)
	heard := listen(t, h, eve)
	elsewhere := attach(t, h, carol, "y", window)
	asker := attach(t, h, dave, "x", window)
	clock.advance(time.Second)
	if _, here, err := asker.ask(); !here || err != nil {
		t.Fatalf("she is not told: %v", err)
	}
	if e := heard.until(host.EventAsksKeyboard); e.Terminal != "x" || e.By != "dave" || e.To != "carol" {
		t.Errorf("the event is %+v", e)
	}
	list, err := hosttest.Conn(t, h, carol).Wanting()
	if err != nil || len(list) != 1 || list[0].Why != host.WantKeyboard || list[0].By != "dave" {
		t.Errorf("she is wanted by %+v, %v", list, err)
	}
	if news, _ := elsewhere.a.News(list); len(news) != 1 {
		t.Errorf("her window is told %+v", news)
	}
	if got := wanted(t, h, alice); got != nil {
		t.Errorf("somebody else is wanted by %q", got)
	}
	if got := find(t, h, "x").Info(carol).AskedBy; !slices.Equal(got, []string{"dave"}) {
		t.Errorf("%q ask for the keyboard", got)
	}
	asker.a.Close()
	if got := wanted(t, h, carol); got != nil {
		t.Errorf("when dave has left she is wanted by %q", got)
	}
}
