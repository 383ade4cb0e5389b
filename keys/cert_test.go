package keys

import (
	"bytes"
	"crypto/rand"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// pki is a certificate authority made with ssh-keygen, and a user's key.
type pki struct {
	dir  string
	home string
}

func newPKI(t *testing.T) pki {
	t.Helper()
	dir := home(t)
	for _, name := range []string{"ca", "otherca", "user"} {
		openSSHKey(t, dir, name)
	}
	return pki{dir: dir, home: dir}
}

func (p pki) file(name string) string { return filepath.Join(p.dir, name) }

// sign makes a certificate of user.pub, by the authority called ca.
func (p pki) sign(t *testing.T, ca string, args ...string) *ssh.Certificate {
	t.Helper()
	keygen(t, p.dir, append(append([]string{"-q", "-s", ca, "-I", "alice@corp", "-z", "42"}, args...), "user.pub")...)
	return public(t, p.file("user-cert.pub")).(*ssh.Certificate)
}

// trusting is a Ring that trusts the authority "ca".
func (p pki) trusting(t *testing.T, o Options) *Ring {
	t.Helper()
	o.TrustedUserCAFiles, o.Home = []string{p.file("ca.pub")}, p.home
	return open(t, o)
}

func TestCertificateOfATrustedAuthority(t *testing.T) {
	p := newPKI(t)
	r := p.trusting(t, Options{})
	cert := p.sign(t, "ca", "-n", "alice,admin", "-V", "20260101:20270101")
	id, err := r.Authenticate("alice", cert, local(), testNow)
	if err != nil {
		t.Fatal(err)
	}
	if id.Comment != "alice@corp" || id.KeyID != "alice@corp" || id.CertSerial != 42 ||
		id.Fingerprint != ssh.FingerprintSHA256(public(t, p.file("user.pub"))) ||
		id.CAFingerprint != ssh.FingerprintSHA256(public(t, p.file("ca.pub"))) ||
		id.ReadOnly || id.NoForward || id.Command != "" || !id.Expires.Equal(time.Date(2027, 1, 1, 0, 0, 0, 0, time.Local)) {
		t.Errorf("identity %+v", id)
	}
	if again, err := r.Still(id, testNow); err != nil || again != id {
		t.Errorf("still: %+v, %v", again, err)
	}
	if _, err := r.Still(id, id.Expires); err == nil {
		t.Error("outlives its certificate")
	}
	// The key without its certificate is nobody's.
	if _, err := r.Authenticate("alice", cert.Key, local(), testNow); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("the bare key: %v", err)
	}
	// So is the authority itself: it signs, it does not log in.
	if _, err := r.Authenticate("alice", cert.SignatureKey, local(), testNow); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("the authority's own key: %v", err)
	}
}

// The cases of OpenSSH's regress/cert-userkey.sh that concern the server, and
// some attackers of our own.
func TestCertificatesThatAreRefused(t *testing.T) {
	p := newPKI(t)
	r := p.trusting(t, Options{})
	valid := []string{"-V", "20260101:20270101"}
	for name, c := range map[string]struct {
		args []string
		user string
		why  string
	}{
		"wrong principal":         {[]string{"-n", "mallory"}, "alice", "does not name the login"},
		"principal in other case": {[]string{"-n", "Alice"}, "alice", "does not name the login"},
		"principal as a pattern":  {[]string{"-n", "*"}, "alice", "does not name the login"},
		"empty principals":        {nil, "alice", "names no principals"},
		"host certificate":        {[]string{"-n", "alice", "-h"}, "alice", "not for users"},
		"empty force-command":     {[]string{"-n", "alice", "-O", "force-command= "}, "alice", "empty"},
		"unknown critical option": {[]string{"-n", "alice", "-O", "critical:frobnicate=1"}, "alice", "frobnicate"},
		"verify-required":         {[]string{"-n", "alice", "-O", "verify-required"}, "alice", "verify-required"},
		"another address":         {[]string{"-n", "alice", "-O", "source-address=10.0.0.0/8"}, "alice", "not be used from this address"},
	} {
		cert := p.sign(t, "ca", append(c.args, valid...)...)
		_, err := r.Authenticate(c.user, cert, local(), testNow)
		var refusal *RefusedError
		if !errors.As(err, &refusal) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: got %v, want a refusal with %q", name, err, c.why)
		}
	}
	for name, validity := range map[string]string{"expired": "20250101:20260101", "not yet valid": "20270101:20280101"} {
		cert := p.sign(t, "ca", "-n", "alice", "-V", validity)
		if _, err := r.Authenticate("alice", cert, local(), testNow); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	cert := p.sign(t, "otherca", append(valid, "-n", "alice")...)
	if _, err := r.Authenticate("alice", cert, local(), testNow); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("another authority: %v", err)
	}
}

func TestForgedCertificatesAreRefused(t *testing.T) {
	p := newPKI(t)
	r := p.trusting(t, Options{})
	good := p.sign(t, "ca", "-n", "alice", "-V", "20260101:20270101")
	mallory := newKey(t)
	for name, forge := range map[string]func(*ssh.Certificate){
		"a principal added":  func(c *ssh.Certificate) { c.ValidPrincipals = []string{"alice", "root"} },
		"a later end":        func(c *ssh.Certificate) { c.ValidBefore = ssh.CertTimeInfinity },
		"another key inside": func(c *ssh.Certificate) { c.Key = mallory.PublicKey() },
		"another serial":     func(c *ssh.Certificate) { c.Serial++ },
		"no signature":       func(c *ssh.Certificate) { c.Signature = nil },
		"no key":             func(c *ssh.Certificate) { c.Key = nil },
		"no authority":       func(c *ssh.Certificate) { c.SignatureKey = nil },
		"signed by another, naming ours": func(c *ssh.Certificate) {
			authority := c.SignatureKey
			if err := c.SignCert(rand.Reader, mallory); err != nil {
				t.Fatal(err)
			}
			c.SignatureKey = authority
		},
		"a start that wraps around": func(c *ssh.Certificate) { c.ValidAfter = 1 << 63 },
	} {
		forged := *good
		signature := *good.Signature
		signature.Blob = bytes.Clone(signature.Blob)
		forged.Signature = &signature
		forge(&forged)
		if id, err := r.Authenticate("alice", &forged, local(), testNow); err == nil {
			t.Errorf("%s: accepted as %+v", name, id)
		}
	}
	if _, err := r.Authenticate("alice", good, local(), testNow); err != nil {
		t.Errorf("the certificate itself: %v", err)
	}
}

func TestCertificateLimitsApply(t *testing.T) {
	p := newPKI(t)
	r := p.trusting(t, Options{})
	forever := []string{"-n", "alice"}
	for name, c := range map[string]struct {
		args []string
		ok   func(Identity) bool
	}{
		"no pty":         {[]string{"-O", "no-pty"}, func(id Identity) bool { return id.ReadOnly && !id.NoForward }},
		"no forwarding":  {[]string{"-O", "no-port-forwarding"}, func(id Identity) bool { return id.NoForward && !id.ReadOnly }},
		"clear":          {[]string{"-O", "clear"}, func(id Identity) bool { return id.NoForward && id.ReadOnly }},
		"force-command":  {[]string{"-O", "force-command=date"}, func(id Identity) bool { return id.Command == "date" }},
		"source-address": {[]string{"-O", "source-address=127.0.0.0/8,::1"}, func(id Identity) bool { return id.From == "127.0.0.0/8,::1" }},
		"no end":         {nil, func(id Identity) bool { return id.Expires.IsZero() }},
	} {
		cert := p.sign(t, "ca", append(c.args, forever...)...)
		if id, err := r.Authenticate("alice", cert, local(), testNow); err != nil || !c.ok(id) {
			t.Errorf("%s: %+v, %v", name, id, err)
		}
	}
}

func TestLoginUserBindsCertificatesToTheHostsUser(t *testing.T) {
	p := newPKI(t)
	r := p.trusting(t, Options{LoginUser: "alice"})
	cert := p.sign(t, "ca", "-n", "alice,mallory")
	if _, err := r.Authenticate("alice", cert, local(), testNow); err != nil {
		t.Error(err)
	}
	// mallory holds a good certificate in her own name, but this is not her host.
	var refusal *RefusedError
	if _, err := r.Authenticate("mallory", cert, local(), testNow); !errors.As(err, &refusal) {
		t.Errorf("another login: %v", err)
	}
}

func TestCertAuthorityLines(t *testing.T) {
	p := newPKI(t)
	file := p.file("authorized_keys")
	authority := testKey{public(t, p.file("ca.pub"))}
	write(t, file, authority.line(`cert-authority,principals="ops,dev",environment="TERMHOST_ROLE=operator",no-port-forwarding,expiry-time="20260401Z"`)+"\n")
	r := open(t, Options{AuthorizedKeysFiles: []string{file}, Home: p.home})

	cert := p.sign(t, "ca", "-n", "dev", "-O", "no-pty", "-V", "20260101:20270101")
	id, err := r.Authenticate("whoever", cert, local(), testNow)
	if err != nil {
		t.Fatal(err)
	}
	if id.Role != RoleOperator || !id.NoForward || !id.ReadOnly || !strings.HasSuffix(id.Source, "authorized_keys:1") ||
		!id.Expires.Equal(time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("identity %+v", id)
	}
	var refusal *RefusedError
	cert = p.sign(t, "ca", "-n", "whoever")
	if _, err := r.Authenticate("whoever", cert, local(), testNow); !errors.As(err, &refusal) {
		t.Errorf("a principal that the line does not list: %v", err)
	}
	if _, err := r.Authenticate("dev", authority, local(), testNow); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("the authority's own key: %v", err)
	}

	write(t, file, authority.line(`cert-authority,command="a"`)+"\n")
	r.Reload()
	cert = p.sign(t, "ca", "-n", "alice", "-O", "force-command=b")
	if _, err := r.Authenticate("alice", cert, local(), testNow); !errors.As(err, &refusal) {
		t.Errorf("two different forced commands: %v", err)
	}
	cert = p.sign(t, "ca", "-n", "alice", "-O", "force-command=a")
	if id, err := r.Authenticate("alice", cert, local(), testNow); err != nil || id.Command != "a" {
		t.Errorf("the same forced command: %+v, %v", id, err)
	}

	// Without cert-authority the line is for the key alone.
	write(t, file, authority.line("")+"\n")
	r.Reload()
	if _, err := r.Authenticate("alice", cert, local(), testNow); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("a certificate signed by an ordinary user's key: %v", err)
	}
}

func TestRevocationReachesCertificates(t *testing.T) {
	p := newPKI(t)
	list := p.file("revoked")
	write(t, list, "")
	r := p.trusting(t, Options{RevokedKeysFile: list})
	cert := p.sign(t, "ca", "-n", "alice")
	if _, err := r.Authenticate("alice", cert, local(), testNow); err != nil {
		t.Fatal(err)
	}
	for _, revoked := range []string{"user.pub", "ca.pub", "user-cert.pub"} {
		write(t, list, read(t, p.file(revoked)))
		r.Reload()
		if _, err := r.Authenticate("alice", cert, local(), testNow); err == nil || !strings.Contains(err.Error(), "revoked") {
			t.Errorf("%s revoked: %v", revoked, err)
		}
	}
}

func TestWeakCertificatesAreRefused(t *testing.T) {
	p := newPKI(t)
	openSSHKey(t, p.dir, "rsaca", "-t", "rsa", "-b", "2048")
	write(t, p.file("cas"), read(t, p.file("rsaca.pub"))+read(t, p.file("ca.pub")))
	r := open(t, Options{TrustedUserCAFiles: []string{p.file("cas")}, Home: p.home})
	cert := p.sign(t, "rsaca", "-t", "ssh-rsa", "-n", "alice")
	if _, err := r.Authenticate("alice", cert, local(), testNow); err == nil || !strings.Contains(err.Error(), "SHA-1") {
		t.Errorf("signed with SHA-1: %v", err)
	}
	cert = p.sign(t, "rsaca", "-t", "rsa-sha2-512", "-n", "alice")
	if _, err := r.Authenticate("alice", cert, local(), testNow); err != nil {
		t.Errorf("signed with SHA-2: %v", err)
	}
	openSSHKey(t, p.dir, "weak", "-t", "rsa", "-b", "1024")
	keygen(t, p.dir, "-q", "-s", "ca", "-I", "weak", "-n", "alice", "weak.pub")
	if _, err := r.Authenticate("alice", public(t, p.file("weak-cert.pub")), local(), testNow); err == nil || !strings.Contains(err.Error(), "1024 bits") {
		t.Errorf("a weak key inside: %v", err)
	}
}
