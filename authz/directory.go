package authz

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"termhost/keys"
)

// MaxEntryNameBytes bounds the name of a [[principal]], in bytes, so that it
// fits a column of a listing.
const MaxEntryNameBytes = 64

// Entry is one [[principal]] of the configuration.
type Entry struct {
	// Name is shown instead of the key's comment: 1 to MaxEntryNameBytes of
	// printable text without slash, unique among the entries.
	Name string
	// Role is the role of its keys.
	Role Role
	// Keys are "SHA256:..." fingerprints, which name keys that are authorised
	// elsewhere, or authorized_keys lines, which are authorised by standing here.
	Keys []string
}

// Directory knows the [[principal]] entries. It never changes and may be used
// concurrently. The zero Directory has no entries.
type Directory struct {
	byFingerprint map[string]Entry
	lines         []string
}

// NewDirectory checks the entries: names, roles, keys, and that no key belongs
// to two of them.
func NewDirectory(entries []Entry) (*Directory, error) {
	d := &Directory{byFingerprint: map[string]Entry{}}
	names := map[string]bool{}
	for _, e := range entries {
		if err := checkEntryName(e.Name); err != nil {
			return nil, err
		}
		if names[e.Name] {
			return nil, fmt.Errorf("authz: the principal %q is given twice; list all its keys in one entry", e.Name)
		}
		names[e.Name] = true
		if e.Role < Observer || e.Role > Admin {
			return nil, fmt.Errorf("authz: the principal %q has no role; it must be admin, operator or observer", e.Name)
		}
		if len(e.Keys) == 0 {
			return nil, fmt.Errorf("authz: the principal %q has no keys", e.Name)
		}
		for i, key := range e.Keys {
			if err := d.add(e, key); err != nil {
				return nil, fmt.Errorf("authz: key %d of the principal %q: %w", i+1, e.Name, err)
			}
		}
	}
	return d, nil
}

func (d *Directory) add(e Entry, key string) error {
	fingerprint := key
	if !keys.IsFingerprint(key) {
		line, err := keys.ParseLine(key)
		if err != nil {
			return fmt.Errorf("it is neither a SHA256 fingerprint nor a usable authorized_keys line: %w", err)
		}
		if line.CertAuthority {
			return fmt.Errorf("it is a certificate authority, not a person's key; put it into a key file")
		}
		fingerprint = line.Fingerprint()
		d.lines = append(d.lines, key)
	}
	if other, ok := d.byFingerprint[fingerprint]; ok {
		return fmt.Errorf("it belongs to the principal %q already", other.Name)
	}
	d.byFingerprint[fingerprint] = e
	return nil
}

func checkEntryName(name string) error {
	printable := utf8.ValidString(name) && strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
	if name == "" || len(name) > MaxEntryNameBytes || !printable || strings.Contains(name, "/") || strings.TrimSpace(name) != name {
		return fmt.Errorf("authz: the principal name %q must be 1 to %d bytes of printable text without slash", name, MaxEntryNameBytes)
	}
	return nil
}

// Lines returns the authorized_keys lines among the entries' keys, for
// keys.Options.Lines. The caller must not modify it.
func (d *Directory) Lines() []string { return d.lines }

// Key turns a key that the ring let in into its principal. A key of an entry
// has that entry's name and role, which TERMHOST_ROLE may lower; any other key
// is named after its comment and is an admin unless TERMHOST_ROLE says less.
func (d *Directory) Key(id keys.Identity) (Principal, error) {
	p := Principal{
		ID:          id.Fingerprint,
		Name:        nameOf(id),
		Role:        Admin,
		Fingerprint: id.Fingerprint,
		Expires:     id.Expires,
		ReadOnly:    id.ReadOnly,
		Command:     id.Command,
		NoForward:   id.NoForward,
	}
	if id.Fingerprint == "" {
		return Principal{}, fmt.Errorf("authz: %s", ruleNobody)
	}
	if e, ok := d.byFingerprint[id.Fingerprint]; ok {
		p.Name, p.Role = e.Name, e.Role
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

// Token turns a verified token and the principal of its key, as the key stands
// now, into the token's principal: of the lower of both roles, with the key's
// restrictions, ending when the first of them ends.
func (d *Directory) Token(key Principal, token keys.Token) (Principal, error) {
	role, err := ParseRole(token.Role)
	if err != nil {
		return Principal{}, err
	}
	if key.Fingerprint == "" || key.Fingerprint != token.Identity.Fingerprint {
		return Principal{}, fmt.Errorf("authz: the token belongs to another key")
	}
	p := key.AtMost(role)
	p.ID += "/" + token.Name
	p.Name += "/" + token.Name
	p.Token = token.Name
	p.Expires = earlier(key.Expires, token.Expires)
	return p, nil
}

// nameOf returns a key's name as people see it: its comment, in which a slash
// would look like a token's name, or else its fingerprint.
func nameOf(id keys.Identity) string {
	if id.Comment == "" {
		return id.Fingerprint
	}
	return strings.ReplaceAll(id.Comment, "/", "_")
}

// earlier returns the earlier of two times, where zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
