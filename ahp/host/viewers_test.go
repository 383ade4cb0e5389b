package host

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"termhost/ahp/store"
	"termhost/authz"
)

// A client must be told that its subscription has ended, or it would wait for output for ever.
func TestAKickEndsASubscriptionWithANotice(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	term, err := h.Create(alice, CreateOptions{Name: "build", Argv: []string{"sleep", "1000"}})
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, h, eve, "eve-client").c
	answer := func(dst []byte, _ store.View) []byte { return append(dst, "{}"...) }
	if e := c.Subscribe("ahp-terminal:/build", answer); e != nil {
		t.Fatal(e)
	}
	if list, err := h.Viewers(eve, term); err != nil || len(list) != 1 || list[0].How != "ws" {
		t.Fatalf("viewers: %+v, %v", list, err)
	}
	var denied *authz.Denied
	if n, err := h.Kick(carol, term, "eve"); n != 0 || !errors.As(err, &denied) {
		t.Fatalf("an operator's kick: %d, %v", n, err)
	}
	if n, err := h.Kick(alice, term, "eve"); n != 1 || err != nil {
		t.Fatalf("kick: %d, %v", n, err)
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
	if notice.Method != "termhost/unsubscribed" || notice.Params.Channel != "ahp-terminal:/build" ||
		!strings.Contains(notice.Params.Reason, "alice has ended your view of build") {
		t.Errorf("the notice: %+v", notice)
	}
	if _, err := h.Kick(alice, term, "eve"); err == nil {
		t.Error("a second kick finds somebody")
	}
}
