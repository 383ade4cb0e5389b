package host_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/store"
	"termhost/authz"
)

// A client must be told that its subscription has ended, or it would wait for output for ever.
func TestAKickEndsASubscriptionWithANotice(t *testing.T) {
	t.Parallel()
	t.Run("plain name", func(t *testing.T) { kicked(t, false, "termhost/unsubscribed") })
	t.Run("reserved name", func(t *testing.T) { kicked(t, true, "x-termhost/unsubscribed") })
}

// kicked checks a kick of a peer that may use reserved names; method is that of the notice.
func kicked(t *testing.T, reserved bool, method string) {
	t.Parallel()
	h := hosttest.New(t)
	term, err := hosttest.Create(h, alice, host.CreateOptions{Name: "build", Argv: []string{"sleep", "1000"}})
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, h, eve, "eve-client").c
	if reserved {
		c.UseReservedNames()
	}
	answer := func(dst []byte, _ store.View) []byte { return append(dst, "{}"...) }
	if e := c.Subscribe("ahp-terminal:/build", answer); e != nil {
		t.Fatal(e)
	}
	if list, err := hosttest.Conn(t, h, eve).Viewers(term); err != nil || len(list) != 1 || list[0].How != "ws" {
		t.Fatalf("viewers: %+v, %v", list, err)
	}
	var denied *authz.Denied
	if _, n, err := door(t, h, carol, host.DoorSSH).Kick(term, "eve"); n != 0 || !errors.As(err, &denied) {
		t.Fatalf("an operator's kick: %d, %v", n, err)
	}
	const hint = `nobody named "eve" watches build, but eve/eve-client does`
	if _, n, err := door(t, h, alice, host.DoorSSH).Kick(term, "eve"); n != 0 || err == nil || err.Error() != hint {
		t.Fatalf("a kick of the person, whose program watches: %d, %v", n, err)
	}
	if name, n, err := door(t, h, alice, host.DoorSSH).Kick(term, "eve/eve-client"); n != 1 || err != nil ||
		name != "eve/eve-client" {
		t.Fatalf("kick: %q, %d, %v", name, n, err)
	}
	if n := c.Subscriptions(); n != 0 {
		t.Errorf("%d subscriptions are left", n)
	}
	var notice struct {
		Method string
		Params struct{ Channel, Reason string }
	}
	for notice.Method == "" {
		items := c.Subscriber().Pull(nil, 1<<20)
		if len(items) == 0 {
			t.Fatal("no notice")
		}
		for _, it := range items {
			if it.Post == nil {
				continue
			}
			if err := json.Unmarshal(it.Post(nil), &notice); err != nil {
				t.Fatal(err)
			}
		}
	}
	if notice.Method != method || notice.Params.Channel != "ahp-terminal:/build" ||
		!strings.Contains(notice.Params.Reason, "alice has ended your view of build") {
		t.Errorf("the notice: %+v", notice)
	}
	if _, _, err := door(t, h, alice, host.DoorSSH).Kick(term, "eve/eve-client"); err == nil {
		t.Error("a second kick finds somebody")
	}
}

func TestOnlyWhatThePrincipalSeesIsWatchedForIt(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	for _, name := range []string{"build", "secret", "unwatched"} {
		_, err := hosttest.Create(h, alice,
			host.CreateOptions{Name: name, Argv: []string{"sleep", "1000"}})
		hosttest.Check(t, err)
	}
	attach(t, h, alice, "secret", host.AttachOptions{})
	attach(t, h, carol, "build", host.AttachOptions{})
	build, err := hosttest.Find(h, alice, "build")
	hosttest.Check(t, err)
	for want, p := range map[string]authz.Principal{"build: carol, secret: alice": eve,
		"build: carol": guestOf(build, "gwen", authz.Observer)} {
		all, err := hosttest.Conn(t, h, p).Watched()
		hosttest.Check(t, err)
		var rows []string
		for _, w := range all {
			for _, v := range w.Viewers {
				rows = append(rows, w.Terminal.Name()+": "+v.Name)
			}
		}
		if got := strings.Join(rows, ", "); got != want {
			t.Errorf("%s is told %q, want %q", p.Name, got, want)
		}
	}
}
