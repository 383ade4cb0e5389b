package host_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// wanted returns the NAMEs of what wants p, each with why.
func wanted(t *testing.T, h *host.Host, p authz.Principal) (list []string) {
	t.Helper()
	all, err := hosttest.Conn(t, h, p).Wanting()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range all {
		list = append(list, w.Terminal.Name()+" "+string(w.Why))
	}
	return list
}

func TestATerminalWantsWhoeverDoesNotLookAtIt(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	a := newPrinter(t, h, carol, "a", "exec sleep 1000")
	b := newPrinter(t, h, carol, "b", "printf 'Password: '; read x")
	want := func(p authz.Principal, names ...string) {
		t.Helper()
		if got := wanted(t, h, p); !slices.Equal(got, names) {
			t.Errorf("%s is wanted by %q, want %q", p.Name, got, names)
		}
	}
	v := attach(t, h, alice, "b", window)
	b.rings(clock)
	a.takes(clock, longCommand-time.Second, 0)
	want(alice)
	want(carol, "b bell")
	a.takes(clock, longCommand, 0)
	want(alice, "a command")
	want(carol, "b bell", "a command")
	a.rings(clock)
	want(alice, "a command") // the first counts
	v.a.Close()
	want(alice, "a command") // which has seen b to the end
	b.rings(clock)
	want(alice, "a command", "b bell")
	b.ends()
	_, err := door(t, h, carol, host.DoorSSH).Wait(context.Background(), b.term, host.WaitFor{Blocked: true})
	if err != nil {
		t.Fatal(err)
	}
	want(alice, "a command", "b secret")
	want(carol, "b secret", "a command")
	attach(t, h, alice, "a", host.AttachOptions{ReadOnly: true}).a.Close() // a stream: nobody looks
	want(alice, "a command", "b secret")
	attach(t, h, alice, "a", window).a.Close()
	want(alice, "b secret")
	attach(t, h, alice, "b", window).a.Close() // which still waits
	want(alice, "b secret")
	if err := hosttest.Dispose(h, carol, b.term); err != nil {
		t.Fatal(err)
	}
	want(alice)
}

// TestWhatPeopleHaveMissedWantsThemAfterARestart is about what the log has, from before the exit, and
// what the description has, from after it.
func TestWhatPeopleHaveMissedWantsThemAfterARestart(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	want := func(h *host.Host, p authz.Principal, names ...string) {
		t.Helper()
		if got := wanted(t, h, p); !slices.Equal(got, names) {
			t.Errorf("%s is wanted by %q, want %q", p.Name, got, names)
		}
	}
	rang := newPrinter(t, h, carol, "rang", "exit 1")
	seen := newPrinter(t, h, carol, "seen", "exit 1")
	attach(t, h, alice, "rang", window).a.Close()
	attach(t, h, alice, "seen", window).a.Close()
	rang.rings(clock)
	seen.rings(clock)
	attach(t, h, alice, "seen", window) // which she looks at when the host is killed
	want(h, alice, "rang bell")
	want(h, carol, "rang bell", "seen bell")
	for _, p := range []*printer{rang, seen} {
		p.ends()
		<-p.term.Done()
	}
	want(h, alice, "rang exited")

	clock.advance(time.Hour)
	next := after(t, killed(t, h), withClock(clock))
	want(next, alice, "rang exited")
	want(next, carol, "rang exited", "seen exited")
	attach(t, next, alice, "rang", window).a.Close()
	attach(t, next, carol, "seen", window).a.Close()
	last := after(t, killed(t, next), withClock(clock))
	want(last, alice)
	want(last, carol, "rang exited")
}

// A window is called whenever the list of what wants its person changes: by looks of that person
// elsewhere, by the end of them, by an answer, and when a terminal is removed.
func TestAWindowIsCalledWhenWhatWantsItsPersonChanges(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, withoutLookout) // see SetWaiting
	run(t, h, carol, "work", "exec sleep 1000")
	asks := run(t, h, carol, "asks", "exec sleep 1000")
	over := run(t, h, alice, "over", "exit 1")
	<-over.Done()
	<-run(t, h, carol, "others", "exit 1").Done() // whose end is no concern of alice's
	waits := func(now host.Waiting) { host.SetWaiting(asks, now) }
	waits(host.WaitingSecret)
	v := attach(t, h, alice, "work", window)
	called := func(when string, names ...string) {
		t.Helper()
		select {
		case <-v.a.Calls():
		default:
			t.Errorf("%s: it is not called", when)
		}
		if got := wanted(t, h, alice); !slices.Equal(got, names) {
			t.Errorf("%s: alice is wanted by %q, want %q", when, got, names)
		}
	}
	called("it has come", "over exited", "asks secret")
	other := attach(t, h, alice, "asks", window)
	called("the person looks elsewhere", "over exited")
	waits(host.WaitingNone)
	waits(host.WaitingSecret) // which that person sees
	other.a.Close()
	called("the person looks away", "over exited", "asks secret")
	list, err := hosttest.Conn(t, h, alice).Wanting()
	if news, _ := v.a.News(list); err != nil || len(news) != 0 {
		t.Errorf("what was seen is news: %v, %v", news, err)
	}
	if err := hosttest.Dispose(h, alice, over); err != nil {
		t.Fatal(err)
	}
	called("one that has exited is removed", "asks secret")
	waits(host.WaitingNone)
	called("a program goes on")
	waits(host.WaitingInput)
	called("a program waits", "asks input")
	if err := hosttest.Dispose(h, carol, asks); err != nil {
		t.Fatal(err)
	}
	called("one that waits is removed")
}

// A peer that tells its person's looks is called when a look changes the list of terminals that
// want the person. With its connection its looks end.
func TestAPeerTellsWhatItsPersonLooksAt(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	a, b := newPrinter(t, h, carol, "a", ""), newPrinter(t, h, carol, "b", "")
	c := door(t, h, alice, host.DoorWebSocket)
	called := func(names ...string) {
		t.Helper()
		hosttest.Eventually(t, "a call", func() bool {
			select {
			case <-c.Calls():
				return true
			default:
				return false
			}
		})
		var got []string
		list, err := c.Wanting()
		if err != nil {
			t.Error(err)
		}
		for _, w := range list {
			got = append(got, w.Terminal.Name()+" "+string(w.Why))
		}
		if !slices.Equal(got, names) {
			t.Errorf("alice is wanted by %q, want %q", got, names)
		}
	}
	if !c.Looking([]string{a.term.URI(), a.term.URI(), "ahp-terminal:/none", "x:y"}) || c.Looking([]string{a.term.URI()}) {
		t.Error("the first time is not the first")
	}
	called()
	a.rings(clock)
	b.takes(clock, longCommand, 0)
	called("b command")
	c.Looking([]string{b.term.URI()})
	called()
	a.rings(clock)
	called("a bell")
	window := attach(t, h, alice, "a", window) // one that the same person opens
	b.rings(clock)
	called()
	window.a.Close()
	c.Looking(nil)
	a.takes(clock, longCommand, 1)
	called("a failed")
	c.Looking([]string{a.term.URI()})
	c.Close()
	if list, err := c.Wanting(); c.Looking([]string{b.term.URI()}) || list != nil || err == nil {
		t.Error("a connection that is closed still looks")
	}
	a.rings(clock)
	b.rings(clock)
	if got := wanted(t, h, alice); !slices.Equal(got, []string{"a bell", "b bell"}) {
		t.Errorf("alice is wanted by %q", got)
	}
}
