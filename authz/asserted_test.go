package authz

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// A door's assertion is bounded by the host's limits for that door, and by the host's own knowledge
// of the key.
func TestAsserted(t *testing.T) {
	admin, observer, forced, stranger := newKey(t), newKey(t), newKey(t), newKey(t)
	h := newHouse(t, keyLine(admin, "", "ann"),
		keyLine(observer, `environment="TERMHOST_ROLE=observer"`, "olga"),
		keyLine(forced, `command="ls"`, "fred"))
	of := func(key ssh.Signer, change func(*Principal)) Principal {
		fp := ssh.FingerprintSHA256(key.PublicKey())
		p := Principal{ID: fp, Fingerprint: fp, Name: "me", Role: Admin}
		if change != nil {
			change(&p)
		}
		return p
	}
	for name, c := range map[string]struct {
		p    Principal
		most Role
		want string // name and role; "": it is refused
	}{
		"a key that the host knows": {of(admin, nil), Admin, "ann admin"},
		"more than the door may":    {of(admin, nil), Operator, "ann operator"},
		"a door that may nothing":   {of(admin, nil), NoRole, ""},
		"more than the key may":     {of(observer, nil), Admin, "olga observer"},
		"a forced command here":     {of(forced, nil), Admin, ""},
		"a stranger":                {of(stranger, nil), Operator, "me@box1 operator"},
		"less than both":            {of(admin, func(p *Principal) { p.Role = Observer }), Admin, "ann observer"},
		"a forced command there":    {of(admin, func(p *Principal) { p.Command = "ls" }), Admin, ""},
		"a guest":                   {of(admin, func(p *Principal) { p.Guest = "g" }), Admin, ""},
		"a guest by its ID": {of(admin, func(p *Principal) {
			p.ID, p.Fingerprint = "guest:x", ""
		}), Admin, ""},
		"another's fingerprint": {of(admin, func(p *Principal) {
			p.ID = of(stranger, nil).ID
		}), Admin, ""},
		"no fingerprint": {of(admin, func(p *Principal) { p.ID, p.Fingerprint = "x", "x" }), Admin, ""},
		"nobody":         {Principal{}, Admin, ""},
		"no role":        {of(admin, func(p *Principal) { p.Role = NoRole }), Admin, ""},
		"one that has expired": {of(admin, func(p *Principal) {
			p.Expires = time.Now().Add(-time.Second)
		}), Admin, ""},
		"a name that acts": {of(admin, func(p *Principal) { p.Name = "a\x1b[2J" }), Admin, ""},
		"a long name":      {of(admin, func(p *Principal) { p.Name = strings.Repeat("a", 1000) }), Admin, ""},
		"a token": {of(admin, func(p *Principal) {
			p.ID, p.Token = p.ID+"/t", "t"
		}), Admin, "ann/t admin"},
		"an MCP client": {of(admin, nil).MCPClient("x", 2), Admin, "ann/mcp:x#2 operator"},
		"an MCP client of a token": {of(admin, func(p *Principal) {
			p.ID, p.Token = p.ID+"/t", "t"
		}).MCPClient("x", 1), Admin, "ann/t/mcp:x operator"},
		"a token with a slash": {of(admin, func(p *Principal) {
			p.ID, p.Token = p.ID+"/t/u", "t/u"
		}), Admin, ""},
		"an MCP client of nothing": {of(admin, func(p *Principal) {
			p.ID, p.Token = p.ID+"//mcp:x", "/mcp:x"
		}), Admin, ""},
		"an MCP client of an MCP client": {of(admin, nil).MCPClient("x", 1).MCPClient("y", 1), Admin, "ann/mcp:y operator"},
		"a token as its key":             {of(admin, func(p *Principal) { p.Token = "t" }), Admin, ""},
		"a user of the door's machine": {Principal{ID: "uid:0", UID: "0", Name: "uid:0", Role: Admin},
			Operator, "uid:0@box1 operator"},
	} {
		got := ""
		if p, err := h.Asserted(c.p, "box1", c.most); err == nil {
			got = p.Name + " " + p.Role.String()
			if p.ID == "uid:0" || p.UID != "" || !p.NoForward || !p.NoAgent {
				t.Errorf("%s: it is %+v", name, p)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAssertedRefusesWhatANewerDoorRestrictsInAWayThatIsUnknownHere(t *testing.T) {
	key := newKey(t)
	h := newHouse(t, keyLine(key, "", "ann"))
	fp := ssh.FingerprintSHA256(key.PublicKey())
	var p Principal
	text := `{"id":"` + fp + `","name":"a","role":"admin","fingerprint":"` + fp + `","onlyOn":"x"}`
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	if p, err := h.Asserted(p, "box1", Admin); err == nil {
		t.Errorf("it is %+v", p)
	}
}

// It ends as an own login does when the host takes rights away from the key.
func TestAnAssertedLoginEndsWithItsRights(t *testing.T) {
	key := newKey(t)
	fp := ssh.FingerprintSHA256(key.PublicKey())
	h := newHouse(t, keyLine(key, "", "ann"))
	verify := func() (Principal, error) {
		return h.Asserted(Principal{ID: fp, Fingerprint: fp, Name: "me", Role: Admin}, "box1", Admin)
	}
	p, err := verify()
	if err != nil {
		t.Fatal(err)
	}
	ends := h.track(AssertedGrant(p, verify))
	if record := h.Record(p); record != nil {
		t.Errorf("what another host says is kept: %s", record)
	}
	h.change(keyLine(key, `environment="TERMHOST_ROLE=observer"`, "ann"))
	if err := h.ended(ends); !errors.Is(err, ErrChanged) {
		t.Errorf("it ends with %v", err)
	}
	if p, err = verify(); err != nil {
		t.Fatal(err)
	}
	ends = h.track(AssertedGrant(p, verify))
	h.change(keyLine(key, `command="ls"`, "ann"))
	if err := h.ended(ends); !errors.Is(err, errAsserted) {
		t.Errorf("it ends with %v", err)
	}
}
