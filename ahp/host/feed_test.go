package host_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

// listen returns what reads the events for a principal.
func listen(t testing.TB, h *host.Host, p authz.Principal, only ...*host.Terminal) *listener {
	t.Helper()
	c, err := h.Connect(p, host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	r, err := c.Events(only...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return &listener{t: t, r: r}
}

type listener struct {
	t    testing.TB
	r    *host.EventReader
	seen []host.Event // not yet passed
	past []host.Event // what until has passed over
}

// until waits for an event of a kind and returns it. Earlier ones are passed over.
func (l *listener) until(kind host.EventKind) host.Event {
	l.t.Helper()
	deadline := time.After(slowtest.PatienceOf(l.t))
	for {
		l.seen = l.r.Pull(l.seen, 100)
		for i, e := range l.seen {
			if e.Kind == kind {
				l.past, l.seen = append(l.past, l.seen[:i]...), l.seen[i+1:]
				return e
			}
		}
		select {
		case <-l.r.Signal():
		case <-deadline:
			l.t.Fatalf("no %s", kind)
		}
	}
}

func TestTheFeedTellsWhatHappensAndByWhom(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	l := listen(t, h, eve)
	told := func(want string) {
		t.Helper()
		kind, _, _ := strings.Cut(want, " ")
		e := l.until(host.EventKind(kind))
		code := ""
		if e.ExitCode != nil {
			code = fmt.Sprintf("exit %d", *e.ExitCode)
		}
		got := strings.Join(strings.Fields(fmt.Sprint(e.Kind, " ", e.Terminal, " ", e.By, " ", e.To, " ",
			code)), " ")
		if got != want || e.Time.IsZero() {
			t.Errorf("%q at %s, want %q", got, e.Time, want)
		}
	}
	term := run(t, h, carol, "x", `printf '\a\a'; read secret;
		printf '\033]633;C\007'; printf '\033]633;D;3\007'
		printf '\033]633;C\007'; printf '\033]633;D;4\007'; read x; exit 7`)
	told("created x carol")
	told("bell x")
	v := attach(t, h, alice, "x", window)
	told("attached x alice")
	if err := v.a.Input([]byte("hunter2\r")); err != nil {
		t.Fatal(err)
	}
	told("holderChanged x alice alice")
	told("commandStarted x alice")
	told("commandFinished x alice exit 3")
	told("commandStarted x")
	told("commandFinished x exit 4")
	if _, err := v.handBack(); err != nil {
		t.Fatal(err)
	}
	told("holderChanged x alice carol")
	if err := v.a.Input([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	told("holderChanged x alice alice")
	told("exited x exit 7")
	v.a.Close()
	v.a.Close()
	told("detached x alice")
	if err := hosttest.Dispose(h, alice, term); err != nil {
		t.Fatal(err)
	}
	told("disposed x alice")
	run(t, h, carol, "y", "exit 0")
	told("created y carol")
}

func TestAnEventHasNothingThatWasTypedOrPrinted(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	l := listen(t, h, carol)
	term := run(t, h, carol, "x", `stty -icanon -echo; echo ready; read x; printf 'shown-%s' "$x"; `+
		`printf '\033]633;E;typed hunter2\007\033]633;C\007'`)
	awaitOutput(t, h, term, "ready") // what is typed before the echo is off is not for a hidden line
	p := connect(t, h, carol, "c")
	p.dispatch(ahp.TerminalURI("x"), ahp.TerminalInput{Data: []byte("hunter2\r")})
	wait(t, "the exit", term.Done())
	l.until(host.EventExited)
	all := l.r.Pull(l.seen, 100)
	text, err := json.Marshal(all)
	if err != nil || strings.Contains(string(text), "hunter2") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestAWaitIsNoAttach(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, withoutLookout)
	term := run(t, h, carol, "x", "read x")
	l := listen(t, h, carol)
	c := connect(t, h, carol, "c").c
	if _, err := c.Wait(t.Context(), term, host.WaitFor{Idle: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	dispose(l.t, h, term)
	l.until(host.EventDisposed)
	for _, e := range l.past[:len(l.past)-1] { // the last one is the exit
		t.Errorf("%+v", e)
	}
}

func TestAReaderSeesItsTerminalsOnly(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, withoutLookout)
	mine, other := run(t, h, carol, "mine", "read x"), run(t, h, carol, "other", "read x")
	guest := listen(t, h, guestOf(mine, "gwen", authz.Observer))
	named := listen(t, h, eve, mine)
	for range feedEvents + 5 {
		host.Emit(other, host.Event{Kind: host.EventBell})
	}
	host.Emit(mine, host.Event{Kind: host.EventAsks, By: "claude"})
	run(t, h, carol, "third", "exit 0")
	for _, l := range []*listener{guest, named} {
		got := l.r.Pull(nil, 100)
		if len(got) != 1 || got[0].Kind != host.EventAsks || got[0].By != "claude" {
			t.Errorf("%+v", got)
		}
	}
	forced := carol
	forced.Command = "make"
	c, err := h.Connect(forced, host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Events(); err == nil {
		t.Error("a key with a forced command reads the events")
	}
}

func TestASlowReaderIsToldHowManyEventsItHasLost(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, withoutLookout)
	x, y := run(t, h, carol, "x", "read x"), run(t, h, carol, "y", "read x")
	slow, quick, named := listen(t, h, eve), listen(t, h, eve), listen(t, h, eve, x)
	count := func(n int) *int { return &n }
	for i := range feedEvents {
		host.Emit(x, host.Event{Kind: host.EventBell, ExitCode: count(i)})
	}
	got := quick.r.Pull(nil, 2*feedEvents)
	if len(got) != feedEvents || *got[0].ExitCode != 0 {
		t.Fatalf("%d events, the first %+v", len(got), got[0])
	}
	for i := range 3 {
		host.Emit(y, host.Event{Kind: host.EventBell, ExitCode: count(feedEvents + i)})
	}
	if n := len(quick.r.Pull(nil, 100)); n != 3 {
		t.Errorf("%d events instead of 3", n)
	}
	for l, missing := range map[*listener]int{slow: 3, named: 3} {
		got = l.r.Pull(nil, 2)
		rest := l.r.Pull(got[1:], 2*feedEvents)
		if got[0].Kind != host.EventLost || got[0].Count != uint64(missing) || *rest[0].ExitCode != 3 {
			t.Fatalf("%+v and then %+v", got[0], rest[0])
		}
		want := feedEvents
		if l == named { // which does not read y
			want -= 3
		}
		inOrder := slices.IsSortedFunc(rest, func(a, b host.Event) int { return *a.ExitCode - *b.ExitCode })
		if len(rest) != want || !inOrder {
			t.Errorf("%d events are left, want %d", len(rest), want)
		}
	}
	slow.r.Close()
	quick.r.Close()
	named.r.Close()
	host.Emit(x, host.Event{Kind: host.EventBell})
	if host.KeptOf(h).Events {
		t.Error("events are kept for nobody")
	}
}
