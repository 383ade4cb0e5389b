package host_test

import (
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
	"termhost/keys"
)

// TestALinkIsForTheFirstPersonsTerminals: a notification's link leads to the terminals that it is
// about, as far as they are there and want the person.
func TestALinkIsForTheFirstPersonsTerminals(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, withoutLookout, func(c *host.Config) {
		c.Authority = hosttest.Authority(t, keys.Options{StateDir: t.TempDir()})
	})
	ann := authz.Principal{ID: "uid:7", Name: "ann", Role: authz.Admin}
	one, two := run(t, h, ann, "one", "exec sleep 1000"), run(t, h, ann, "two", "exec sleep 1000")
	others := run(t, h, carol, "others", "exec sleep 1000")
	for _, term := range []*host.Terminal{one, two, others} {
		host.SetWaiting(term, host.WaitingInput)
	}
	list := h.Unseen()
	if len(list) != 3 {
		t.Fatalf("unseen: %+v", list)
	}
	link := func(base string, list ...host.Unseen) (ticket, to string) {
		t.Helper()
		text, err := h.Link(base, list)
		if err != nil {
			t.Fatal(err)
		}
		rest, ok := strings.CutPrefix(text, "https://th.example/t/#t=link-")
		if !ok {
			t.Fatalf("the link is %s", text)
		}
		ticket, to, _ = strings.Cut(rest, "&")
		return ticket, to
	}
	first, to := link("https://th.example:443/t", list[0], list[2], list[0])
	if to != "/one" {
		t.Errorf("a link about one terminal of hers leads to %q", to)
	}
	second, to := link("https://th.example/t/", list...)
	if to != "" || second == first {
		t.Errorf("one about two leads to %q", to)
	}
	asked := list[1]
	asked.Ask = "@1 x"
	if _, to := link("https://th.example/t/", asked); to != "/two?ask=%401+x" {
		t.Errorf("one about an approval leads to %q", to)
	}

	hosttest.Check(t, hosttest.Dispose(h, ann, one))
	if _, to := link("https://th.example/t/", list...); to != "/two" {
		t.Errorf("with one gone it leads to %q", to)
	}
	if _, err := h.Link("https://th.example/t/", list[:1]); err == nil {
		t.Error("a terminal that is gone has a link")
	}
	for _, base := range []string{"", "ftp://th.example/", "https://ann@th.example/", "https://th.example/?x"} {
		if got, err := h.Link(base, list[1:]); err == nil {
			t.Errorf("%q has the link %s", base, got)
		}
	}
}
