package hosttest

import (
	"crypto/rand"
	"testing"
	"time"

	"termhost/authz"
	"termhost/keys"
)

// Authority returns an authority whose tokens are in the state folder of o, until the test ends.
// Keys log in by the files of o and by the lines of the entries.
func Authority(t testing.TB, o keys.Options, entries ...authz.Entry) *authz.Authority {
	t.Helper()
	return AuthorityAt(t, time.Now, o, entries...)
}

// AuthorityAt is Authority with another clock.
func AuthorityAt(t testing.TB, clock func() time.Time, o keys.Options,
	entries ...authz.Entry) *authz.Authority {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	directory, err := authz.NewDirectory(entries)
	must(err)
	o.Lines = directory.Lines()
	ring, err := keys.Open(o)
	must(err)
	tokens, err := keys.OpenTokens(keys.TokenOptions{StateDir: o.StateDir, Rand: rand.Reader})
	must(err)
	stored := keys.TokenOptions{StateDir: o.StateDir, Rand: rand.Reader}
	invitations, err := keys.OpenInvitations(stored)
	must(err)
	links, err := keys.OpenLinks(stored)
	must(err)
	a := authz.NewAuthority(authz.AuthorityOptions{Ring: ring, Tokens: tokens,
		Invitations: invitations, Links: links,
		Directory: directory, Clock: clock})
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if err := ring.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}
