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

// maxEntryNameBytes bounds the name of a [[principal]], in bytes, so that it
// fits a column of a listing.
const maxEntryNameBytes = 64

// Entry is one [[principal]] of the configuration.
type Entry struct {
	// Name is shown instead of the key's comment: 1 to maxEntryNameBytes of
	// printable text without slash, unique among the entries.
	Name string
	// Role is the role of its keys.
	Role Role
	// Limits are the limits of its account.
	Limits Limits
	// UIDs are users of this machine, who connect to the unix socket.
	UIDs []uint32
	// Keys are "SHA256:..." fingerprints, which name keys that are authorised elsewhere, or
	// authorized_keys lines, which need no other place to be authorised.
	Keys []string
}

// Directory knows the [[principal]] entries. It never changes and may be used
// concurrently. The zero Directory has no entries.
type Directory struct {
	byFingerprint map[string]Entry
	byUID         map[uint32]Principal
	lines         []string
	me            string // see ForMe
}

// NewDirectory checks the entries: names, roles, keys, and that no key belongs
// to two of them.
func NewDirectory(entries []Entry) (*Directory, error) {
	d := &Directory{byFingerprint: map[string]Entry{}, byUID: map[uint32]Principal{}}
	names := map[string]bool{}
	for _, e := range entries {
		if err := checkEntryName(e.Name); err != nil {
			return nil, err
		}
		if names[e.Name] {
			return nil, fmt.Errorf("authz: the principal %q is given twice; list all its keys in "+
				"one entry", e.Name)
		}
		names[e.Name] = true
		if e.Role < Observer || e.Role > Admin {
			return nil, fmt.Errorf("authz: the principal %q has no role; it must be admin, "+
				"operator or observer", e.Name)
		}
		if len(e.Keys)+len(e.UIDs) == 0 {
			return nil, fmt.Errorf("authz: the principal %q has no keys and no uids", e.Name)
		}
		for i, key := range e.Keys {
			if err := d.add(e, key); err != nil {
				return nil, fmt.Errorf("authz: key %d of the principal %q: %w", i+1, e.Name, err)
			}
		}
		if err := d.addUsers(e); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *Directory) add(e Entry, key string) error {
	fingerprint, err := fingerprintOf(key)
	if err != nil {
		return err
	}
	if fingerprint != key {
		d.lines = append(d.lines, key)
	}
	if other, ok := d.byFingerprint[fingerprint]; ok {
		return fmt.Errorf("it belongs to the principal %q already", other.Name)
	}
	d.byFingerprint[fingerprint] = e
	return nil
}

// fingerprintOf returns the fingerprint of a key of an entry.
func fingerprintOf(key string) (string, error) {
	if keys.IsFingerprint(key) {
		return key, nil
	}
	line, err := keys.ParseLine(key)
	if err != nil {
		return "", fmt.Errorf("it is neither a SHA256 fingerprint nor a usable authorized_keys "+
			"line: %w", err)
	}
	if line.CertAuthority {
		return "", errors.New("it is a certificate authority, not a person's key; put it into a " +
			"key file")
	}
	return line.Fingerprint(), nil
}

// addUsers maps the entry's users to its first key: they are one person.
func (d *Directory) addUsers(e Entry) error {
	for _, uid := range e.UIDs {
		if other, ok := d.byUID[uid]; ok {
			return fmt.Errorf("authz: the uid %d of the principal %q belongs to %q already",
				uid, e.Name, other.Name)
		}
		p := ForUID(uid)
		p.Name, p.Role, p.Limits = e.Name, e.Role, e.Limits
		if len(e.Keys) > 0 {
			fingerprint, err := fingerprintOf(e.Keys[0])
			if err != nil {
				return err
			}
			p.ID = fingerprint
		}
		d.byUID[uid] = p
	}
	return nil
}

// UIDPrincipal returns the principal of a peer of the unix socket, by its user id: of the entry
// that names it, with the ID of the entry's first key, or else [ForUID].
func (d *Directory) UIDPrincipal(uid uint32) Principal {
	if p, ok := d.byUID[uid]; ok {
		return p
	}
	return ForUID(uid)
}

func checkEntryName(name string) error {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if name == "" || len(name) > maxEntryNameBytes || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, unprintable) || strings.Contains(name, "/") ||
		strings.TrimSpace(name) != name || strings.HasPrefix(name, guestPrefix) {
		return fmt.Errorf("authz: the principal name %q must be 1 to %d bytes of printable text "+
			"without slash that do not begin with %q", name, maxEntryNameBytes, guestPrefix)
	}
	return nil
}

// Lines returns the authorized_keys lines among the entries' keys, for
// keys.Options.Lines. The caller must not modify it.
func (d *Directory) Lines() []string { return d.lines }

// KeyPrincipal returns the principal of a key that the ring has authenticated. A key of an entry
// has that entry's name and role, which TERMHOST_ROLE may lower; any other key is named after its
// comment and is an admin unless TERMHOST_ROLE says less.
func (d *Directory) KeyPrincipal(id keys.Identity) (Principal, error) {
	p := Principal{
		ID:          id.Fingerprint,
		Name:        nameOf(id),
		Role:        Admin,
		Fingerprint: id.Fingerprint,
		Expires:     id.Expires,
		ReadOnly:    id.ReadOnly,
		Command:     id.Command,
		NoForward:   id.NoForward,
		Forwards:    id.Forwards,
		Opens:       id.Opens,
		Listens:     id.Listens,
		NoAgent:     id.NoAgent,
	}
	if id.Fingerprint == "" {
		return Principal{}, fmt.Errorf("authz: %s", ruleNobody)
	}
	if e, ok := d.byFingerprint[id.Fingerprint]; ok {
		p.Name, p.Role, p.Limits = e.Name, e.Role, e.Limits
	}
	if id.Role != "" {
		limit, err := ParseRole(id.Role)
		if err != nil {
			return Principal{}, err
		}
		p = p.AtMost(limit)
	}
	return p, nil
}

// TokenPrincipal returns the principal of a verified token. key is the principal of its key as it
// is now. The token's principal has the lower of both roles and the key's restrictions, and ends
// when the first of them ends.
func (d *Directory) TokenPrincipal(key Principal, token keys.Token) (Principal, error) {
	role, err := ParseRole(token.Role)
	if err != nil {
		return Principal{}, err
	}
	if owner := key.owner(); owner == "" || owner != token.Identity.Fingerprint {
		return Principal{}, fmt.Errorf("authz: the token belongs to another key")
	}
	p := key.AtMost(role)
	p.ID += "/" + token.Name
	p.Name += "/" + token.Name
	p.Token, p.TypesSecrets = token.Name, token.TypesSecrets
	p.Expires = earlier(key.Expires, token.Expires)
	return p, nil
}

// nameOf returns a key's display name: its comment, or else its fingerprint. It replaces slashes,
// which would make the name look like a token's.
func nameOf(id keys.Identity) string {
	if id.Comment == "" {
		return id.Fingerprint
	}
	name := strings.ReplaceAll(id.Comment, "/", "_")
	if rest, ok := strings.CutPrefix(name, guestPrefix); ok {
		name = "guest_" + rest // only guests' names have the colon
	}
	return name
}

// earlier returns the earlier of two times, where zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
