package authz

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"termhost/keys"
)

// A web page logs in with a ticket, which somebody with a key requests and opens in a browser. The
// page exchanges it for a token that is bound to that key, and to a key pair that never leaves the
// browser: a stolen token is useless elsewhere. A cookie would not do, because a browser sends
// those of 127.0.0.1 to every port.

const (
	// TicketTTL is how long a ticket is valid: a browser starts in less.
	TicketTTL = 60 * time.Second
	// pageTTL is how long a page stays logged in: a working day, as a token.
	pageTTL = keys.DefaultTokenTTL
	// challengeTTL is how long a page may take to sign a challenge and to connect.
	challengeTTL = 30 * time.Second
	// maxTickets bounds the unused tickets of one key; the oldest is dropped.
	maxTickets = 16

	// A ticket is a secret followed by a mark of the host's key, each in base64url of a length that
	// needs no padding.
	secretBytes = 33
	hostMark    = 15 // of a hash, in bytes: nobody finds another key with the same 120 bits
	nonceBytes  = 16
	maxNonce    = 128 // of a page's nonce, in base64url: more than anybody needs
	macBytes    = 16
)

var (
	// ErrBadTicket says that no ticket has this secret: it is unknown, used or expired.
	ErrBadTicket = errors.New("authz: the ticket has been used, or is older than 60 seconds")
	// ErrTicketOrigin says that the ticket was made for a page at another address.
	ErrTicketOrigin = errors.New("authz: the ticket is for a page at another address")
	// ErrPageName says that a bearer token may not have the name: pages count as the person who
	// opened them.
	ErrPageName = errors.New("authz: this name is for the tokens of web pages; choose another")
	// ErrPageKey says that a browser's public key cannot be read.
	ErrPageKey = errors.New("authz: the browser's key is not a point on P-256")
	// errPageProof says, for the log, that a page's token came without its key's signature.
	errPageProof = fmt.Errorf("%w: it is a page's, and not proven by the page's key",
		keys.ErrBadToken)
)

// PageProof is what a page sends beside its token; zero: nothing.
type PageProof struct {
	// Origin is the page's origin as the browser reports it.
	Origin string
	// Challenge is one of [Authority.PageChallenge]; Signature signs [SignedByPage] with the page's
	// key: ECDSA with SHA-256, as r and s, in unpadded base64url.
	Challenge, Signature string
	// Nonce is what the host signs in turn, see [Authority.ProveHost]: at least 16 bytes in
	// unpadded base64url, new for each connection. "": the page wants no proof.
	Nonce string
}

// SignedByPage returns what a page signs.
func SignedByPage(origin, challenge string) []byte {
	return []byte("termhost page\n" + origin + "\n" + challenge)
}

// SignedByHost returns the bytes that the host signs for a page: the page's own proof, its nonce,
// and the status and reason of the HTTP answer.
func SignedByHost(proof PageProof, status int, reason string) []byte {
	return fmt.Appendf(nil, "termhost host\n%s\n%s\n%s\n%d %s", proof.Origin, proof.Challenge,
		proof.Nonce, status, reason)
}

// ticket is an unused ticket.
type ticket struct {
	hash    [sha256.Size]byte
	grant   Grant
	role    Role
	origin  string
	expires time.Time
}

// pages holds the tickets and challenges of an Authority, in memory: both are short-lived.
type pages struct {
	secret []byte            // makes challenges
	host   *ecdsa.PrivateKey // proves this host to pages

	mu      sync.Mutex
	tickets []ticket
	used    map[string]time.Time // challenges with their expiry: each is valid for one connection
}

func newPages(host *ecdsa.PrivateKey) *pages {
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // it never fails
	if host == nil {
		host, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // nor does this
	}
	return &pages{secret: secret, host: host, used: map[string]time.Time{}}
}

// OpenPage makes a ticket with which a page of that origin may log in once, on behalf of g. NoRole
// asks for operator, or for g's own role if that is lower. The last 20 characters of the ticket are
// the first 15 bytes of the SHA-256 hash of [Authority.PageHostKey], by which the page recognises
// the host; the others are a secret. Errors are *Denied, or why the grant has ended.
func (a *Authority) OpenPage(g Grant, role Role, origin string) (string, error) {
	if role == NoRole {
		role = min(Operator, g.Principal.Role)
	}
	if err := Check(g.Principal, OpenPage, Target{TokenRole: role}); err != nil {
		return "", err
	}
	if g.Principal.Fingerprint == "" {
		g.Identity.Fingerprint = g.Principal.owner()
	} else if _, err := a.again(g); err != nil {
		return "", err
	}
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw)
	secret := base64.RawURLEncoding.EncodeToString(raw)
	now := a.clock()
	a.pages.add(ticket{sha256.Sum256([]byte(secret)), g, role, origin, now.Add(TicketTTL)}, now)
	return secret + a.pageHostMark(), nil
}

func (p *pages) add(t ticket, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tickets = slices.DeleteFunc(p.tickets, func(o ticket) bool { return !now.Before(o.expires) })
	same := func(o ticket) bool { return o.grant.Principal.owner() == t.grant.Principal.owner() }
	count := 0
	for _, o := range p.tickets {
		if same(o) {
			count++
		}
	}
	if count >= maxTickets {
		oldest := slices.IndexFunc(p.tickets, same)
		p.tickets = slices.Delete(p.tickets, oldest, oldest+1)
	}
	p.tickets = append(p.tickets, t)
}

// take returns a ticket and forgets it. It ignores the mark at the end of the text.
func (p *pages) take(text string, now time.Time) (ticket, bool) {
	secret := text[:min(len(text), base64.RawURLEncoding.EncodedLen(secretBytes))]
	hash := sha256.Sum256([]byte(secret))
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.tickets, func(t ticket) bool { return t.hash == hash })
	if i < 0 {
		return ticket{}, false
	}
	t := p.tickets[i]
	p.tickets = slices.Delete(p.tickets, i, i+1)
	return t, now.Before(t.expires)
}

// EnterPage exchanges the text of a ticket for a token that is bound to the page's key: 65 bytes,
// an uncompressed point on P-256. Errors match ErrBadTicket, ErrTicketOrigin, ErrPageKey or those
// of MintToken; for a ticket of [Authority.GuestTicket], those of [Authority.AuthenticateGuest],
// and for one of [Authority.MakeLink], those of [keys.Links.Open].
func (a *Authority) EnterPage(text, origin string, browser []byte, remote net.Addr) (
	string, keys.Token, error) {
	if _, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), browser); err != nil {
		return "", keys.Token{}, ErrPageKey
	}
	if ticket, ok := strings.CutPrefix(text, keys.InvitePrefix); ok {
		return a.enterGuest(ticket, browser)
	}
	if ticket, ok := strings.CutPrefix(text, keys.LinkPrefix); ok {
		return a.enterLink(ticket, origin, browser, remote)
	}
	now := a.clock()
	t, ok := a.pages.take(text, now)
	switch {
	case !ok:
		return "", keys.Token{}, ErrBadTicket
	case origin == "" || origin != t.origin:
		return "", keys.Token{}, ErrTicketOrigin
	}
	g := t.grant
	if g.Principal.Fingerprint != "" {
		if _, err := a.again(g); err != nil {
			return "", keys.Token{}, err
		}
		if _, err := a.ring.StillFrom(g.Identity, remote, now); err != nil {
			return "", keys.Token{}, err
		}
	}
	return a.tokens.Mint(keys.MintRequest{
		Name: pageName(t.role), Role: t.role.String(), KeyRole: g.Principal.Role.String(),
		Identity: g.Identity, TTL: pageTTL,
		Browser: base64.RawURLEncoding.EncodeToString(browser), Origin: origin,
	}, now)
}

// pageName returns the name of a page's token. Tokens of one name have one role.
func pageName(role Role) string {
	if role == Operator {
		return "page"
	}
	return "page-" + role.String()
}

// Person returns the ID of the person behind a principal's ID: that of its key for a page, and else
// the ID itself.
func Person(id string) string {
	for role := Observer; role <= Admin; role++ {
		if person, ok := strings.CutSuffix(id, "/"+pageName(role)); ok {
			return person
		}
	}
	if person, ok := linkPerson(id); ok {
		return person
	}
	return id
}

// IsPage reports whether p is a web page.
func (p Principal) IsPage() bool { return p.Token != "" && isPageName(p.Token) }

// isPageName reports whether only pages' tokens may have a name.
func isPageName(name string) bool { return Person("/"+name) == "" }

// PageHostKey returns the public key with which a page checks that it talks to this host: 65 bytes,
// an uncompressed point on P-256.
func (a *Authority) PageHostKey() []byte {
	point, _ := a.pages.host.PublicKey.Bytes() // it is on the curve
	return point
}

// pageHostMark returns the suffix of tickets, which identifies the host's key. The person gets it
// over SSH or the unix socket, which authenticate the host.
func (a *Authority) pageHostMark() string {
	hash := sha256.Sum256(a.PageHostKey())
	return base64.RawURLEncoding.EncodeToString(hash[:hostMark])
}

// ProveHost signs [SignedByHost] for a page, in the format of a page's signature; "": the page has
// not asked for it. It does not check the page's own signature, because what it signs needs no
// right.
func (a *Authority) ProveHost(proof PageProof, status int, reason string) string {
	// No part may contain a line feed: the parts could not be told apart.
	nonce, err := base64.RawURLEncoding.DecodeString(proof.Nonce)
	_, bad := base64.RawURLEncoding.DecodeString(proof.Challenge)
	if err != nil || bad != nil || len(nonce) < nonceBytes || len(proof.Nonce) > maxNonce ||
		strings.ContainsAny(proof.Nonce+proof.Challenge+proof.Origin, "\r\n") {
		return ""
	}
	hash := sha256.Sum256(SignedByHost(proof, status, reason))
	r, s, err := ecdsa.Sign(rand.Reader, a.pages.host, hash[:])
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(
		append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

// PageChallenge returns what a page signs to connect once, within challengeTTL. Nothing is stored
// before that, so requests for challenges cost no memory.
func (a *Authority) PageChallenge() string {
	raw := make([]byte, 8+nonceBytes, 8+nonceBytes+macBytes)
	binary.BigEndian.PutUint64(raw, uint64(a.clock().Add(challengeTTL).UnixMilli()))
	_, _ = rand.Read(raw[8:])
	return base64.RawURLEncoding.EncodeToString(append(raw, a.pages.mac(raw)...))
}

func (p *pages) mac(message []byte) []byte {
	m := hmac.New(sha256.New, p.secret)
	m.Write(message)
	return m.Sum(nil)[:macBytes]
}

// prove fails if a token needs a proof and this is not it.
func (p *pages) prove(token keys.Token, proof PageProof, now time.Time) error {
	if token.Browser == "" && !isPageName(token.Name) {
		return nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(proof.Challenge)
	if err != nil || len(raw) != 8+nonceBytes+macBytes || proof.Origin != token.Origin ||
		!hmac.Equal(raw[8+nonceBytes:], p.mac(raw[:8+nonceBytes])) {
		return errPageProof
	}
	expires := time.UnixMilli(int64(binary.BigEndian.Uint64(raw)))
	if !now.Before(expires) || !signedBy(token.Browser, proof) {
		return errPageProof
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for c, end := range p.used {
		if !now.Before(end) {
			delete(p.used, c)
		}
	}
	if _, again := p.used[proof.Challenge]; again {
		return errPageProof
	}
	p.used[proof.Challenge] = expires
	return nil
}

func signedBy(browser string, proof PageProof) bool {
	point, err := base64.RawURLEncoding.DecodeString(browser)
	if err != nil {
		return false
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	sig, bad := base64.RawURLEncoding.DecodeString(proof.Signature)
	if err != nil || bad != nil || len(sig) != 64 {
		return false
	}
	hash := sha256.Sum256(SignedByPage(proof.Origin, proof.Challenge))
	r, s := new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])
	return ecdsa.Verify(key, hash[:], r, s)
}

// stillOwned returns the key of a token as still finds it. The token of a user of this machine has
// none; the directory knows what the user may do.
func (a *Authority) stillOwned(token keys.Token, still func() (keys.Identity, error)) (
	keys.Identity, error) {
	if _, ok := token.OfUser(); ok {
		return token.Identity, nil
	}
	return still()
}
