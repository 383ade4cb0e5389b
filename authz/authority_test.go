package authz

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ssh"

	"termhost/keys"
)

func newKey(t testing.TB) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

func keyLine(key ssh.Signer, options, comment string) string {
	line := strings.TrimSuffix(string(ssh.MarshalAuthorizedKey(key.PublicKey())), "\n")
	return strings.TrimSpace(options + " " + line + " " + comment)
}

// house is an Authority over one authorized_keys file.
type house struct {
	ahead atomic.Int64 // of the wall clock, in nanoseconds
	*Authority
	t    *testing.T
	dir  string
	ring *keys.Ring
	// log and audit are used from the next start on.
	log, audit io.Writer
}

func newHouse(t *testing.T, lines ...string) *house {
	h := &house{t: t, dir: t.TempDir(), log: io.Discard, audit: io.Discard}
	if err := os.Chmod(h.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h.write(lines...)
	h.start()
	t.Cleanup(h.stop)
	return h
}

// now is the wall clock, which a test sets ahead of timers.
func (h *house) now() time.Time { return time.Now().Add(time.Duration(h.ahead.Load())) }

func (h *house) file() string { return filepath.Join(h.dir, "authorized_keys") }

func (h *house) write(lines ...string) {
	h.t.Helper()
	if err := os.WriteFile(h.file(), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// change writes the file, to which it adds somebody's key, and lets the ring see it: the last key
// that is there stays in force.
func (h *house) change(lines ...string) {
	h.t.Helper()
	h.write(append(lines, keyLine(newKey(h.t), "", "somebody"))...)
	h.ring.Reload()
}

func (h *house) start(entries ...Entry) {
	h.t.Helper()
	directory, err := NewDirectory(entries)
	if err != nil {
		h.t.Fatal(err)
	}
	h.ring, err = keys.Open(keys.Options{
		AuthorizedKeysFiles: []string{h.file()}, Home: h.dir, Interval: 24 * time.Hour,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	tokens, err := keys.OpenTokens(keys.TokenOptions{StateDir: h.dir, Rand: rand.Reader})
	if err != nil {
		h.t.Fatal(err)
	}
	invitations, err := keys.OpenInvitations(keys.TokenOptions{StateDir: h.dir, Rand: rand.Reader})
	if err != nil {
		h.t.Fatal(err)
	}
	links, err := keys.OpenLinks(keys.TokenOptions{StateDir: h.dir, Rand: rand.Reader})
	if err != nil {
		h.t.Fatal(err)
	}
	h.Authority = NewAuthority(AuthorityOptions{
		Ring: h.ring, Tokens: tokens, Invitations: invitations, Links: links, Directory: directory, Clock: h.now,
		Log:   slog.New(slog.NewTextHandler(h.log, nil)),
		Audit: slog.New(slog.NewTextHandler(h.audit, nil)),
	})
}

func (h *house) stop() {
	h.Authority.Close()
	h.ring.Close()
}

var loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 40000}

func (h *house) login(key ssh.Signer) Grant {
	h.t.Helper()
	g, err := h.AuthenticateKey("alice", key.PublicKey(), loopback)
	if err != nil {
		h.t.Fatal(err)
	}
	return g
}

func (h *house) mint(g Grant, name string, role Role) string {
	h.t.Helper()
	secret, _, err := h.MintToken(g, TokenRequest{Name: name, Role: role})
	if err != nil {
		h.t.Fatal(err)
	}
	return secret
}

// ended waits until what is tracked has ended, and returns why.
func (h *house) ended(ends <-chan error) error {
	h.t.Helper()
	select {
	case err := <-ends:
		return err
	case <-time.After(90 * time.Second):
		h.t.Fatal("still alive")
		return nil
	}
}

func (h *house) track(g Grant) <-chan error {
	ends := make(chan error, 2)
	h.t.Cleanup(h.Track(g, func(err error) { ends <- err }))
	return ends
}

func TestRemovingAKeyEndsItsConnectionsAndTokens(t *testing.T) {
	alice, bob := newKey(t), newKey(t)
	h := newHouse(t, keyLine(alice, "", "alice"), keyLine(bob, "", "bob"))
	grant, bobs := h.login(alice), h.login(bob)
	secret := h.mint(grant, "ci", NoRole)
	bearer, err := h.AuthenticateToken(secret, loopback)
	if err != nil {
		t.Fatal(err)
	}
	p := bearer.Principal
	if p.ID != grant.Principal.ID+"/ci" || p.Name != "alice/ci" || p.Role != Operator ||
		p.Expires.IsZero() {
		t.Errorf("bearer %+v", p)
	}
	key, token, other := h.track(grant), h.track(bearer), h.track(bobs)
	h.change(keyLine(bob, "", "bob"))
	if err := h.ended(key); !errors.Is(err, keys.ErrUnknownKey) {
		t.Errorf("the key's connection: %v", err)
	}
	if err := h.ended(token); err == nil {
		t.Error("the token's connection ends without reason")
	}
	if _, err := h.AuthenticateToken(secret, loopback); err == nil {
		t.Error("the token still works")
	}
	// Giving the key back does not give the token back.
	h.change(keyLine(alice, "", "alice"), keyLine(bob, "", "bob"))
	if _, err := h.AuthenticateToken(secret, loopback); !errors.Is(err, keys.ErrBadToken) {
		t.Errorf("the token after its key came back: %v", err)
	}
	select {
	case err := <-other:
		t.Errorf("bob was ended: %v", err)
	default:
	}
}

func TestRoleChangesEndConnectionsAndTokens(t *testing.T) {
	alice := newKey(t)
	h := newHouse(t, keyLine(alice, "", "alice"))
	grant := h.login(alice)
	secret := h.mint(grant, "ci", Observer)
	ends := h.track(grant)
	h.change(keyLine(alice, `environment="TERMHOST_ROLE=operator"`, "alice"))
	if err := h.ended(ends); !errors.Is(err, ErrChanged) {
		t.Errorf("ended with %v", err)
	}
	if _, err := h.AuthenticateToken(secret, loopback); !errors.Is(err, keys.ErrBadToken) {
		t.Errorf("a token of the former role: %v", err)
	}
}

func TestRestrictionsReachTheLivingAndTheirTokens(t *testing.T) {
	alice := newKey(t)
	for _, options := range []string{
		"no-pty", "restrict", `command="date"`, "no-port-forwarding", `expiry-time="20990401Z"`,
	} {
		h := newHouse(t, keyLine(alice, "", "alice"))
		grant := h.login(alice)
		ends := h.track(grant)
		h.change(keyLine(alice, options, "alice"))
		if err := h.ended(ends); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: ended with %v", options, err)
		}
	}
	h := newHouse(t, keyLine(alice, "", "alice"))
	secret := h.mint(h.login(alice), "ci", Operator)
	h.change(keyLine(alice, `from="10.0.0.0/8",no-pty`, "alice"))
	if _, err := h.AuthenticateToken(secret, loopback); err == nil {
		t.Error("a token is used from where its key may not be")
	}
	g, err := h.AuthenticateToken(secret, &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3)})
	if err != nil || !g.Principal.ReadOnly {
		t.Errorf("from where the key may be: %+v, %v", g.Principal, err)
	}
}

func TestALoweredGrantLivesAsLongAsItsProof(t *testing.T) {
	key := newKey(t)
	h := newHouse(t, keyLine(key, "", "alice"))
	g, err := h.AuthenticateToken(h.mint(h.login(key), "high", Admin), loopback)
	if err != nil {
		t.Fatal(err)
	}
	g = g.AtMost(Operator)
	ends := h.track(g)
	again, err := h.again(g)
	if err != nil || again.Principal.Role != Operator {
		t.Fatalf("got %s, %v; want a lasting operator", again.Principal.Role, err)
	}
	h.change(keyLine(newKey(t), "", "somebody else"))
	if err := h.ended(ends); err == nil {
		t.Error("ended without a reason")
	}
}

func TestANewCommentEndsNothing(t *testing.T) {
	alice := newKey(t)
	h := newHouse(t, keyLine(alice, "", "alice"))
	grant := h.login(alice)
	h.change(keyLine(alice, "", "alice@newdesk"))
	if g, err := h.again(grant); err != nil || g.Principal.Name != "alice@newdesk" {
		t.Errorf("got %+v, %v", g.Principal, err)
	}
}

func TestAnUnsafeFileSuspendsTokensButKeepsThem(t *testing.T) {
	alice := newKey(t)
	h := newHouse(t, keyLine(alice, "", "alice"))
	grant := h.login(alice)
	secret := h.mint(grant, "ci", NoRole)
	ends := h.track(grant)
	if err := os.Chmod(h.file(), 0o666); err != nil {
		t.Fatal(err)
	}
	h.ring.Reload()
	if err := h.ended(ends); !errors.Is(err, keys.ErrWithdrawn) {
		t.Errorf("ended with %v", err)
	}
	if _, err := h.AuthenticateToken(secret, loopback); !errors.Is(err, keys.ErrWithdrawn) {
		t.Errorf("the token meanwhile: %v", err)
	}
	if err := os.Chmod(h.file(), 0o600); err != nil {
		t.Fatal(err)
	}
	h.ring.Reload()
	if _, err := h.AuthenticateToken(secret, loopback); err != nil {
		t.Errorf("the token afterwards: %v", err)
	}
}

func TestWhatChangedWhileTheHostWasDownCounts(t *testing.T) {
	alice, bob := newKey(t), newKey(t)
	h := newHouse(t, keyLine(alice, "", "alice"), keyLine(bob, "", "bob"))
	alices, bobs := h.mint(h.login(alice), "ci", NoRole), h.mint(h.login(bob), "ci", NoRole)
	h.stop()
	h.write(keyLine(alice, "", "alice"), keyLine(bob, "", "bob"))
	fingerprint := ssh.FingerprintSHA256(alice.PublicKey())
	h.start(Entry{Name: "Alice", Role: Observer, Keys: []string{fingerprint}})
	if _, err := h.AuthenticateToken(alices, loopback); !errors.Is(err, keys.ErrBadToken) {
		t.Errorf("a token of a role that was taken away: %v", err)
	}
	if _, err := h.AuthenticateToken(bobs, loopback); err != nil {
		t.Errorf("bob's token does not survive the restart: %v", err)
	}
}

func TestRevokedAndReplacedTokensEndTheirConnections(t *testing.T) {
	alice := newKey(t)
	h := newHouse(t, keyLine(alice, "", "alice"))
	grant := h.login(alice)
	bearer := func(secret string) <-chan error {
		g, err := h.AuthenticateToken(secret, loopback)
		if err != nil {
			t.Fatal(err)
		}
		return h.track(g)
	}
	revoked, replaced := bearer(h.mint(grant, "a", NoRole)), bearer(h.mint(grant, "b", NoRole))
	if err := h.RevokeToken(grant, "a"); err != nil {
		t.Fatal(err)
	}
	if err := h.ended(revoked); !errors.Is(err, keys.ErrBadToken) {
		t.Errorf("revoked: %v", err)
	}
	kept := bearer(h.mint(grant, "b", Observer))
	if err := h.ended(replaced); !errors.Is(err, keys.ErrBadToken) {
		t.Errorf("replaced: %v", err)
	}
	list, err := h.ListTokens(grant)
	if err != nil || len(list) != 1 || list[0].Role != "observer" {
		t.Errorf("list %+v, %v", list, err)
	}
	select {
	case err := <-kept:
		t.Errorf("the new token's connection ended: %v", err)
	default:
	}
}

func TestWhoMayMintWhat(t *testing.T) {
	admin, operator, observer := newKey(t), newKey(t), newKey(t)
	readOnly, forced := newKey(t), newKey(t)
	h := newHouse(t, keyLine(admin, "", "a"),
		keyLine(operator, `environment="TERMHOST_ROLE=operator"`, "o"),
		keyLine(observer, `environment="TERMHOST_ROLE=observer"`, "v"),
		keyLine(readOnly, "restrict", "r"), keyLine(forced, `command="date"`, "f"))
	for _, c := range []struct {
		key  ssh.Signer
		role Role
		ok   bool
	}{
		{admin, Admin, true}, {admin, NoRole, true},
		{operator, NoRole, true}, {operator, Observer, true}, {operator, Admin, false},
		{observer, Observer, false}, {observer, NoRole, false},
		{readOnly, Observer, false}, {forced, Observer, false},
	} {
		var denied *Denied
		_, _, err := h.MintToken(h.login(c.key), TokenRequest{Name: "x", Role: c.role})
		if (err == nil) != c.ok || (err != nil && !errors.As(err, &denied)) {
			t.Errorf("%s mints %s: %v", h.login(c.key).Principal.Role, c.role, err)
		}
	}
	g, err := h.AuthenticateToken(h.mint(h.login(admin), "y", Admin), loopback)
	if err != nil {
		t.Fatal(err)
	}
	var denied *Denied
	if _, _, err := h.MintToken(g, TokenRequest{Name: "z", Role: Observer}); !errors.As(err, &denied) {
		t.Errorf("a token mints a token: %v", err)
	}
	if err := h.RevokeToken(g, "y"); !errors.As(err, &denied) {
		t.Errorf("a token revokes a token: %v", err)
	}
	if _, err := h.ListTokens(g); !errors.As(err, &denied) {
		t.Errorf("a token lists tokens: %v", err)
	}
	stale := h.login(admin)
	h.change("# nobody")
	if _, _, err := h.MintToken(stale, TokenRequest{Name: "late", Role: Observer}); err == nil {
		t.Error("a key that is gone mints a token")
	}
}

func TestTrackingEndsAtExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which time begins with the year 2000
		alice, bob := newKey(t), newKey(t)
		h := newHouse(t, keyLine(alice, `expiry-time="200001010010Z"`, "alice"),
			keyLine(bob, "", "bob"))
		synctest.Wait() // the Authority sleeps until its next idle look
		bobs, alices := h.track(h.login(bob)), h.track(h.login(alice))
		end := time.Date(2000, 1, 1, 0, 10, 0, 0, time.UTC) // sooner than the next idle look
		err := <-alices
		var refusal *keys.RefusedError
		if !errors.As(err, &refusal) || !time.Now().Equal(end) {
			t.Errorf("ended at %v with %v; want %v", time.Now().UTC(), err, end)
		}
		select {
		case err := <-bobs:
			t.Errorf("bob, who never expires, ended with %v", err)
		default:
		}
	})
}

// A suspended machine wakes up with its timers where they were.
func TestAnExpiryIsJudgedByTheWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which time begins with the year 2000
		alice := newKey(t)
		h := newHouse(t, keyLine(alice, `expiry-time="200001020000Z"`, "alice"))
		ended := h.track(h.login(alice))
		synctest.Wait()
		h.ahead.Store(int64(24 * time.Hour))
		began := time.Now()
		<-ended
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the timer that had been set is waited for: %v", took)
		}
	})
}

func TestAGrantThatIsOverEndsAtOnceAndOnlyOnce(t *testing.T) {
	alice := newKey(t)
	h := newHouse(t, keyLine(alice, "", "alice"))
	grant := h.login(alice)
	h.change("# nobody")
	calls := 0
	release := h.Track(grant, func(error) { calls++ })
	if calls != 1 {
		t.Errorf("ended %d times inside Track", calls)
	}
	release()
	var nobody Grant
	if _, err := h.again(nobody); err == nil {
		t.Error("the zero Grant stands")
	}
}

func TestReleasedGrantsAreForgotten(t *testing.T) {
	alice, bob := newKey(t), newKey(t)
	h := newHouse(t, keyLine(alice, "", "alice"), keyLine(bob, "", "bob"))
	ended := func(err error) { t.Errorf("ended after its release: %v", err) }
	release := h.Track(h.login(alice), ended)
	release()
	bobs := h.track(h.login(bob))
	h.change("# nobody")
	if err := h.ended(bobs); err == nil { // alice's turn has come by then, too
		t.Error("ended without reason")
	}
}
