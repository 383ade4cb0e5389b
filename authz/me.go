package authz

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

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
	people := d.people(a.ring, a.clock())
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

// Nameless says why the host's own user is nobody with a key, and what gives them a name, as the
// end of a sentence that names them; "": they have one, or need none, as nobody may log in.
func (a *Authority) Nameless() string {
	d := a.directory.Load()
	if _, known := a.me(d); known {
		return ""
	}
	return d.Nameless(a.ring, a.clock())
}

// Nameless is [Authority.Nameless] of a host that has these people and keys and has just started.
func (d *Directory) Nameless(ring *keys.Ring, now time.Time) string {
	people := d.people(ring, now)
	_, known := people[d.me]
	if _, named := d.byUID[uint32(os.Geteuid())]; named || known {
		return ""
	}
	alone := len(people) == 1
	maps.DeleteFunc(people, func(_ string, p Principal) bool {
		return d.me == "" && p.Role != Admin
	})
	names := slices.Sorted(maps.Keys(people))
	switch {
	case d.me != "" && len(names) == 0:
		return fmt.Sprintf("[people] me = %q says that you are %s, and nobody may log in",
			d.me, d.me)
	case d.me != "":
		return fmt.Sprintf("[people] me = %q says that you are %s, who may not log in; %s may",
			d.me, d.me, listed(names))
	case len(names) == 0 || alone:
		return ""
	}
	return fmt.Sprintf("several may log in, and [people] me = %q would say that you are %s",
		names[0], names[0])
}

// mostListed is how many names are said of many.
const mostListed = 3

// listed returns names as a person lists them: "ann, bob and eve", "ann, bob, eve and 4 more".
func listed(names []string) string {
	last := names[len(names)-1]
	if more := len(names) - mostListed; more > 0 {
		last, names = fmt.Sprintf("%d more", more), names[:mostListed]
	} else {
		names = names[:len(names)-1]
	}
	if len(names) == 0 {
		return last
	}
	return strings.Join(names, ", ") + " and " + last
}

// people returns who may log in, by name, each with their first key. A key that may only run a
// command, or only read, is nobody's own.
func (d *Directory) people(ring *keys.Ring, now time.Time) map[string]Principal {
	people := map[string]Principal{}
	for _, id := range ring.Identities() {
		p, err := d.KeyPrincipal(id)
		if err != nil || p.Command != "" || p.ReadOnly || p.Valid(now) != nil ||
			ring.Refused(p.Fingerprint) != nil {
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
