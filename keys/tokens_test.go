package keys

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

func tokenStore(t testing.TB, dir string) *Tokens {
	t.Helper()
	store, err := OpenTokens(TokenOptions{StateDir: dir, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func identityOf(key ssh.PublicKey) Identity {
	fingerprint := ssh.FingerprintSHA256(key)
	return Identity{Fingerprint: fingerprint, User: "alice", Key: publicLine(key, "")}
}

func mint(t testing.TB, store *Tokens, id Identity, name string) (string, Token) {
	t.Helper()
	request := MintRequest{Name: name, Role: RoleOperator, KeyRole: RoleAdmin, Identity: id}
	secret, token, err := store.Mint(request, testNow)
	if err != nil {
		t.Fatal(err)
	}
	return secret, token
}

func TestOnlyItsSecretVerifiesAToken(t *testing.T) {
	dir := home(t)
	store := tokenStore(t, dir)
	id := identityOf(newKey(t).PublicKey())
	secret, token := mint(t, store, id, "ci")
	if !strings.HasPrefix(secret, TokenPrefix) || len(secret) != len(TokenPrefix)+43 {
		t.Errorf("secret of %d bytes", len(secret))
	}
	ttl := token.Expires.Sub(token.Created)
	if ttl != DefaultTokenTTL || token.Name != "ci" || token.Identity != id {
		t.Errorf("token %+v", token)
	}
	if got, err := store.Verify(secret, testNow); err != nil || got != token {
		t.Errorf("got %+v, %v", got, err)
	}
	last := secret[:len(secret)-1]
	for _, wrong := range []string{"", TokenPrefix, secret + "A", last, last + "=",
		strings.ToUpper(secret), secret[len(TokenPrefix):], " " + secret,
		TokenPrefix + strings.Repeat("A", 43)} {
		if _, err := store.Verify(wrong, testNow); !errors.Is(err, ErrBadToken) {
			t.Errorf("a wrong secret: %v", err)
		}
	}
	if _, err := store.Verify(secret, token.Expires); !errors.Is(err, ErrBadToken) {
		t.Errorf("an expired token: %v", err)
	}
	path := filepath.Join(dir, tokensName)
	if strings.Contains(read(t, path), secret[len(TokenPrefix):]) {
		t.Error("the secret is on disk")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
}

func TestTokensSurviveARestart(t *testing.T) {
	dir := home(t)
	id := identityOf(newKey(t).PublicKey())
	secret, token := mint(t, tokenStore(t, dir), id, "ci")
	again := tokenStore(t, dir)
	got, err := again.Verify(secret, testNow)
	if err != nil || got != token || !again.Current(token, testNow) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTokensOfOneNameStayValidUntilTheirRoleChanges(t *testing.T) {
	dir := home(t)
	store := tokenStore(t, dir)
	alice, bob := identityOf(newKey(t).PublicKey()), identityOf(newKey(t).PublicKey())
	first, _ := mint(t, store, alice, "ci")
	changed := store.Changed()
	second, _ := mint(t, store, alice, "ci")
	select {
	case <-changed:
	default:
		t.Error("the change is not reported")
	}
	bobs, _ := mint(t, store, bob, "ci")
	good := func(secret string, want bool) {
		t.Helper()
		if _, err := store.Verify(secret, testNow); (err == nil) != want {
			t.Errorf("verifying gives %v, want good: %v", err, want)
		}
	}
	good(first, true)
	good(second, true)
	lower := MintRequest{Name: "ci", Role: RoleObserver, KeyRole: RoleAdmin, Identity: alice}
	third, _, err := store.Mint(lower, testNow)
	if err != nil {
		t.Fatal(err)
	}
	good(first, false)
	good(second, false)
	good(third, true)
	good(bobs, true)
	lower.TypesSecrets = true
	fourth, token, err := store.Mint(lower, testNow)
	if err != nil {
		t.Fatal(err)
	}
	good(third, false)
	good(fourth, true)
	if reopened, err := tokenStore(t, dir).Verify(fourth, testNow); err != nil || reopened != token {
		t.Errorf("after a restart it is %+v, %v", reopened, err)
	}
	if err := store.Revoke(alice.Fingerprint, "ci"); err != nil {
		t.Fatal(err)
	}
	good(fourth, false)
	good(bobs, true)
}

func TestMintingAgainReplacesTheOldestToken(t *testing.T) {
	store := tokenStore(t, home(t))
	alice := identityOf(newKey(t).PublicKey())
	other, _ := mint(t, store, alice, "other")
	var last string
	for range MaxTokensPerKey + 3 {
		last, _ = mint(t, store, alice, "ci")
	}
	for _, secret := range []string{other, last} {
		if _, err := store.Verify(secret, testNow); err != nil {
			t.Error(err)
		}
	}
	if n := len(store.List(alice.Fingerprint, testNow)); n != MaxTokensPerKey {
		t.Errorf("there are %d tokens, want the limit of %d", n, MaxTokensPerKey)
	}
}

func TestRevocationOutlastsARestart(t *testing.T) {
	dir := home(t)
	store := tokenStore(t, dir)
	alice, bob := identityOf(newKey(t).PublicKey()), identityOf(newKey(t).PublicKey())
	a1, _ := mint(t, store, alice, "one")
	a2, two := mint(t, store, alice, "two")
	b, _ := mint(t, store, bob, "one")
	if err := store.Revoke(alice.Fingerprint, "one"); err != nil {
		t.Fatal(err)
	}
	if err := store.Revoke(alice.Fingerprint, "one"); !errors.Is(err, ErrNoToken) {
		t.Errorf("twice: %v", err)
	}
	if err := store.Revoke(bob.Fingerprint, "two"); !errors.Is(err, ErrNoToken) {
		t.Errorf("another key's token: %v", err)
	}
	if err := store.Revoke(alice.Fingerprint, "two"); err != nil || store.Current(two, testNow) {
		t.Errorf("it was not ended: %v", err)
	}
	for _, s := range []*Tokens{store, tokenStore(t, dir)} {
		for _, secret := range []string{a1, a2} {
			if _, err := s.Verify(secret, testNow); !errors.Is(err, ErrBadToken) {
				t.Errorf("a revoked token: %v", err)
			}
		}
		if _, err := s.Verify(b, testNow); err != nil {
			t.Errorf("bob's: %v", err)
		}
	}
}

func TestTokensOutsideTheLimitsAreNotMinted(t *testing.T) {
	store := tokenStore(t, home(t))
	id := identityOf(newKey(t).PublicKey())
	request := MintRequest{Name: "x", Role: RoleObserver, KeyRole: RoleAdmin, Identity: id}
	for name, c := range map[string]struct {
		alter func(*MintRequest)
		want  error
	}{
		"illegal name":   {func(r *MintRequest) { r.Name = "a/b" }, ErrTokenName},
		"escape in name": {func(r *MintRequest) { r.Name = "\x1b[2J" }, ErrTokenName},
		"long name":      {func(r *MintRequest) { r.Name = strings.Repeat("x", 65) }, ErrTokenName},
		"negative ttl":   {func(r *MintRequest) { r.TTL = -1 }, ErrTokenTTL},
		"endless ttl":    {func(r *MintRequest) { r.TTL = MaxTokenTTL + 1 }, ErrTokenTTL},
		"unknown role":   {func(r *MintRequest) { r.Role = "root" }, nil},
		"another's key":  {func(r *MintRequest) { r.Identity.Fingerprint = "SHA256:x" }, nil},
	} {
		r := request
		c.alter(&r)
		_, _, err := store.Mint(r, testNow)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	end := testNow.Add(time.Hour)
	request.Identity.Expires = end
	if _, token, err := store.Mint(request, testNow); err != nil || !token.Expires.Equal(end) {
		t.Errorf("a token outlives its key: %+v, %v", token, err)
	}
	for i := range MaxTokensPerKey - 1 {
		mint(t, store, id, "n"+strings.Repeat("i", i%60)+string(rune('A'+i/60)))
	}
	more := MintRequest{Name: "more", Role: RoleObserver, KeyRole: RoleAdmin, Identity: id}
	if _, _, err := store.Mint(more, testNow); !errors.Is(err, ErrTooManyTokens) {
		t.Errorf("token %d of a key: %v", MaxTokensPerKey+1, err)
	}
	mint(t, store, id, "x") // rotating one is no more
	mint(t, store, identityOf(newKey(t).PublicKey()), "x")
	if _, _, err := store.Mint(request, testNow.Add(2*DefaultTokenTTL)); err == nil {
		t.Error("a token of an expired key")
	}
	request.Identity.Expires = time.Time{}
	if _, _, err := store.Mint(request, testNow.Add(2*DefaultTokenTTL)); err != nil {
		t.Errorf("after the others expired: %v", err)
	}
}

func TestWithoutADiskNoTokenIsMintedAndRevokingLastsUntilARestart(t *testing.T) {
	dir := home(t)
	store := tokenStore(t, dir)
	id := identityOf(newKey(t).PublicKey())
	secret, _ := mint(t, store, id, "ci")
	if err := os.RemoveAll(dir); err != nil { // no file can be made here any more
		t.Fatal(err)
	}
	request := MintRequest{Role: RoleObserver, KeyRole: RoleAdmin, Identity: id}
	if _, _, err := store.Mint(request, testNow); err == nil {
		t.Error("minted without disk")
	}
	if _, err := store.Verify(secret, testNow); err != nil || len(store.List("", testNow)) != 1 {
		t.Errorf("the store changed: %v", err)
	}
	changed := store.Changed()
	err := store.Revoke(id.Fingerprint, "ci")
	if err == nil || !strings.Contains(err.Error(), "come back at a restart") {
		t.Errorf("revoked without disk: %v", err)
	}
	<-changed
	if _, err := store.Verify(secret, testNow); !errors.Is(err, ErrBadToken) {
		t.Errorf("after that: %v", err)
	}
}

func TestTamperedTokenFilesAreRefused(t *testing.T) {
	dir := home(t)
	path := filepath.Join(dir, tokensName)
	mint(t, tokenStore(t, dir), identityOf(newKey(t).PublicKey()), "ci")
	good := read(t, path)
	other := identityOf(newKey(t).PublicKey())
	field := func(name string) string {
		at := strings.Index(good, `"`+name+`": "`) + len(name) + 5
		return good[at : at+strings.IndexByte(good[at:], '"')]
	}
	replace := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for name, text := range map[string]string{
		"another key's fingerprint": replace(field("fingerprint"), other.Fingerprint),
		"another key":               replace(field("key"), other.Key),
		"an unknown role":           replace(`"operator"`, `"root"`),
		"a short hash":              replace(field("sha256"), "00"),
		"no hash":                   replace(field("sha256"), ""),
		"a long life":               replace(field("expires"), "2999-01-01T00:00:00Z"),
		"a name with a slash":       replace(`"ci"`, `"a/b"`),
		"an unknown field":          replace(`"name"`, `"admin": true, "name"`),
		"another version":           replace(`"version": 1`, `"version": 2`),
		"cut short":                 good[:len(good)/2],
		"empty":                     "",
		"a tail":                    good + "{}",
	} {
		if text == good {
			t.Fatalf("%s: the test changes nothing", name)
		}
		write(t, path, text)
		_, err := OpenTokens(TokenOptions{StateDir: dir, Rand: rand.Reader})
		if !says(err, "damaged") {
			t.Errorf("%s: %v", name, err)
		}
	}
	write(t, path, good)
	chmod(t, path, 0o640)
	_, err := OpenTokens(TokenOptions{StateDir: dir, Rand: rand.Reader})
	wantRefused(t, err, path, "mode 0640", "chmod 600")
	if !json.Valid([]byte(good)) {
		t.Error("the token file is no JSON")
	}
}

// The longest file that is written can be read again.
func TestTheLargestTokenFileIsWithinItsBound(t *testing.T) {
	dir := home(t)
	token := Token{
		Name:     strings.Repeat("n", MaxTokenNameBytes),
		Role:     RoleOperator,
		KeyRole:  RoleOperator,
		Identity: identityOf(newKey(t).PublicKey()),
		Created:  testNow,
		Expires:  testNow.Add(time.Hour),
	}
	token.Identity.User = strings.Repeat("\x01", MaxUserBytes) // six bytes each in JSON
	token.Identity.Key = strings.Repeat("/", MaxLineBytes)     // of the alphabet of base64
	path := filepath.Join(dir, tokensName)
	if err := storeTokens(path, slices.Repeat([]record{{Token: token}}, MaxTokens)); err != nil {
		t.Fatal(err)
	}
	if _, err := readPrivate(path, maxTokenFileBytes); err != nil {
		t.Error(err)
	}
}

// A bearer's token is compared with all tokens each time it connects.
func BenchmarkVerify(b *testing.B) {
	store := tokenStore(b, b.TempDir())
	secret, token := mint(b, store, identityOf(newKey(b).PublicKey()), "ci")
	store.records = append(slices.Repeat([]record{{Token: token}}, MaxTokens-1), store.records...)
	for b.Loop() {
		if _, err := store.Verify(secret, testNow); err != nil {
			b.Fatal(err)
		}
	}
}
