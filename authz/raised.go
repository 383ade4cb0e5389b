package authz

import (
	"maps"
	"os"
	"slices"

	"termhost/keys"
)

// maxRoles bounds the roles that are remembered, also of keys and users that are gone.
const maxRoles = 4096

// roles are the principals of keys and users when they were last looked up, by fingerprint or id.
// After the start only the Authority's goroutine uses it.
type roles map[string]Principal

// roles looks them up. Keys that only a certificate authorises are included if the configuration
// names them, or did.
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
	for _, uid := range []int{0, os.Geteuid()} { // the unix socket accepts nobody else
		p := a.userPrincipal(uint32(uid))
		now[keys.UserPrefix+p.UID] = p
	}
	return now
}

// tellRoles records which keys and users have another role than when they were last looked up,
// whether or not they are connected, and warns of higher ones: who removes a [[principal]] may not
// know that its key is an admin's then.
func (a *Authority) tellRoles() {
	now := a.roles()
	for _, id := range slices.Sorted(maps.Keys(now)) {
		was, known := a.seen[id]
		is := now[id]
		if known && is.Role != was.Role {
			a.audit.Info(AuditRole, "who", is.Name, "was", was.Role, "role", is.Role, "key", id)
		}
		if known && is.Role > was.Role {
			a.log.Warn("the role of a key or user is higher than it was", "key", id,
				"principal", was.Name, "was", was.Role, "role", is.Role)
		}
	}
	if len(a.seen) > maxRoles {
		a.seen = roles{}
	}
	maps.Copy(a.seen, now) // keys that are gone stay: line and entry may change one by one
}
