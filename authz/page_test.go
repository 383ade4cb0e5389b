package authz

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"termhost/keys"
)

const pageOrigin = "http://127.0.0.1:7722"

// browser is a key pair as a browser makes one.
type browser struct{ *ecdsa.PrivateKey }

func newBrowser(t *testing.T) browser {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return browser{key}
}

func (b browser) point(t *testing.T) []byte {
	t.Helper()
	p, err := b.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// prove signs a challenge as a page of origin does.
func (b browser) prove(t *testing.T, origin, challenge string) PageProof {
	t.Helper()
	hash := sha256.Sum256(SignedByPage(origin, challenge))
	r, s, err := ecdsa.Sign(rand.Reader, b.PrivateKey, hash[:])
	if err != nil {
		t.Fatal(err)
	}
	sig := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	return PageProof{Origin: origin, Challenge: challenge,
		Signature: base64.RawURLEncoding.EncodeToString(sig)}
}

func (h *house) ticket(g Grant, role Role) string {
	h.t.Helper()
	secret, err := h.OpenPage(g, role, pageOrigin)
	if err != nil {
		h.t.Fatal(err)
	}
	return secret
}

func TestATicketLetsOnePageInOnce(t *testing.T) {
	key := newKey(t)
	h := newHouse(t, keyLine(key, "", "alice"))
	grant, point := h.login(key), newBrowser(t).point(t)
	ticket := h.ticket(grant, NoRole)
	_, token, err := h.EnterPage(ticket, pageOrigin, point, loopback)
	if err != nil || token.Name != "page" || token.Role != Operator.String() ||
		token.Expires.Sub(token.Created) != 8*time.Hour {
		t.Fatalf("the page's token is %+v: %v", token, err)
	}
	if _, _, err := h.EnterPage(ticket, pageOrigin, point, loopback); !errors.Is(err, ErrBadTicket) {
		t.Errorf("a ticket that was used: %v", err)
	}
	late := h.ticket(grant, NoRole)
	h.ahead.Add(int64(TicketTTL))
	if _, _, err := h.EnterPage(late, pageOrigin, point, loopback); !errors.Is(err, ErrBadTicket) {
		t.Errorf("a ticket after %v: %v", TicketTTL, err)
	}
	stolen := h.ticket(grant, NoRole)
	if _, _, err := h.EnterPage(stolen, "http://127.0.0.1:7723", point, loopback); !errors.Is(err, ErrTicketOrigin) {
		t.Errorf("a ticket at another port: %v", err)
	}
	if _, _, err := h.EnterPage(stolen, pageOrigin, point, loopback); !errors.Is(err, ErrBadTicket) {
		t.Errorf("a ticket that was tried at another port: %v", err)
	}
	if _, _, err := h.EnterPage(h.ticket(grant, NoRole), pageOrigin, point[1:], loopback); !errors.Is(err, ErrPageKey) {
		t.Errorf("half a key: %v", err)
	}
	gone := h.ticket(grant, NoRole)
	h.change(keyLine(newKey(t), "", "bob"))
	if _, _, err := h.EnterPage(gone, pageOrigin, point, loopback); err == nil {
		t.Error("the ticket of a removed key lets in")
	}
}

func TestAPagesTokenNeedsItsBrowsersSignature(t *testing.T) {
	key := newKey(t)
	h := newHouse(t, keyLine(key, "", "alice"))
	b, thief := newBrowser(t), newBrowser(t)
	secret, _, err := h.EnterPage(h.ticket(h.login(key), NoRole), pageOrigin, b.point(t), loopback)
	if err != nil {
		t.Fatal(err)
	}
	good := b.prove(t, pageOrigin, h.PageChallenge())
	grant, err := h.AuthenticatePage(secret, good, loopback)
	if err != nil || grant.Principal.Role != Operator || grant.Principal.Name != "alice/page" {
		t.Fatalf("the page itself: %+v, %v", grant, err)
	}
	old := b.prove(t, pageOrigin, h.PageChallenge())
	other := b.prove(t, pageOrigin, h.PageChallenge())
	other.Origin = "http://127.0.0.1:7723"
	forged := []byte(h.PageChallenge())
	forged[0] ^= 1
	h.ahead.Add(int64(challengeTTL))
	for name, proof := range map[string]PageProof{
		"none":                 {Origin: pageOrigin},
		"one that was used":    good,
		"one that is too old":  old,
		"another key's":        thief.prove(t, pageOrigin, h.PageChallenge()),
		"another origin's":     b.prove(t, "http://127.0.0.1:7723", h.PageChallenge()),
		"one moved elsewhere":  other,
		"a forged challenge's": b.prove(t, pageOrigin, string(forged)),
	} {
		if _, err := h.AuthenticatePage(secret, proof, loopback); !errors.Is(err, keys.ErrBadToken) {
			t.Errorf("the proof is %s: %v", name, err)
		}
	}
	if _, err := h.AuthenticateToken(secret, loopback); !errors.Is(err, keys.ErrBadToken) {
		t.Errorf("as a bearer token: %v", err)
	}
	// It lives on with the next host, and ends with its key.
	h.stop()
	h.start()
	grant, err = h.AuthenticatePage(secret, b.prove(t, pageOrigin, h.PageChallenge()), loopback)
	if err != nil {
		t.Fatal(err)
	}
	end := h.track(grant)
	h.change(keyLine(newKey(t), "", "bob"))
	if err := h.ended(end); err == nil {
		t.Error("the page's connection ends without reason")
	}
}

func TestAUserOfThisMachineOpensAndEndsPages(t *testing.T) {
	h := newHouse(t)
	b := newBrowser(t)
	grant := Grant{Principal: h.AuthenticateUID(7).Principal} // as the unix socket has it
	secret, _, err := h.EnterPage(h.ticket(grant, Admin), pageOrigin, b.point(t), loopback)
	if err != nil {
		t.Fatal(err)
	}
	page, err := h.AuthenticatePage(secret, b.prove(t, pageOrigin, h.PageChallenge()), loopback)
	if err != nil || page.Principal.ID != "uid:7/page-admin" || page.Principal.Role != Admin {
		t.Fatalf("the page: %+v, %v", page.Principal, err)
	}
	end := h.track(page)
	if list, err := h.ListTokens(grant); err != nil || len(list) != 1 || list[0].Name != "page-admin" {
		t.Errorf("listed: %+v, %v", list, err)
	}
	if list, _ := h.ListTokens(Grant{Principal: h.AuthenticateUID(8).Principal}); len(list) != 0 {
		t.Errorf("another user sees %+v", list)
	}
	if err := h.RevokeToken(grant, "page-admin"); err != nil {
		t.Fatal(err)
	}
	if err := h.ended(end); !errors.Is(err, keys.ErrBadToken) {
		t.Errorf("the page ends with %v", err)
	}
	if _, _, err := h.MintToken(grant, TokenRequest{Name: "page-admin", Role: Observer}); err == nil {
		t.Error("a bearer token that is taken for a page")
	}
	// From inside a terminal that a key has made, nothing proves the key.
	inside := Grant{Principal: Principal{ID: "SHA256:x", Fingerprint: "SHA256:x", Role: Admin}}
	if _, err := h.OpenPage(inside, NoRole, pageOrigin); err == nil {
		t.Error("a page without a proof of the key")
	}
}

func TestAHostProvesItselfToAPage(t *testing.T) {
	h := newHouse(t)
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), h.PageHostKey())
	if err != nil {
		t.Fatal(err)
	}
	proof := PageProof{Origin: pageOrigin, Challenge: h.PageChallenge(), Nonce: strings.Repeat("A", 22)}
	raw, err := base64.RawURLEncoding.DecodeString(h.ProveHost(proof, 101, ""))
	if err != nil || len(raw) != 64 {
		t.Fatalf("the signature has %d bytes: %v", len(raw), err)
	}
	hash := sha256.Sum256([]byte("termhost host\n" + pageOrigin + "\n" + proof.Challenge + "\n" + proof.Nonce + "\n101 "))
	if !ecdsa.Verify(key, hash[:], new(big.Int).SetBytes(raw[:32]), new(big.Int).SetBytes(raw[32:])) {
		t.Error("the signature is not of what the page has sent")
	}
	mark := sha256.Sum256(h.PageHostKey())
	end := base64.RawURLEncoding.EncodeToString(mark[:15])
	user := newKey(t)
	h.change(keyLine(user, "", "alice"))
	if ticket := h.ticket(h.login(user), NoRole); !strings.HasSuffix(ticket, end) {
		t.Errorf("the ticket %s does not end with %s", ticket, end)
	}
	// Nothing is signed that could be taken for something else.
	for name, change := range map[string]func(*PageProof){
		"no nonce":              func(p *PageProof) { p.Nonce = "" },
		"a short nonce":         func(p *PageProof) { p.Nonce = p.Nonce[:20] },
		"a long nonce":          func(p *PageProof) { p.Nonce = strings.Repeat("A", 132) },
		"a nonce of two lines":  func(p *PageProof) { p.Nonce = "AA\n" + p.Nonce[2:] },
		"a challenge of two":    func(p *PageProof) { p.Challenge = "AA\n" + p.Challenge[2:] },
		"a challenge in prose":  func(p *PageProof) { p.Challenge = "in prose" },
		"an origin of two":      func(p *PageProof) { p.Origin += "\nx" },
		"a nonce not in base64": func(p *PageProof) { p.Nonce = strings.Repeat("+", 22) },
	} {
		bad := proof
		change(&bad)
		if got := h.ProveHost(bad, 101, ""); got != "" {
			t.Errorf("%s is signed", name)
		}
	}
}
