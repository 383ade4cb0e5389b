package authz

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"termhost/keys"
)

var shown = keys.InvitedTerminal{Name: "build", Created: time.Unix(1_700_000_000, 0)}

// notice returns the ticket of a link for the owner of a key.
func (h *house) notice(key ssh.Signer) string {
	h.t.Helper()
	ticket, _, err := h.MakeLink(LinkRequest{Person: ssh.FingerprintSHA256(key.PublicKey()),
		Terminals: []keys.InvitedTerminal{shown}, Origin: pageOrigin})
	if err != nil {
		h.t.Fatal(err)
	}
	return ticket
}

func (h *house) connects(session string, b browser) (Grant, error) {
	return h.AuthenticatePage(session, b.prove(h.t, pageOrigin, h.PageChallenge()), loopback)
}

func TestALinkOpensOnePageOnce(t *testing.T) {
	key := newKey(t)
	h := newHouse(t, keyLine(key, "", "alice"))
	b, thief := newBrowser(t), newBrowser(t)
	ticket := h.notice(key)
	if !strings.HasPrefix(ticket, "link-") || !strings.HasSuffix(ticket, h.pageHostMark()) {
		t.Errorf("the ticket is %s", ticket)
	}
	text, err := os.ReadFile(filepath.Join(h.dir, "links.json"))
	if err != nil || strings.Contains(string(text), ticket[5:25]) {
		t.Errorf("the file has the secret: %s, %v", text, err)
	}
	h.ahead.Add(int64(59 * time.Minute)) // a phone in a pocket
	h.stop()
	h.start() // a restart
	session, token, err := h.EnterPage(ticket, pageOrigin, b.point(t), loopback)
	if err != nil || !strings.HasPrefix(token.Name, "page-link-") || token.Role != "admin" {
		t.Fatalf("the page gets %+v: %v", token, err)
	}
	for name, by := range map[string]browser{"the same browser": b, "another": thief} {
		if _, _, err := h.EnterPage(ticket, pageOrigin, by.point(t), loopback); !errors.Is(err, keys.ErrLinkUsed) {
			t.Errorf("%s opens it again: %v", name, err)
		}
	}
	if _, err := h.AuthenticatePage(session, PageProof{Origin: pageOrigin}, loopback); err == nil {
		t.Error("as a bearer token it lets in")
	}
	if _, err := h.connects(session, thief); !errors.Is(err, keys.ErrBadToken) {
		t.Errorf("with another browser's proof: %v", err)
	}
	other := session[:strings.LastIndex(session, ".")] + "." + "AAAA"
	if _, err := h.connects(other, thief); !errors.Is(err, keys.ErrBadLink) {
		t.Errorf("as another browser: %v", err)
	}
	g, err := h.connects(session, b)
	p := g.Principal
	if err != nil || p.Name != "alice/page" || !p.IsPage() || Person(p.ID) != ssh.FingerprintSHA256(key.PublicKey()) {
		t.Fatalf("the page: %+v, %v", p, err)
	}
	if p.Sees("deploy", shown.Created) || p.Sees("build", shown.Created.Add(1)) || !p.Sees("build", shown.Created) {
		t.Errorf("it sees %s", p.Reach)
	}
	end := h.track(g)
	alice := h.login(key)
	list, err := h.ListTokens(alice)
	if err != nil || len(list) != 1 || list[0].Name != token.Name {
		t.Fatalf("the tokens are %+v, %v", list, err)
	}
	if err := h.RevokeToken(alice, token.Name); err != nil {
		t.Fatal(err)
	}
	if err := h.ended(end); !errors.Is(err, keys.ErrBadLink) {
		t.Errorf("once revoked the page ends with %v", err)
	}
	if err := h.RevokeToken(alice, token.Name); !errors.Is(err, keys.ErrNoToken) {
		t.Errorf("revoked twice: %v", err)
	}
}

func TestWhatALinkOpensDoesNothingElse(t *testing.T) {
	key := newKey(t)
	h := newHouse(t, keyLine(key, "", "alice"))
	b := newBrowser(t)
	session, _, err := h.EnterPage(h.notice(key), pageOrigin, b.point(t), loopback)
	if err != nil {
		t.Fatal(err)
	}
	g, err := h.connects(session, b)
	if err != nil {
		t.Fatal(err)
	}
	within := Target{Name: shown.Name, Created: shown.Created, Executor: Server, Holds: true, Yours: true,
		Made: true, Owner: true, TokenRole: Observer}
	may := map[Verb]bool{List: true, Subscribe: true, Read: true, Wait: true, AttachReadOnly: true,
		Input: true, Resize: true, Clear: true, Claim: true, Seize: true, Approve: true}
	for v := noVerb + 1; v < endOfVerbs; v++ {
		if err := Check(g.Principal, v, within); (err == nil) != may[v] {
			t.Errorf("%v: %v", v, err)
		}
		elsewhere := within
		elsewhere.Name = "deploy"
		if err := Check(g.Principal, v, elsewhere); err == nil && v != List {
			t.Errorf("%v elsewhere is permitted", v)
		}
	}
}

func TestALinkEndsWithItsHourAndItsKey(t *testing.T) {
	key, bob := newKey(t), newKey(t)
	h := newHouse(t, keyLine(key, "", "alice"), keyLine(bob, "", "bob"))
	b := newBrowser(t)
	enter := func(ticket, origin string) (string, error) {
		session, _, err := h.EnterPage(ticket, origin, b.point(t), loopback)
		return session, err
	}
	late := h.notice(key)
	h.ahead.Add(int64(keys.LinkTTL))
	if _, err := enter(late, pageOrigin); !errors.Is(err, keys.ErrBadLink) {
		t.Errorf("after an hour: %v", err)
	}
	stolen := h.notice(key)
	if _, err := enter(stolen, "https://evil.example"); !errors.Is(err, keys.ErrLinkOrigin) {
		t.Errorf("at another address: %v", err)
	}
	if _, err := enter(stolen, pageOrigin); !errors.Is(err, keys.ErrBadLink) {
		t.Errorf("a link that was tried at another address: %v", err)
	}
	session, err := enter(h.notice(key), pageOrigin)
	if err != nil {
		t.Fatal(err)
	}
	gone := h.notice(key)
	g, err := h.connects(session, b)
	if err != nil {
		t.Fatal(err)
	}
	end := h.track(g)
	h.change(keyLine(bob, "", "bob"))
	if h.ended(end) == nil {
		t.Error("the page of a removed key ends without reason")
	}
	h.change(keyLine(key, "", "alice"), keyLine(bob, "", "bob"))
	if _, err := enter(gone, pageOrigin); !errors.Is(err, keys.ErrBadLink) {
		t.Errorf("a link from before the key was removed: %v", err)
	}
	session, err = enter(h.notice(key), pageOrigin)
	if err != nil {
		t.Fatal(err)
	}
	h.ahead.Add(int64(keys.LinkPageTTL))
	if _, err := h.connects(session, b); !errors.Is(err, keys.ErrBadLink) {
		t.Errorf("the page after its hour: %v", err)
	}
	h.change(keyLine(key, `command="true"`, "alice"), keyLine(bob, "", "bob"))
	_, _, err = h.MakeLink(LinkRequest{Person: ssh.FingerprintSHA256(key.PublicKey()),
		Terminals: []keys.InvitedTerminal{shown}, Origin: pageOrigin})
	if denied := new(Denied); !errors.As(err, &denied) {
		t.Errorf("a key with a forced command gets a link: %v", err)
	}
}

func TestTheOldestLinksOfAKeyGiveWay(t *testing.T) {
	key, bob := newKey(t), newKey(t)
	h := newHouse(t, keyLine(key, "", "alice"), keyLine(bob, "", "bob"))
	b := newBrowser(t)
	other, opened, first := h.notice(bob), h.notice(key), h.notice(key)
	session, _, err := h.EnterPage(opened, pageOrigin, b.point(t), loopback)
	if err != nil {
		t.Fatal(err)
	}
	for range keys.MaxLinksPerKey - 1 {
		h.notice(key)
	}
	if _, _, err := h.EnterPage(first, pageOrigin, b.point(t), loopback); !errors.Is(err, keys.ErrBadLink) {
		t.Errorf("the oldest: %v", err)
	}
	if _, err := h.connects(session, b); err != nil {
		t.Errorf("one that is open: %v", err)
	}
	if _, _, err := h.EnterPage(other, pageOrigin, b.point(t), loopback); err != nil {
		t.Errorf("another key's: %v", err)
	}
}

func TestAUserOfThisMachineGetsLinks(t *testing.T) {
	h := newHouse(t)
	b := newBrowser(t)
	ticket, _, err := h.MakeLink(LinkRequest{Person: "uid:7", Terminals: []keys.InvitedTerminal{shown},
		Origin: pageOrigin})
	if err != nil {
		t.Fatal(err)
	}
	session, _, err := h.EnterPage(ticket, pageOrigin, b.point(t), loopback)
	if err != nil {
		t.Fatal(err)
	}
	g, err := h.connects(session, b)
	if err != nil || Person(g.Principal.ID) != "uid:7" || g.Principal.Sees("deploy", shown.Created) {
		t.Errorf("the page: %+v, %v", g.Principal, err)
	}
	if _, _, err := h.MakeLink(LinkRequest{Person: "SHA256:unknown", Terminals: []keys.InvitedTerminal{shown},
		Origin: pageOrigin}); err == nil {
		t.Error("an unknown key gets a link")
	}
}
