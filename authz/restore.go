package authz

import (
	"encoding/json"
	"errors"
	"fmt"

	"termhost/keys"
)

// grantRecord is a Grant on disk, without its principal. Guests have none, nor has
// who comes from another host.
type grantRecord struct {
	Identity keys.Identity `json:"identity,omitzero"`
	Token    keys.Token    `json:"token,omitzero"`
	Limit    Role          `json:"limit,omitempty"`
	User     bool          `json:"user,omitempty"`
	UID      uint32        `json:"uid,omitempty"`
}

// Record returns a tracked grant of p as Restore reads it after a restart; nil: none is tracked. It
// contains no secret.
func (a *Authority) Record(p Principal) json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	for t := range a.tracked {
		g := t.grant
		if g.Principal.ID != p.ID || g.Principal.Guest != "" || g.asserted != nil {
			continue
		}
		text, err := json.Marshal(grantRecord{g.Identity, g.token, g.limit, g.user, g.uid})
		if err != nil {
			panic("authz: a grant does not marshal: " + err.Error()) // it has only plain fields
		}
		return text
	}
	return nil
}

var errNoRecord = errors.New("authz: what proved it is not known any more")

// Restore returns the grant of a principal from its Record. Whether it is still good is for Track
// to find out.
func (a *Authority) Restore(p Principal, record json.RawMessage) (Grant, error) {
	p.Inside = false // the proof is the same, inside a terminal and out of it
	if len(record) == 0 {
		return Grant{}, errNoRecord
	}
	var r grantRecord
	if err := json.Unmarshal(record, &r); err != nil {
		return Grant{}, fmt.Errorf("%w: %w", errNoRecord, err)
	}
	return Grant{Principal: p, Identity: r.Identity, token: r.Token, limit: r.Limit,
		user: r.User, uid: r.UID}, nil
}
