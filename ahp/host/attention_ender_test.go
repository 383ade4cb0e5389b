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

// What a person ends by a key of their own calls everybody but them, whether they have looked at it
// or not. What ends long after, or after the key of somebody else, calls them.
func TestWhoeverEndsAProgramByAKeyIsNotCalled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		types, then string
		later       time.Duration
		by          authz.Principal
		looked      bool
		want        []string // who is called
	}{
		"by q, in a pager":        {types: "jjq", by: alice, want: []string{"carol"}},
		"by a line":               {types: "exit\r", by: alice, want: []string{"carol"}},
		"by a command of vi":      {types: "dd:wq\r", by: alice, want: []string{"carol"}},
		"by ctrl-D":               {types: "\x04", by: alice, want: []string{"carol"}},
		"of one that was seen":    {types: "\x04", by: alice, looked: true, want: []string{"carol"}},
		"that made it":            {types: "\x04", by: carol, want: []string{"alice"}},
		"some seconds later":      {types: "q", later: 9 * time.Second, by: alice, want: []string{"carol"}},
		"long after":              {types: "q", later: 11 * time.Second, by: alice, want: []string{"alice", "carol"}},
		"after an answer":         {types: "yes\r", by: alice, want: []string{"alice", "carol"}},
		"after other keys":        {types: "q", then: "x", by: alice, want: []string{"alice", "carol"}},
		"after a line about that": {types: "quite\r", by: alice, want: []string{"alice", "carol"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := newClock()
			h := hosttest.New(t, withClock(clock), withoutLookout)
			p := newPrinter(t, h, carol, "p", "exit 1")
			if c.looked || c.by.ID != alice.ID || slices.Contains(c.want, "alice") {
				attach(t, h, alice, "p", window).a.Close()
			}
			p.prints("\x1b]633;A\x07\x1b]633;C\x07")
			clock.advance(longCommand)
			ctx := context.Background()
			hosttest.Check(t, door(t, h, c.by, host.DoorSSH).Send(ctx, p.term, []byte(c.types)))
			if c.then != "" {
				hosttest.Check(t, door(t, h, carol, host.DoorSSH).Send(ctx, p.term, []byte(c.then)))
			}
			clock.advance(c.later)
			p.prints("\x1b]633;D;0\x07")
			called := func(why string) {
				t.Helper()
				var got []string
				for _, who := range []authz.Principal{alice, carol} {
					if slices.Contains(wanted(t, h, who), "p "+why) {
						got = append(got, who.Name)
					}
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%s: it calls %q, want %q", why, got, c.want)
				}
			}
			called("command")
			p.ends()
			<-p.term.Done()
			called("exited")
		})
	}
}

// Whoever shows a terminal of their own has been there when its program ended. Others are called.
func TestTheOwnerOfASharedTerminalIsNotCalledByItsEnd(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, withoutLookout)
	s, err := door(t, h, carol, host.DoorSSH).Share(host.ShareOptions{Name: "p", Pty: true})
	hosttest.Check(t, err)
	t.Cleanup(s.Close)
	attach(t, h, alice, "p", window).a.Close()
	s.Exit(0)
	<-s.Terminal().Done()
	for _, c := range []struct {
		who  authz.Principal
		want bool
	}{{alice, true}, {carol, false}} {
		if got := slices.Contains(wanted(t, h, c.who), "p exited"); got != c.want {
			t.Errorf("its end calls %s: %v, want %v", c.who.Name, got, c.want)
		}
	}
}
