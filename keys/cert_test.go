package keys

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

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
	args = slices.Concat([]string{"-q", "-s", ca, "-I", "alice@corp"}, args, []string{"user.pub"})
	keygen(t, p.dir, args...)
	return public(t, p.file("user-cert.pub")).(*ssh.Certificate)
}

// trusting returns a Ring that trusts the authority "ca".
func (p pki) trusting(t *testing.T, o Options) *Ring {
	t.Helper()
	o.TrustedUserCAFiles, o.Home = []string{p.file("ca.pub")}, p.home
	return open(t, o)
}

func TestACertificateOfATrustedAuthorityIsAccepted(t *testing.T) {
	p := newPKI(t)
	r := p.trusting(t, Options{})
	cert := p.sign(t, "ca", "-n", "alice,admin", "-V", "20260101:20270101")
	id, err := r.Authenticate("alice", cert, local(), testNow)
	if err != nil {
		t.Fatal(err)
	}
	if id.Comment != "alice@corp" || id.ReadOnly || id.NoForward || id.Command != "" ||
		id.Fingerprint != ssh.FingerprintSHA256(public(t, p.file("user.pub"))) {
		t.Errorf("identity %+v", id)
	}
	if want := time.Date(2027, 1, 1, 0, 0, 0, 0, time.Local); !id.Expires.Equal(want) {
		t.Errorf("it expires at %v, want %v", id.Expires, want)
	}
	if again, err := r.Still(id, testNow); err != nil || again != id {
		t.Errorf("still: %+v, %v", again, err)
	}
	if _, err := r.Still(id, id.Expires); err == nil {
		t.Error("outlives its certificate")
	}
	// Without its certificate, the key is unknown.
	if err := try(r, "alice", cert.Key); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("the bare key: %v", err)
	}
	// So is the authority's key, which signs and does not log in.
	if err := try(r, "alice", cert.SignatureKey); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("the authority's own key: %v", err)
	}
}

// These are the cases of OpenSSH's regress/cert-userkey.sh that concern the server, and some more
// attacks.
func TestCertificatesThatAreRefused(t *testing.T) {
	p := newPKI(t)
	r := p.trusting(t, Options{})
	valid := []string{"-V", "20260101:20270101"}
	forAlice := func(option string) []string { return []string{"-n", "alice", "-O", option} }
	for name, c := range map[string]struct {
		args []string
		why  string
	}{
		"wrong principal":         {[]string{"-n", "mallory"}, "does not name the login"},
		"principal in other case": {[]string{"-n", "Alice"}, "does not name the login"},
		"principal as a pattern":  {[]string{"-n", "*"}, "does not name the login"},
		"empty principals":        {nil, "names no principals"},
		"host certificate":        {[]string{"-n", "alice", "-h"}, "not for users"},
		"empty force-command":     {forAlice("force-command= "), "empty"},
		"unknown critical option": {forAlice("critical:frobnicate=1"), "frobnicate"},
		"verify-required":         {forAlice("verify-required"), "verify-required"},
		"another address":         {forAlice("source-address=10.0.0.0/8"), "not be used from this"},
	} {
		cert := p.sign(t, "ca", append(c.args, valid...)...)
		var refusal *RefusedError
		if err := try(r, "alice", cert); !errors.As(err, &refusal) || !says(err, c.why) {
			t.Errorf("%s: got %v, want a refusal with %q", name, err, c.why)
		}
	}
	for name, validity := range map[string]string{
		"expired":       "20250101:20260101",
		"not yet valid": "20270101:20280101",
	} {
		cert := p.sign(t, "ca", "-n", "alice", "-V", validity)
		if err := try(r, "alice", cert); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	cert := p.sign(t, "otherca", append(valid, "-n", "alice")...)
	if err := try(r, "alice", cert); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("another authority: %v", err)
	}
}

func TestForgedCertificatesAreRefused(t *testing.T) {
	p := newPKI(t)
	r := p.trusting(t, Options{})
	good := p.sign(t, "ca", "-n", "alice", "-V", "20260101:20270101")
	mallory := newKey(t)
	for name, forge := range map[string]func(*ssh.Certificate){
		"a principal added": func(c *ssh.Certificate) {
			c.ValidPrincipals = append(c.ValidPrincipals, "root")
		},
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
	if err := try(r, "alice", good); err != nil {
		t.Errorf("the certificate itself: %v", err)
	}
}

func TestCertificateLimitsApply(t *testing.T) {
	p := newPKI(t)
	r := p.trusting(t, Options{})
	forever := []string{"-n", "alice"}
	type limits struct {
		readOnly, noForward bool
		command, from       string
	}
	for name, c := range map[string]struct {
		args []string
		want limits
	}{
		"no pty":         {[]string{"-O", "no-pty"}, limits{readOnly: true}},
		"no forwarding":  {[]string{"-O", "no-port-forwarding"}, limits{noForward: true}},
		"clear":          {[]string{"-O", "clear"}, limits{readOnly: true, noForward: true}},
		"force-command":  {[]string{"-O", "force-command=date"}, limits{command: "date"}},
		"source-address": {[]string{"-O", "source-address=127.0.0.1"}, limits{from: "127.0.0.1"}},
		"no limits":      {nil, limits{}},
	} {
		cert := p.sign(t, "ca", append(c.args, forever...)...)
		id, err := r.Authenticate("alice", cert, local(), testNow)
		got := limits{id.ReadOnly, id.NoForward, id.Command, id.From}
		if err != nil || got != c.want || !id.Expires.IsZero() {
			t.Errorf("%s: %+v, %v", name, id, err)
		}
	}
}

func TestLoginUserBindsCertificatesToTheHostsUser(t *testing.T) {
	p := newPKI(t)
	r := p.trusting(t, Options{LoginUser: "alice"})
	cert := p.sign(t, "ca", "-n", "alice,mallory")
	if err := try(r, "alice", cert); err != nil {
		t.Error(err)
	}
	// mallory holds a good certificate in her own name, but this is not her host.
	var refusal *RefusedError
	if err := try(r, "mallory", cert); !errors.As(err, &refusal) {
		t.Errorf("another login: %v", err)
	}
}

func TestCertAuthorityLinesAuthoriseCertificates(t *testing.T) {
	p := newPKI(t)
	file := p.file("authorized_keys")
	authority := testKey{public(t, p.file("ca.pub"))}
	write(t, file, authority.line(`cert-authority,principals="ops,dev",`+
		`environment="TERMHOST_ROLE=operator",no-port-forwarding,expiry-time="20260401Z"`)+"\n")
	r := open(t, Options{AuthorizedKeysFiles: []string{file}, Home: p.home})

	cert := p.sign(t, "ca", "-n", "dev", "-O", "no-pty", "-V", "20260101:20270101")
	id, err := r.Authenticate("whoever", cert, local(), testNow)
	if err != nil {
		t.Fatal(err)
	}
	if id.Role != RoleOperator || !id.NoForward || !id.ReadOnly ||
		!id.Expires.Equal(time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("identity %+v", id)
	}
	var refusal *RefusedError
	cert = p.sign(t, "ca", "-n", "whoever")
	if err := try(r, "whoever", cert); !errors.As(err, &refusal) {
		t.Errorf("a principal that the line does not list: %v", err)
	}
	if err := try(r, "dev", authority); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("the authority's own key: %v", err)
	}

	write(t, file, authority.line(`cert-authority,command="a"`)+"\n")
	r.Reload()
	cert = p.sign(t, "ca", "-n", "alice", "-O", "force-command=b")
	if err := try(r, "alice", cert); !errors.As(err, &refusal) {
		t.Errorf("two different forced commands: %v", err)
	}
	cert = p.sign(t, "ca", "-n", "alice", "-O", "force-command=a")
	if id, err := r.Authenticate("alice", cert, local(), testNow); err != nil || id.Command != "a" {
		t.Errorf("the same forced command: %+v, %v", id, err)
	}

	// Without cert-authority the line is for the key alone.
	write(t, file, authority.line("")+"\n")
	r.Reload()
	if err := try(r, "alice", cert); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("a certificate signed by an ordinary user's key: %v", err)
	}
}

func TestRevocationReachesCertificates(t *testing.T) {
	p := newPKI(t)
	list := p.file("revoked")
	write(t, list, "")
	r := p.trusting(t, Options{RevokedKeysFile: list})
	cert := p.sign(t, "ca", "-n", "alice")
	if err := try(r, "alice", cert); err != nil {
		t.Fatal(err)
	}
	for _, revoked := range []string{"user.pub", "ca.pub", "user-cert.pub"} {
		write(t, list, read(t, p.file(revoked)))
		r.Reload()
		if err := try(r, "alice", cert); !says(err, "revoked") {
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
	if err := try(r, "alice", cert); !says(err, "SHA-1") {
		t.Errorf("signed with SHA-1: %v", err)
	}
	cert = p.sign(t, "rsaca", "-t", "rsa-sha2-512", "-n", "alice")
	if err := try(r, "alice", cert); err != nil {
		t.Errorf("signed with SHA-2: %v", err)
	}
	openSSHKey(t, p.dir, "weak", "-t", "rsa", "-b", "1024")
	keygen(t, p.dir, "-q", "-s", "ca", "-I", "weak", "-n", "alice", "weak.pub")
	if err := try(r, "alice", public(t, p.file("weak-cert.pub"))); !says(err, "1024 bits") {
		t.Errorf("a weak key inside: %v", err)
	}
}

// optionsOf reads "name=value" pairs, separated by lines.
func optionsOf(text string) map[string]string {
	options := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		options[name] = value
	}
	return options
}

// FuzzCertificate has a trusted authority sign what a fuzzer makes up, and changes a byte of the
// result. A certificate that is accepted has a valid signature, is valid now and for that login,
// and gives only the rights that it names.
func FuzzCertificate(f *testing.F) {
	f.Add("alice", "alice\nbob", "", "permit-pty=\npermit-port-forwarding=", uint64(0),
		uint64(ssh.CertTimeInfinity), uint32(ssh.UserCert), "id", uint16(0), byte(0))
	f.Add("alice", "alice", "force-command=date\nsource-address=127.0.0.0/8,::1", "", uint64(1),
		uint64(1<<40), uint32(ssh.UserCert), "", uint16(0), byte(0))
	f.Add("alice", "", "verify-required=", "permit-pty=", uint64(0), uint64(1<<63), uint32(0), "x",
		uint16(90), byte(1))
	f.Add("alice", "alice", "source-address=10.0.0.0/8", "", uint64(0), uint64(1<<40),
		uint32(ssh.UserCert), "\x1b]0;x\x07", uint16(0), byte(0))
	dir := home(f)
	authority, user := newKey(f), newKey(f)
	if err := os.WriteFile(filepath.Join(dir, "ca.pub"),
		ssh.MarshalAuthorizedKey(authority.PublicKey()), 0o600); err != nil {
		f.Fatal(err)
	}
	ring, err := Open(Options{TrustedUserCAFiles: []string{filepath.Join(dir, "ca.pub")}, Home: dir,
		Interval: never})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { ring.Close() })
	f.Fuzz(func(t *testing.T, login, principals, critical, extensions string, after, before uint64,
		kind uint32, id string, where uint16, flip byte) {
		made := &ssh.Certificate{Key: user.PublicKey(), CertType: kind, KeyId: id,
			ValidAfter: after, ValidBefore: before, Nonce: []byte("nonce"),
			Permissions: ssh.Permissions{CriticalOptions: optionsOf(critical),
				Extensions: optionsOf(extensions)}}
		if principals != "" {
			made.ValidPrincipals = strings.Split(principals, "\n")
		}
		if err := made.SignCert(rand.Reader, authority); err != nil {
			t.Fatal(err)
		}
		blob := made.Marshal()
		blob[int(where)%len(blob)] ^= flip
		key, err := ssh.ParsePublicKey(blob)
		if err != nil {
			return
		}
		cert, ok := key.(*ssh.Certificate)
		if !ok {
			if try(ring, login, key) == nil {
				t.Fatal("a bare key was let in")
			}
			return
		}
		who, err := ring.Authenticate(login, cert, local(), testNow)
		if err != nil {
			return
		}
		switch now := uint64(testNow.Unix()); {
		case flip != 0:
			t.Errorf("the changed byte %d of %d was not noticed", int(where)%len(blob), len(blob))
		case kind != ssh.UserCert:
			t.Errorf("a certificate of type %d", kind)
		case !slices.Contains(made.ValidPrincipals, login):
			t.Errorf("%q is let in, the certificate is for %q", login, principals)
		case now < after || now >= before:
			t.Errorf("at %d, it is good from %d to %d", now, after, before)
		}
		_, pty := made.Extensions["permit-pty"]
		_, forward := made.Extensions["permit-port-forwarding"]
		if who.ReadOnly == pty || who.NoForward == forward ||
			who.Command != made.CriticalOptions["force-command"] {
			t.Errorf("the rights are %+v, the certificate's %q and %q", who, critical, extensions)
		}
		for name := range made.CriticalOptions {
			if name != "force-command" && name != "source-address" {
				t.Errorf("the critical option %q was passed over", name)
			}
		}
		if hidden := func(r rune) bool { return !unicode.IsPrint(r) }; strings.ContainsFunc(who.Comment, hidden) {
			t.Errorf("the comment is %q", who.Comment)
		}
	})
}
