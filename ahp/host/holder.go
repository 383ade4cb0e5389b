package host

import (
	"strings"

	"termhost/ahp"
	"termhost/authz"
)

// holder is a claim and the principal that it is bound to.
type holder struct {
	claim     ahp.Claim
	principal string // its ID
	name      string // for people: see names.go
	agent     string // what the agent of a session's claim calls itself; "": it has not said
}

// named returns a holder as people tell holders apart: whatever the session or the turn is that an
// agent claims for, it is the same one.
func (h holder) named() holder { return holder{principal: h.principal, name: h.name} }

// text returns the holder's name for people.
func (h holder) text() string {
	if h.name == "" && h.claim.Kind != "" {
		return "?/" + label(h.claim.Holder()) // of an unknown person
	}
	return Printable(h.name)
}

// viaSSH reports whether the claim belongs to SSH sessions.
func (h holder) viaSSH() bool { return strings.HasPrefix(h.claim.ClientID, sshPrefix) }

// byHand reports whether the claim belongs to a person's SSH sessions.
func (h holder) byHand() bool {
	return h.claim.Kind == ahp.ClaimClient && h.viaSSH() &&
		!strings.Contains(h.claim.ClientID, insideMark)
}

// yours reports whether the holder is p, a person, by hand: with an SSH session. Other programs
// that come in with p's key are somebody else for people.
func (h holder) yours(p authz.Principal) bool {
	return h.principal == p.ID && p.ID != "" && h.byHand() && !p.Inside
}

// sshHolder returns p as the holder of a claim of its SSH sessions.
func sshHolder(p authz.Principal) holder {
	return holder{claim: ahp.ClientClaim(SSHClientID(p)), principal: p.ID, name: nameOf(p)}
}
