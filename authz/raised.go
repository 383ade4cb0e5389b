package authz

import (
	"maps"
	"os"
	"slices"

	"termhost/keys"
)

// maxRoles bounds the keys and users whose roles are remembered that have none any more.
const maxRoles = 4096

// roles has what keys and users were allowed when that was last looked at, by their fingerprints
// and ids. Only the Authority's goroutine uses it after the start.
type roles map[string]Principal

// roles returns what keys and users may do now. A key of a certificate counts if the configuration
// names it or did so.
func (a *Authority) roles() roles {
	d, now := a.directory.Load(), roles{}
	add := func(id keys.Identity) {
		p, err := d.KeyPrincipal(id)
		if err == nil && p.Role > now[p.ID].Role { // a key may be on several lines
			now[p.ID] = p
		}
	}
	for _, id := range a.ring.Identities() {
		add(id)
	}
	if a.ring.Certifies() {
		for fingerprint := range d.byFingerprint {
			add(keys.Identity{Fingerprint: fingerprint})
		}
		for _, p := range a.seen {
			add(keys.Identity{Fingerprint: p.Fingerprint})
		}
	}
	for _, uid := range []int{0, os.Geteuid()} { // the unix socket lets nobody else in
		p := d.UIDPrincipal(uint32(uid))
		now[keys.UserPrefix+p.UID] = p
	}
	return now
}

// warnOfRaised logs which keys and users may do more than when they were last seen. Who takes a
// principal out of the configuration may not know that its key is an admin's then.
func (a *Authority) warnOfRaised() {
	now := a.roles()
	for _, id := range slices.Sorted(maps.Keys(now)) {
		was, known := a.seen[id]
		if is := now[id]; known && is.Role > was.Role {
			a.log.Warn("the role of a key or user is higher than it was", "key", id,
				"principal", was.Name, "was", was.Role, "role", is.Role)
		}
	}
	if len(a.seen) > maxRoles {
		a.seen = roles{}
	}
	maps.Copy(a.seen, now) // a key may be away for a moment: its line and its entry are two changes
}
