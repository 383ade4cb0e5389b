package authz

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"termhost/keys"
)

// link invites a guest, to a terminal of a minute ago, and returns the ticket for a browser.
func (h *house) link(g Grant, r InviteRequest) (string, keys.Invitation) {
	h.t.Helper()
	r.Terminals = []keys.InvitedTerminal{{Name: "build", Created: time.Now().Add(-time.Minute)}}
	secret, made, err := h.Invite(g, r)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.GuestTicket(secret), made
}

func TestAGuestComesWithABrowser(t *testing.T) {
	key := newKey(t)
	h := newHouse(t, keyLine(key, "", "alice"))
	alice := h.login(key)
	b, thief := newBrowser(t), newBrowser(t)
	ticket, made := h.link(alice, InviteRequest{Guest: "dora", Once: true})
	if mark := h.pageHostMark(); !strings.HasSuffix(ticket, mark) {
		t.Errorf("the ticket %s does not end with %s", ticket, mark)
	}

	// What nobody has proven binds nothing: whoever proves a key first has the invitation.
	session, token, err := h.EnterPage(ticket, pageOrigin, b.point(t), loopback)
	if err != nil || token.Name != "guest:dora" || token.Role != "observer" ||
		!token.Expires.Equal(made.Expires) {
		t.Fatalf("the guest's page gets %+v: %v", token, err)
	}
	stolen, _, err := h.EnterPage(ticket, pageOrigin, thief.point(t), loopback)
	if err != nil {
		t.Fatal(err)
	}
	for name, proof := range map[string]PageProof{
		"none":          {Origin: pageOrigin},
		"another key's": thief.prove(t, pageOrigin, h.PageChallenge()),
	} {
		if _, err := h.AuthenticatePage(session, proof, loopback); !errors.Is(err, keys.ErrBadToken) {
			t.Errorf("the proof is %s: %v", name, err)
		}
	}
	good := b.prove(t, pageOrigin, h.PageChallenge())
	grant, err := h.AuthenticatePage(session, good, loopback)
	if p := grant.Principal; err != nil || p.Name != "guest:dora" || p.Role != Observer || p.Guest != made.ID {
		t.Fatalf("the page: %+v, %v", p, err)
	}
	if _, err := h.AuthenticatePage(session, good, loopback); !errors.Is(err, keys.ErrBadToken) {
		t.Errorf("a proof that was used: %v", err)
	}
	proof := thief.prove(t, pageOrigin, h.PageChallenge())
	if _, err := h.AuthenticatePage(stolen, proof, loopback); !errors.Is(err, keys.ErrBadInvite) {
		t.Errorf("another browser: %v", err)
	}
	if _, _, err := h.EnterPage(ticket, pageOrigin, thief.point(t), loopback); !errors.Is(err, keys.ErrBadInvite) {
		t.Errorf("another browser enters: %v", err)
	}

	// It lives on with the next host, and ends with the invitation.
	h.stop()
	h.start()
	grant, err = h.AuthenticatePage(session, b.prove(t, pageOrigin, h.PageChallenge()), loopback)
	if err != nil {
		t.Fatal(err)
	}
	end := h.track(grant)
	if err := h.Uninvite(alice.Principal, "dora"); err != nil {
		t.Fatal(err)
	}
	if err := h.ended(end); !errors.Is(err, keys.ErrBadInvite) {
		t.Errorf("the page ends with %v", err)
	}
	proof = b.prove(t, pageOrigin, h.PageChallenge())
	if _, err := h.AuthenticatePage(session, proof, loopback); !errors.Is(err, keys.ErrBadInvite) {
		t.Errorf("after its end: %v", err)
	}
}

func TestNoTextIsTakenForAGuestsPage(t *testing.T) {
	key := newKey(t)
	h := newHouse(t, keyLine(key, "", "alice"))
	b := newBrowser(t)
	point := base64.RawURLEncoding.EncodeToString(b.point(t))
	ticket, _ := h.link(h.login(key), InviteRequest{})
	for _, text := range []string{"invite-", "invite-x", ticket[:20], ticket[7:], ticket + "x"} {
		if _, _, err := h.EnterPage(text, pageOrigin, b.point(t), loopback); err == nil {
			t.Errorf("%q lets in", text)
		}
	}
	secret := strings.TrimSuffix(ticket, h.pageHostMark())
	for _, text := range []string{"invite-", secret, secret + ".", secret + ".%", secret + "." + point[4:],
		"invite-." + point, "invite-x." + point, secret + "." + point + "." + point} {
		proof := b.prove(t, pageOrigin, h.PageChallenge())
		if _, err := h.AuthenticatePage(text, proof, loopback); err == nil {
			t.Errorf("%q authenticates", text)
		}
	}
	if list, err := h.Invitations(h.login(key).Principal); err != nil || len(list) != 1 || len(list[0].Keys) != 0 {
		t.Errorf("the invitation has keys: %+v, %v", list, err)
	}
}
