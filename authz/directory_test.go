package authz

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"termhost/keys"
)

func TestAKeyWithoutEntryIsAnAdminNamedAfterItsComment(t *testing.T) {
	d, err := NewDirectory(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id   keys.Identity
		name string
		role Role
	}{
		{keys.Identity{Fingerprint: "SHA256:a", Comment: "alice@desk"}, "alice@desk", Admin},
		{keys.Identity{Fingerprint: "SHA256:a"}, "SHA256:a", Admin},
		// Not bob's token:
		{keys.Identity{Fingerprint: "SHA256:a", Comment: "bob/ci"}, "bob_ci", Admin},
		// Not a guest:
		{keys.Identity{Fingerprint: "SHA256:a", Comment: "guest:gwen"}, "guest_gwen", Admin},
		{keys.Identity{Fingerprint: "SHA256:a", Comment: "eve", Role: "observer"}, "eve", Observer},
		{keys.Identity{Fingerprint: "SHA256:a", Comment: "eve", Role: "operator"}, "eve", Operator},
	} {
		p, err := d.KeyPrincipal(c.id)
		if err != nil || p.Name != c.name || p.Role != c.role || p.ID != "SHA256:a" ||
			p.Fingerprint != "SHA256:a" {
			t.Errorf("%+v became %+v, %v", c.id, p, err)
		}
	}
	for _, bad := range []keys.Identity{{}, {Fingerprint: "SHA256:a", Role: "root"}} {
		if p, err := d.KeyPrincipal(bad); err == nil {
			t.Errorf("%+v became %+v", bad, p)
		}
	}
}

func TestAnEntryGivesNameAndRole(t *testing.T) {
	alice := newKey(t)
	line := keyLine(alice, "no-pty", "comment")
	d, err := NewDirectory([]Entry{
		{Name: "Alice", Role: Operator, Keys: []string{line}},
		{Name: "Eve", Role: Observer, Keys: []string{ssh.FingerprintSHA256(newKey(t).PublicKey())}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if lines := d.Lines(); len(lines) != 1 || lines[0] != line {
		t.Errorf("lines %q", lines)
	}
	id := keys.Identity{Fingerprint: ssh.FingerprintSHA256(alice.PublicKey()), Comment: "comment"}
	if p, err := d.KeyPrincipal(id); err != nil || p.Name != "Alice" || p.Role != Operator {
		t.Errorf("got %+v, %v", p, err)
	}
	id.Role = "observer"
	if p, err := d.KeyPrincipal(id); err != nil || p.Role != Observer {
		t.Errorf("TERMHOST_ROLE does not lower: %+v, %v", p, err)
	}
	id.Role = "admin"
	if p, err := d.KeyPrincipal(id); err != nil || p.Role != Operator {
		t.Errorf("TERMHOST_ROLE raises: %+v, %v", p, err)
	}
}

func TestEntriesThatAreRefused(t *testing.T) {
	line := keyLine(newKey(t), "", "x")
	print := ssh.FingerprintSHA256(newKey(t).PublicKey())
	one := func(e Entry) []Entry { return []Entry{e} }
	named := func(name, key string) Entry {
		return Entry{Name: name, Role: Admin, Keys: []string{key}}
	}
	for name, c := range map[string]struct {
		entries []Entry
		why     string
	}{
		"no name":        {one(named("", print)), "printable"},
		"slash":          {one(named("a/b", print)), "slash"},
		"a guest's":      {one(named("guest:b", print)), "guest"},
		"escape":         {one(named("a\x1b[2J", print)), "printable"},
		"long":           {one(named(strings.Repeat("a", 65), print)), "64 bytes"},
		"no role":        {one(Entry{Name: "a", Keys: []string{print}}), "no role"},
		"no keys":        {one(Entry{Name: "a", Role: Admin}), "no keys"},
		"twice a name":   {[]Entry{named("a", print), named("a", line)}, "twice"},
		"twice a key":    {[]Entry{named("a", print), named("b", print)}, "already"},
		"unknown option": {one(named("a", "frobnicate "+line)), "frobnicate"},
		"short print":    {one(named("a", "SHA256:abc")), "fingerprint"},
		"MD5":            {one(named("a", "MD5:00:11")), "fingerprint"},
		"authority":      {one(named("a", "cert-authority "+line)), "authority"},
	} {
		if _, err := NewDirectory(c.entries); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.why)
		}
	}
}

func TestATokenNeverExceedsItsKey(t *testing.T) {
	var d Directory
	soon, late := time.Unix(1000, 0), time.Unix(2000, 0)
	key := Principal{ID: "SHA256:a", Name: "alice", Fingerprint: "SHA256:a",
		ReadOnly: true, NoForward: true, Command: "x"}
	for _, keyRole := range []Role{Observer, Operator, Admin} {
		for _, tokenRole := range []Role{Observer, Operator, Admin} {
			key.Role, key.Expires = keyRole, soon
			token := keys.Token{Name: "ci", Role: tokenRole.String(), Expires: late,
				Identity: keys.Identity{Fingerprint: "SHA256:a"}}
			p, err := d.TokenPrincipal(key, token)
			want := Principal{ID: "SHA256:a/ci", Name: "alice/ci", Role: min(keyRole, tokenRole),
				Fingerprint: "SHA256:a", Token: "ci", Expires: soon,
				ReadOnly: true, NoForward: true, Command: "x"}
			if err != nil || p != want {
				t.Errorf("%s token of %s: %+v, %v; want %+v", tokenRole, keyRole, p, err, want)
			}
			key.Expires, token.Expires = time.Time{}, soon
			if p, err := d.TokenPrincipal(key, token); err != nil || p.Expires != soon {
				t.Errorf("outlives itself: %+v, %v", p, err)
			}
			token.Identity.Fingerprint = "SHA256:b"
			if p, err := d.TokenPrincipal(key, token); err == nil {
				t.Errorf("a token of another key: %+v", p)
			}
		}
	}
}

func TestAUserOfThisMachineIsOnePersonWithTheFirstKeyOfItsEntry(t *testing.T) {
	alice := newKey(t)
	fingerprint := ssh.FingerprintSHA256(alice.PublicKey())
	d, err := NewDirectory([]Entry{
		{Name: "Alice", Role: Operator, UIDs: []uint32{1000, 0}, Keys: []string{keyLine(alice, "", "x")}},
		{Name: "Eve", Role: Observer, UIDs: []uint32{5}},
	})
	if err != nil {
		t.Fatal(err)
	}
	key, err := d.KeyPrincipal(keys.Identity{Fingerprint: fingerprint})
	if err != nil {
		t.Fatal(err)
	}
	for uid, want := range map[uint32]Principal{
		1000: {ID: key.ID, Name: "Alice", Role: Operator, UID: "1000"},
		0:    {ID: key.ID, Name: "Alice", Role: Operator, UID: "0"},
		5:    {ID: "uid:5", Name: "Eve", Role: Observer, UID: "5"},
		7:    {ID: "uid:7", Name: "uid:7", Role: Admin, UID: "7"},
	} {
		if got := d.UIDPrincipal(uid); got != want {
			t.Errorf("uid %d is %+v, want %+v", uid, got, want)
		}
	}
	twice := []Entry{{Name: "a", Role: Admin, UIDs: []uint32{1}}, {Name: "b", Role: Admin,
		UIDs: []uint32{1}}}
	if _, err := NewDirectory(twice); err == nil {
		t.Error("a user has two names")
	}
	if _, err := NewDirectory([]Entry{{Name: "a", Role: Admin}}); err == nil {
		t.Error("an entry names nobody")
	}
}
