package authz

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// logLines has what is logged, line by line.
type logLines chan string

func (l logLines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// TestARoleThatBecomesHigherIsToldByName loses the entries of a configuration, and an option.
func TestARoleThatBecomesHigherIsToldByName(t *testing.T) {
	alice, bob, eve := newKey(t), newKey(t), newKey(t)
	fingerprint := func(key ssh.Signer) string { return ssh.FingerprintSHA256(key.PublicKey()) }
	limited := keyLine(eve, `environment="TERMHOST_ROLE=observer"`, "eve")
	h := newHouse(t, keyLine(alice, "", "alice"), keyLine(bob, "", "bob"), limited)
	lines := make(logLines, 100)
	h.log = lines
	h.stop()
	entries := []Entry{
		{Name: "Bob", Role: Operator, Keys: []string{fingerprint(bob)}},
		{Name: "Me", Role: Observer, UIDs: []uint32{uint32(os.Geteuid())}},
	}
	h.start(entries...)
	set := func(entries ...Entry) {
		t.Helper()
		d, err := NewDirectory(entries)
		if err != nil {
			t.Fatal(err)
		}
		h.SetDirectory(d)
	}
	expect := func(want ...string) {
		t.Helper()
		line := <-lines
		for _, w := range append(want, "level=WARN") {
			if !strings.Contains(line, w) {
				t.Errorf("%s is not in %s", w, line)
			}
		}
	}
	set(entries[1])
	expect(fingerprint(bob), "principal=Bob", "was=operator", "role=admin")
	set(append(entries[:1:1], Entry{Name: "A", Role: Observer, Keys: []string{fingerprint(alice)}})...)
	expect("key=uid:", "principal=Me", "was=observer", "role=admin") // and nothing of lower ones
	h.change(keyLine(alice, "", "alice"), keyLine(bob, "", "bob"), keyLine(eve, "", "eve"))
	expect(fingerprint(eve), "principal=eve", "was=observer", "role=admin")

	// The configuration takes a key's line and its entry away one after the other.
	h.change(keyLine(bob, "", "bob"))
	set(Entry{Name: "Bob", Role: Admin, Keys: []string{fingerprint(bob)}})
	expect(fingerprint(bob), "was=operator", "role=admin")
	h.change(keyLine(alice, "", "alice"), keyLine(bob, "", "bob"))
	expect(fingerprint(alice), "principal=A", "was=observer", "role=admin")
}

// TestARoleOfACertificateThatBecomesHigherIsTold: only the configuration knows its key.
func TestARoleOfACertificateThatBecomesHigherIsTold(t *testing.T) {
	bob, authority := newKey(t), newKey(t)
	h := newHouse(t, keyLine(authority, "cert-authority", "ca"))
	lines := make(logLines, 100)
	h.log = lines
	h.stop()
	fingerprint := ssh.FingerprintSHA256(bob.PublicKey())
	h.start(Entry{Name: "Bob", Role: Operator, Keys: []string{fingerprint}})
	h.SetDirectory(&Directory{})
	if line := <-lines; !strings.Contains(line, fingerprint) || !strings.Contains(line, "role=admin") {
		t.Errorf("logged: %s", line)
	}
}

// TestAChangedRoleIsAudited: though nobody is connected, and also where the role becomes a lower one.
func TestAChangedRoleIsAudited(t *testing.T) {
	alice, bob := newKey(t), newKey(t)
	fingerprint := ssh.FingerprintSHA256(bob.PublicKey())
	h := newHouse(t, keyLine(alice, "", "alice"), keyLine(bob, "", "bob"))
	audit := make(logLines, 100)
	h.audit = audit
	h.stop()
	h.start()
	expect := func(was, is string) {
		t.Helper()
		line := <-audit
		for _, w := range []string{"msg=role-changed", "who=", "key=" + fingerprint, "was=" + was, "role=" + is} {
			if !strings.Contains(line, w) {
				t.Errorf("%s is not in %s", w, line)
			}
		}
	}
	last := "admin"
	for _, role := range []Role{Observer, Operator, Admin} {
		d, err := NewDirectory([]Entry{{Name: "Bob", Role: role, Keys: []string{fingerprint}}})
		if err != nil {
			t.Fatal(err)
		}
		h.SetDirectory(d)
		expect(last, role.String())
		last = role.String()
	}
	h.change(keyLine(alice, "", "alice"), keyLine(bob, `environment="TERMHOST_ROLE=observer"`, "bob"))
	h.SetDirectory(&Directory{})
	expect("admin", "observer")
	if len(audit) > 0 {
		t.Errorf("and %s", <-audit)
	}
}
