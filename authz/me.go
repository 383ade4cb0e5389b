package authz

import (
	"os"
	"sync"

	"termhost/keys"
)

// self is the identity of the host's own user: the peer at the unix socket is the person with that
// key. The zero self is nobody.
type self struct {
	mu   sync.Mutex // a leaf
	last string     // the ID of who it was last, while there was one person; "": nobody
}

// userPrincipal returns the principal of a peer of the unix socket: [Directory.UIDPrincipal] or, of
// the host's own user whom no entry names, that of the person that they are.
func (a *Authority) userPrincipal(uid uint32) Principal {
	d := a.directory.Load()
	p := d.UIDPrincipal(uid)
	if _, named := d.byUID[uid]; named || int(uid) != os.Geteuid() {
		return p
	}
	if me, ok := a.me(d); ok {
		p.ID, p.Name, p.Role, p.Limits = me.ID, me.Name, me.Role, me.Limits
	}
	return p
}

// me returns the person that the host's own user is: whom the configuration names or, if it names
// nobody, the only one who may log in, an admin as whoever can use the host's files. Once there has
// been one, others who may log in later change nothing while the host runs: their keys do not end
// what that person does.
func (a *Authority) me(d *Directory) (me Principal, ok bool) {
	people := a.people(d)
	if d.me != "" {
		me, ok = people[d.me]
		return me, ok
	}
	a.self.mu.Lock()
	defer a.self.mu.Unlock()
	for _, p := range people {
		if p.Role == Admin && (len(people) == 1 || p.ID == a.self.last) {
			a.self.last = p.ID
			return p, true
		}
	}
	return Principal{}, false
}

// people returns who may log in, by name, each with their first key. A key that may only run a
// command, or only read, is nobody's own.
func (a *Authority) people(d *Directory) map[string]Principal {
	people := map[string]Principal{}
	for _, id := range a.ring.Identities() {
		p, err := d.KeyPrincipal(id)
		if err != nil || p.Command != "" || p.ReadOnly || p.Valid(a.clock()) != nil ||
			a.ring.Refused(p.Fingerprint) != nil {
			continue
		}
		if e, named := d.byFingerprint[p.Fingerprint]; named {
			p.ID = firstKey(e)
		} else if other, known := people[p.Name]; known && other.ID < p.ID {
			continue
		}
		people[p.Name] = Principal{ID: p.ID, Name: p.Name, Role: p.Role, Limits: p.Limits}
	}
	return people
}

// firstKey returns the fingerprint of an entry's first key, which NewDirectory has checked.
func firstKey(e Entry) string {
	for _, key := range e.Keys {
		if fingerprint, err := fingerprintOf(key); err == nil {
			return fingerprint
		}
	}
	return ""
}

// ForMe returns d with the name of the person that the host's own user is; "": the only one who may
// log in.
func (d *Directory) ForMe(name string) *Directory {
	with := *d
	with.me = name
	return &with
}

// KeyOf returns the fingerprint of a person, who may have come through the unix socket; "": it is
// nobody with a key.
func (p Principal) KeyOf() string {
	if p.Fingerprint == "" && keys.IsFingerprint(p.ID) {
		return p.ID
	}
	return p.Fingerprint
}
