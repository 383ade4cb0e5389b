package authz

import (
	"os"
	"testing"

	"golang.org/x/crypto/ssh"
)

// me is who the host's own user is; "": nobody with a key.
func (h *house) me() string {
	h.t.Helper()
	p := h.AuthenticateUID(uint32(os.Geteuid())).Principal
	if p.UID == "" || p.Fingerprint != "" || p.Token != "" {
		h.t.Errorf("it is no user of this machine: %+v", p)
	}
	if other := h.AuthenticateUID(uint32(os.Geteuid() + 1)).Principal; other.KeyOf() != "" {
		h.t.Errorf("another user is %+v", other)
	}
	if p.KeyOf() == "" {
		return ""
	}
	return p.Name + " " + p.Role.String() + " " + p.ID
}

func (h *house) meFor(name string, entries ...Entry) string {
	h.t.Helper()
	d, err := NewDirectory(entries)
	if err != nil {
		h.t.Fatal(err)
	}
	h.SetDirectory(d.ForMe(name))
	return h.me()
}

func TestTheHostsUserIsTheOnlyPersonThereIs(t *testing.T) {
	t.Parallel()
	ann, bob := newKey(t), newKey(t)
	mark := func(key ssh.Signer) string { return ssh.FingerprintSHA256(key.PublicKey()) }
	isAnn := "ann admin " + mark(ann)
	for name, c := range map[string]struct {
		want  string
		lines []string
	}{
		"one key":         {isAnn, []string{keyLine(ann, "", "ann")}},
		"no key":          {"", nil},
		"two people":      {"", []string{keyLine(ann, "", "ann"), keyLine(bob, "", "bob")}},
		"on two lines":    {isAnn, []string{keyLine(ann, "", "ann"), keyLine(ann, "", "ann")}},
		"an observer":     {"", []string{keyLine(ann, `environment="TERMHOST_ROLE=observer"`, "ann")}},
		"a program's key": {isAnn, []string{keyLine(ann, "", "ann"), keyLine(bob, `command="backup"`, "b")}},
		"one that reads":  {isAnn, []string{keyLine(ann, "", "ann"), keyLine(bob, "restrict", "b")}},
	} {
		if got := newHouse(t, c.lines...).me(); got != c.want {
			t.Errorf("%s: it is %q, want %q", name, got, c.want)
		}
	}
}

func TestTheHostsUserIsWhomTheConfigurationNames(t *testing.T) {
	t.Parallel()
	ann, bob, ops := newKey(t), newKey(t), newKey(t)
	mark := func(key ssh.Signer) string { return ssh.FingerprintSHA256(key.PublicKey()) }
	entry := Entry{Name: "ops", Role: Operator, Keys: []string{mark(ops), mark(bob)}}
	h := newHouse(t, keyLine(ann, "", "ann"), keyLine(bob, "", "bob"), keyLine(ops, "", "x"))
	for _, c := range []struct {
		name, want string
		entries    []Entry
	}{
		{"ann", "ann admin " + mark(ann), nil},
		{"nobody", "", nil},
		{"ops", "ops operator " + mark(ops), []Entry{entry}}, // by its first key, as uids
		{"bob", "", []Entry{entry}},
		{"", "", []Entry{entry}},
		{"ann", "other observer " + mark(bob), []Entry{{Name: "other", Role: Observer,
			UIDs: []uint32{uint32(os.Geteuid())}, Keys: []string{mark(bob)}}}}, // uids say more
	} {
		if got := h.meFor(c.name, c.entries...); got != c.want {
			t.Errorf("me = %q: it is %q, want %q", c.name, got, c.want)
		}
	}
}

// Another one's key ends nothing of what the host's user does; the own one's end does.
func TestTheHostsUserStaysWhoItIs(t *testing.T) {
	t.Parallel()
	ann := newKey(t)
	h := newHouse(t, keyLine(ann, "", "ann"))
	is := h.me()
	end := h.track(h.AuthenticateUID(uint32(os.Geteuid())))
	h.change(keyLine(ann, "", "ann"))
	if got := h.me(); got != is {
		t.Errorf("with another key it is %q, want %q", got, is)
	}
	h.change(keyLine(newKey(t), "", "bob"))
	if err := h.ended(end); err == nil {
		t.Error("it ends without a reason")
	}
	if got := h.me(); got != "" {
		t.Errorf("without a key it is %q", got)
	}
}

func TestAUserWithoutANameIsToldWhatGivesOne(t *testing.T) {
	t.Parallel()
	ann, bob := newKey(t), newKey(t)
	observer := keyLine(bob, `environment="TERMHOST_ROLE=observer"`, "bob")
	both := []string{keyLine(ann, "", "ann"), keyLine(bob, "", "bob")}
	many := both
	for _, name := range []string{"c", "d", "e"} {
		many = append(many, keyLine(newKey(t), "", name))
	}
	for name, c := range map[string]struct {
		me, want string
		lines    []string
	}{
		"one person":      {"", "", both[:1]},
		"nobody":          {"", "", nil},
		"no admin":        {"", "", []string{observer}},
		"two":             {"", `several may log in, and [people] me = "ann" would say that you are ann`, both},
		"one is none":     {"", `several may log in, and [people] me = "ann" would say that you are ann`, []string{both[0], observer}},
		"who is there":    {"bob", "", both},
		"who is not":      {"eve", `[people] me = "eve" says that you are eve, who may not log in; ann and bob may`, both},
		"of many":         {"eve", `[people] me = "eve" says that you are eve, who may not log in; ann, bob, c and 2 more may`, many},
		"where is no one": {"eve", `[people] me = "eve" says that you are eve, and nobody may log in`, nil},
	} {
		h := newHouse(t, c.lines...)
		d, err := NewDirectory(nil)
		if err != nil {
			t.Fatal(err)
		}
		h.SetDirectory(d.ForMe(c.me))
		if got := h.Nameless(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
