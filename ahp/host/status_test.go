package host_test

import (
	"errors"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

func TestWhoMaySayHowAProgramStands(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "exec cat")
	_, client := connect(t, h, carol, "owner").share("laptop", "")
	dave := hosttest.Principal("dave", authz.Operator)
	for _, c := range []struct {
		by   authz.Principal
		of   *host.Terminal
		what host.State
		may  bool
	}{
		{carol, term, host.StatusWorking, true}, {alice, term, host.StatusFailed, true},
		{eve, term, host.StatusDone, false}, {dave, term, host.StatusDone, false},
		{carol, term, "asleep", false}, {carol, term, host.StatusNone, false},
		{dave, client, host.StatusDone, false}, {alice, client, host.StatusDone, true},
	} {
		was := c.of.Info(alice).Status.State
		err := hosttest.Conn(t, h, c.by).SetStatus(c.of, host.Said{State: c.what, Text: "x\x1b]2;y\x07"})
		if (err == nil) != c.may {
			t.Errorf("%s says that %s is %q: %v", c.by.Name, c.of, c.what, err)
		}
		if !c.may {
			c.what = was
		}
		if now := c.of.Info(alice).Status; now.State != c.what || was == "" && c.may && now.Text != "x]2;y" {
			t.Errorf("%s: it is %+v, want %q", c.by.Name, now, c.what)
		}
	}
	hosttest.Check(t, hosttest.Dispose(h, carol, term))
	err := hosttest.Conn(t, h, alice).SetStatus(term, host.Said{State: host.StatusDone})
	if !errors.Is(err, host.ErrExited) {
		t.Errorf("of a terminal that has ended: %v", err)
	}
}

func TestAProgramThatSaysItWaitsWantsPeopleUntilSomebodyTypes(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, withoutLookout)
	term := run(t, h, carol, "x", "exec cat")
	c := hosttest.Conn(t, h, carol)
	says := func(s host.State) { hosttest.Check(t, c.SetStatus(term, host.Said{State: s, Text: "may I?"})) }
	want := func(when string, waiting host.Waiting, wants bool, notice string) {
		t.Helper()
		i := term.Info(eve)
		if i.Waiting != waiting || i.WantsYou != wants || i.Notice != notice {
			t.Errorf("%s: it waits for %q, wants eve %v, %q", when, i.Waiting, i.WantsYou, i.Notice)
		}
	}
	says(host.StatusWaiting)
	want("it waits", host.WaitingInput, true, "may I?")
	v := attach(t, h, carol, "x", window)
	for _, report := range []string{"\x1b[I", "\x1b[O", "\x1b[<35;1;1M"} {
		hosttest.Check(t, v.a.Input([]byte(report)))
	}
	want("her window has told of the focus and the mouse", host.WaitingInput, true, "may I?")
	hosttest.Check(t, v.a.Input([]byte("y")))
	want("she has answered", host.WaitingNone, false, "")
	says(host.StatusWaiting)
	want("it waits again", host.WaitingInput, true, "may I?")
	says(host.StatusWorking)
	want("it works", host.WaitingNone, false, "")
	says(host.StatusDone)
	want("it is done", host.WaitingNone, true, "may I?")
	if i := term.Info(carol); i.WantsYou {
		t.Error("it wants her who looks at it")
	}
}
