package authz

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"termhost/keys"
)

// errAsserted refuses what another host says of somebody.
var errAsserted = errors.New("authz: the other host must not speak for this principal")

// maxAssertedName bounds the name of an asserted principal, in bytes.
const maxAssertedName = 2 * keys.MaxCommentBytes

// Asserted returns whom the host named door speaks for, when it says that it has authenticated p:
// at most with the role most, and with no more than this host gives p's key itself, if it knows
// the key. The caller has verified that door says so.
//
// A guest, and a key with a forced command, is another host's own matter. Forwards and key agents
// are not asserted. A user of the other machine is none of this one.
func (a *Authority) Asserted(p Principal, door string, most Role) (Principal, error) {
	now := a.clock()
	if err := p.Valid(now); err != nil {
		return Principal{}, fmt.Errorf("%w; the clock of this host says %s", err,
			now.UTC().Format(time.RFC3339))
	}
	if p.Guest != "" || p.Inviter != "" || p.Reach != "" || p.Command != "" || most == NoRole ||
		strings.HasPrefix(p.ID, guestPrefix) {
		return Principal{}, errAsserted
	}
	if !showable(p.Name) || !showable(p.ID) || !isTokenName(p.Token) {
		return Principal{}, fmt.Errorf("%w: its name cannot be shown", errAsserted)
	}
	as := Principal{
		Role: min(p.Role, most), Token: p.Token, TypesSecrets: p.TypesSecrets, Expires: p.Expires,
		ReadOnly: p.ReadOnly, Inside: p.Inside, NoForward: true, NoAgent: true,
	}
	if p.Fingerprint == "" {
		as.ID, as.Name = "host:"+door+"/"+p.ID, p.Name+"@"+door
		return as, nil
	}
	as.ID, as.Fingerprint = p.Fingerprint, p.Fingerprint
	if p.Token != "" {
		as.ID += "/" + p.Token
	}
	if p.ID != as.ID || !keys.IsFingerprint(p.Fingerprint) {
		return Principal{}, fmt.Errorf("%w: its ID is not its key's", errAsserted)
	}
	return a.asKnown(as, p.Name+"@"+door)
}

// AssertedGrant returns the grant of whom another host speaks for. verify asserts it again, by what
// this host allows then.
func AssertedGrant(p Principal, verify func() (Principal, error)) Grant {
	return Grant{Principal: p, asserted: verify}
}

func (g Grant) assertedAgain() (Grant, error) {
	now, err := g.asserted()
	if err != nil {
		return Grant{}, err
	}
	before := g.Principal
	before.Name, before.Limits = now.Name, now.Limits
	if !samePrincipal(before, now) {
		return Grant{}, ErrChanged
	}
	g.Principal = now
	return g, nil
}

// showable reports whether text fits a listing.
func showable(text string) bool {
	return len(text) <= maxAssertedName && utf8.ValidString(text) &&
		strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// asKnown bounds another host's assertion about a key by this host's own knowledge of it. stranger
// is the name of a key that it does not know.
func (a *Authority) asKnown(p Principal, stranger string) (Principal, error) {
	if err := a.ring.Refused(p.Fingerprint); err != nil {
		return Principal{}, err
	}
	p.Name = stranger
	if e, ok := a.directory.Load().byFingerprint[p.Fingerprint]; ok {
		p.Role, p.Limits = min(p.Role, e.Role), e.Limits
	}
	for _, id := range a.ring.Identities() {
		if id.Fingerprint != p.Fingerprint {
			continue
		}
		known, err := a.directory.Load().KeyPrincipal(id)
		if err == nil {
			err = known.Valid(a.clock())
		}
		if err != nil {
			return Principal{}, err
		}
		if known.Command != "" {
			return Principal{}, errAsserted
		}
		p.Role, p.ReadOnly = min(p.Role, known.Role), p.ReadOnly || known.ReadOnly
		p.Expires, p.Limits, p.Name = earlier(p.Expires, known.Expires), known.Limits, known.Name
		if p.Token != "" {
			p.Name += "/" + p.Token
		}
	}
	return p, nil
}
