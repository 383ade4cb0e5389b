package authz

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"termhost/keys"
)

// guestPrefix begins the IDs and names of guests, and no others.
const guestPrefix = "guest:"

// IsGuestID reports whether the ID of a [Principal] is a guest's.
func IsGuestID(id string) bool { return strings.HasPrefix(id, guestPrefix) }

// Reach is the set of terminals that a guest sees, or who has opened a link, each by NAME and
// creation time, so that another one that gets the NAME later is not in it. It is a string, so that
// Principals can be compared.
type Reach string

// reachOf returns the Reach of an invitation.
func reachOf(terminals []keys.InvitedTerminal) Reach {
	var b strings.Builder
	for _, t := range terminals {
		b.WriteString(string(ReachOf(t.Name, t.Created)))
	}
	return Reach(b.String())
}

// ReachOf returns the Reach of one terminal. No NAME contains "," or "@".
func ReachOf(name string, created time.Time) Reach {
	return Reach("," + name + "@" + strconv.FormatInt(created.UnixNano(), 10) + ",")
}

// Has reports whether a terminal is within reach.
func (r Reach) Has(name string, created time.Time) bool {
	return name != "" && strings.Contains(string(r), string(ReachOf(name, created)))
}

// Bounded reports whether only the terminals within its Reach exist for p.
func (p Principal) Bounded() bool { return p.Guest != "" || p.Reach != "" }

// Sees reports whether a terminal exists for p. [Check] decides what p may do to it.
func (p Principal) Sees(name string, created time.Time) bool {
	return !p.Bounded() || p.Reach.Has(name, created)
}

// guestRefusal returns why a guest may not do v, whatever its role; "": the tables decide. It lists
// what guests may do, so that a new verb is refused. A verb about a terminal needs one within the
// guest's reach; doors hide the others before they call Check.
func guestRefusal(p Principal, v Verb, t Target) string {
	switch v {
	case List, Subsystem:
		return ""
	case Subscribe, Read, Wait, AttachReadOnly, Input, Resize, Clear, Rename, Claim, Seize:
		if !p.Reach.Has(t.Name, t.Created) {
			return ruleHidden
		}
		return ""
	case Approve:
		return ruleGuestAsks // nor sees it
	}
	return ruleGuest
}

// guestGrant returns what an invitation grants to a key.
func (a *Authority) guestGrant(i keys.Invitation, key ssh.PublicKey, now time.Time) (Grant, error) {
	by, limits, err := a.stillInvites(i, now)
	if err != nil {
		return Grant{}, err
	}
	role, err := ParseRole(i.Role)
	if err != nil {
		return Grant{}, err
	}
	fingerprint := ssh.FingerprintSHA256(key)
	sum := sha256.Sum256([]byte(i.ID + " " + fingerprint)) // differs for each key
	p := Principal{
		ID:          guestPrefix + i.Guest + ":" + hex.EncodeToString(sum[:12]),
		Name:        guestPrefix + i.Guest,
		Role:        min(role, by),
		Fingerprint: fingerprint,
		Expires:     i.Expires,
		NoForward:   true,
		NoAgent:     true,
		Limits:      limits,
		Inviter:     cmp.Or(i.By.Fingerprint, i.ByID),
		Guest:       i.ID,
		Reach:       reachOf(i.Terminals),
	}
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
	return Grant{Principal: p, guestKey: line, invitation: i}, p.Valid(now)
}

// stillInvites returns the role of an invitation's creator, if it has not changed, and the limits
// that its guests share.
func (a *Authority) stillInvites(i keys.Invitation, now time.Time) (Role, Limits, error) {
	role, err := ParseRole(i.ByRole)
	if err != nil || i.By.Key == "" { // a user of this machine needs no key
		return role, Limits{}, err
	}
	id, err := a.ring.StillAnywhere(i.By.Identity(), now)
	if err != nil {
		return NoRole, Limits{}, err
	}
	p, err := a.directory.Load().KeyPrincipal(id)
	if err != nil {
		return NoRole, Limits{}, err
	}
	if p.Role != role || p.ReadOnly || p.Command != "" {
		return NoRole, Limits{}, keys.ErrBadInvite
	}
	return role, p.Limits, nil
}

// AuthenticateGuest returns what the secret of an invitation grants to a key. bind: the peer has
// proven that it holds the private key; the first time, this binds the invitation to the key.
// Errors are for the log: they match keys.ErrBadInvite or say why the key is refused.
func (a *Authority) AuthenticateGuest(secret string, key ssh.PublicKey, bind bool) (Grant, error) {
	if a.invitations == nil {
		return Grant{}, keys.ErrBadInvite
	}
	now := a.clock()
	if err := a.ring.GuestKey(key); err != nil {
		return Grant{}, err
	}
	i, err := a.invitations.Verify(secret, key, false, now)
	if err != nil {
		return Grant{}, err
	}
	g, err := a.guestGrant(i, key, now)
	if err == nil && bind {
		_, err = a.invitations.Verify(secret, key, true, now)
	}
	return g, err
}

// guestAgain is again for a guest.
func (a *Authority) guestAgain(g Grant, now time.Time) (Grant, error) {
	if !a.invitations.Current(g.invitation.ID, g.guestKey, now) {
		return Grant{}, keys.ErrBadInvite
	}
	if err := a.ring.GuestKeyLine(g.guestKey); err != nil {
		return Grant{}, err
	}
	_, _, err := a.stillInvites(g.invitation, now)
	return g, err
}

// InviteRequest describes an invitation to make.
type InviteRequest struct {
	Guest     string // "": a name is chosen
	Role      Role   // NoRole: observer
	Terminals []keys.InvitedTerminal
	TTL       time.Duration // 0: [keys.DefaultInviteTTL]
	Once      bool          // one key only
	Keys      []string      // from [keys.ParseGuestKeys]; empty: any key, from its first use on
}

// Invite makes an invitation. The secret is returned once and kept nowhere. Errors are *Denied, why
// the grant has ended, or those of [keys.Invitations.Invite].
func (a *Authority) Invite(g Grant, r InviteRequest) (
	secret string, made keys.Invitation, err error) {
	p := g.Principal
	if r.Role == NoRole {
		r.Role = Observer
	}
	if err := Check(p, Invite, Target{TokenRole: r.Role}); err != nil {
		return "", made, err
	}
	if g.Identity.Key == "" && p.Fingerprint != "" {
		return "", made, &Denied{Rule: ruleInvites, Verb: Invite}
	}
	if a.invitations == nil {
		return "", made, errors.New("authz: this host keeps no invitations")
	}
	if g.Identity.Key != "" {
		if _, err := a.again(g); err != nil { // the proof may have gone since g was granted
			return "", made, err
		}
	}
	if r.TTL == 0 {
		r.TTL = keys.DefaultInviteTTL
	}
	now := a.clock()
	return a.invitations.Invite(keys.Invitation{
		Guest: r.Guest, Role: r.Role.String(), Terminals: r.Terminals, Keys: r.Keys,
		Open: len(r.Keys) == 0, Once: r.Once,
		ByID: p.ID, ByName: p.Name, ByRole: p.Role.String(),
		By: keys.Inviter{
			Fingerprint: g.Identity.Fingerprint, User: g.Identity.User, Key: g.Identity.Key,
		},
		Created: now.UTC(), Expires: earlier(now.Add(r.TTL), p.Expires).UTC(),
	}, now)
}

// Invitations returns the live invitations that p has made, the oldest first; all of them for an
// admin. Errors are *Denied.
func (a *Authority) Invitations(p Principal) (list []keys.Invitation, err error) {
	if err := Check(p, Invite, Target{TokenRole: Observer}); err != nil {
		return nil, err
	}
	if a.invitations == nil {
		return nil, nil
	}
	for _, i := range a.invitations.List(a.clock()) {
		if p.Role == Admin || i.ByID == p.ID {
			list = append(list, i)
		}
	}
	return list, nil
}

// Uninvite ends a guest's invitation and the connections that use it. Only its creator and admins
// may. Errors are *Denied, keys.ErrNoInvite, or come from the disk.
func (a *Authority) Uninvite(p Principal, guest string) error {
	list, err := a.Invitations(p)
	if err != nil {
		return err
	}
	for _, i := range list {
		if i.Guest == guest {
			return a.invitations.Revoke(i.ID)
		}
	}
	return keys.ErrNoInvite
}

// UninviteID is Uninvite by the Guest of a Principal.
func (a *Authority) UninviteID(p Principal, id string) error {
	if err := Check(p, Kick, Target{}); err != nil {
		return err
	}
	return a.invitations.Revoke(id)
}

// endInvitations ends the invitations whose key is gone or refused, or has another role than when
// it made them. A key that is only withdrawn keeps its invitations, which are refused meanwhile.
func (a *Authority) endInvitations() {
	if a.invitations == nil {
		return
	}
	now := a.clock()
	for _, i := range a.invitations.List(now) {
		_, _, err := a.stillInvites(i, now)
		if err == nil || errors.Is(err, keys.ErrWithdrawn) {
			continue
		}
		log := a.log.With("guest", i.Guest, "by", i.ByName)
		if err := a.invitations.Revoke(i.ID); err != nil && !errors.Is(err, keys.ErrNoInvite) {
			log.Error("an invitation could not be ended on disk", "reason", err.Error())
			continue
		}
		log.Info("invitation ended with its key", "reason", err.Error())
		a.audit.Info(AuditRights, "who", i.ByName, "guest", i.Guest, "reason", err.Error())
	}
}
