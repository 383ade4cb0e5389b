package host_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// TestWhatPeopleHaveNotSeen is about a person whose fingerprint has slashes, her token, and another.
func TestWhatPeopleHaveNotSeen(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, withoutLookout)
	id := "SHA256:a/b/" + strings.Repeat("c", 39)
	ann := authz.Principal{ID: id, Name: "ann", Role: authz.Operator, Fingerprint: id}
	token := authz.Principal{ID: id + "/ci", Name: "ann/ci", Role: authz.Operator, Fingerprint: id, Token: "ci"}
	own := run(t, h, ann, "own", "exec sleep 1000")
	agents := run(t, h, token, "agents", "exec sleep 1000")
	run(t, h, carol, "others", "exec sleep 1000")
	expect := func(when string, want ...string) {
		t.Helper()
		var got []string
		for _, u := range h.Unseen() {
			got = append(got, fmt.Sprint(u.Terminal, " ", u.Person, " ", u.Why, " ", u.Labels))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	expect("nothing has happened")
	changes, end := h.UnseenChanges()
	defer end()
	hosttest.Check(t, hosttest.Conn(t, h, ann).Label(own, "a=b"))
	host.SetWaiting(own, host.WaitingSecret)
	host.SetWaiting(agents, host.WaitingInput)
	<-changes
	expect("two wait", "own ann secret a=b", "agents ann input ")
	v := attach(t, h, ann, "own", window)
	expect("she looks at one", "agents ann input ")
	v.a.Close()
	expect("she has seen it", "agents ann input ")
	host.SetWaiting(own, host.WaitingNone)
	host.SetWaiting(own, host.WaitingInput)
	expect("it asks anew", "own ann input a=b", "agents ann input ")
	c := connect(t, h, alice, "a")
	if why := c.dispatch(own.URI(), ahp.TerminalClaimed{Claim: ahp.ClientClaim("a")}); why != "" {
		t.Fatal(why)
	}
	expect("another holds it", "own ann input a=b", "own alice input a=b", "agents ann input ")
}
