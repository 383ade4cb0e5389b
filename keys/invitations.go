package keys

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// invitationsName is the file of the invitations in the state folder, of mode 0600.
const invitationsName = "invitations.json"

// maxInvitationBytes bounds that file, in bytes: each invitation may have the most keys and
// terminals.
const maxInvitationBytes = MaxInvitations * (MaxLineBytes*2 + MaxInviteKeys*1<<10)

// Invitations stores the invitations, with hashes of their secrets. Its methods may be called
// concurrently. It does not check whether the inviting key is still accepted: the caller asks the
// Ring.
type Invitations struct {
	secretFile[storedInvitation, *storedInvitation]
}

// storedInvitation is an Invitation as the file has it.
type storedInvitation struct {
	Invitation
	sealed
}

func (i *Invitation) lasts() (id string, expires time.Time) { return i.ID, i.Expires }

// invitationFile is the format of the file.
type invitationFile struct {
	Version     int                `json:"version"`
	Invitations []storedInvitation `json:"invitations"`
}

// OpenInvitations reads the invitations of the state folder. It fails if others have access to the
// file (*StrictModesError) or if it is damaged.
func OpenInvitations(o TokenOptions) (*Invitations, error) {
	in := &Invitations{secretFile[storedInvitation, *storedInvitation]{kind: "invitation",
		rand: o.Rand, path: filepath.Join(o.StateDir, invitationsName),
		format: func(all []storedInvitation) any {
			return invitationFile{Version: 1, Invitations: all}
		}}}
	var file invitationFile
	if err := in.open(maxInvitationBytes, &file, &file.Version, &file.Invitations, MaxInvitations,
		ErrTooManyInvites, " and invite anew"); err != nil {
		return nil, err
	}
	return in, nil
}

// Changed returns a channel that is closed when the next change has taken effect. Call it before
// you look at the invitations, so that you miss no change.
func (in *Invitations) Changed() <-chan struct{} { return in.changes() }

// Invite stores an invitation, and returns it with its secret, which is not stored. The caller sets
// all fields but ID; an empty Guest gets a name. Errors match those of invitations (ErrInvited,
// ErrTooManyInvites and so on), or come from the disk.
func (in *Invitations) Invite(i Invitation, now time.Time) (
	secret string, made Invitation, err error) {
	secret, i.ID, err = in.newSecret()
	if err != nil {
		return "", Invitation{}, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	live := in.liveLocked(now)
	named := func(name string) bool {
		return slices.ContainsFunc(live, func(s storedInvitation) bool { return s.Guest == name })
	}
	for n := 1; i.Guest == ""; n++ {
		if name := "guest-" + strconv.Itoa(n); !named(name) {
			i.Guest = name
		}
	}
	own := 0
	for n := range live {
		if live[n].ByID == i.ByID {
			own++
		}
	}
	switch err := i.check(); {
	case err != nil:
		return "", Invitation{}, err
	case named(i.Guest):
		return "", Invitation{}, ErrInvited
	case len(live) >= MaxInvitations || own >= MaxInvitesPerKey:
		return "", Invitation{}, ErrTooManyInvites
	}
	if err := in.replaceLocked(append(live, storedInvitation{i, seal(secret)})); err != nil {
		return "", Invitation{}, err
	}
	return secret, i, nil
}

// Verify returns the live invitation with this secret if key may use it, or else ErrBadInvite.
// bind: the peer has proven that it holds the private key, so Verify may add the key to the
// invitation. It compares the secret with that of every invitation, in constant time.
func (in *Invitations) Verify(secret string, key ssh.PublicKey, bind bool, now time.Time) (
	Invitation, error) {
	line := publicLine(key, "")
	in.mu.Lock()
	defer in.mu.Unlock()
	found := in.findLocked(secret, now)
	if found < 0 {
		return Invitation{}, ErrBadInvite
	}
	i := in.all[found].Invitation
	ok, adds := i.admits(line)
	switch {
	case !ok:
		return Invitation{}, ErrBadInvite
	case !adds || !bind:
		return i, nil
	}
	i.Keys = append(slices.Clone(i.Keys), line)
	all := slices.Clone(in.all)
	all[found].Invitation = i
	return i, in.replaceLocked(all)
}

// Current reports whether the invitation is live at now and line is one of its Keys.
func (in *Invitations) Current(id, line string, now time.Time) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.ContainsFunc(in.all, func(i storedInvitation) bool {
		return i.ID == id && now.Before(i.Expires) && slices.Contains(i.Keys, line)
	})
}

// List returns the live invitations, the oldest first.
func (in *Invitations) List(now time.Time) (list []Invitation) {
	for _, i := range in.list(now) {
		list = append(list, i.Invitation)
	}
	return list
}

// Revoke ends the invitation, or returns ErrNoInvite. Any other error says that the invitation has
// ended, but comes back at a restart, because the file could not be written.
func (in *Invitations) Revoke(id string) error { return in.revoke(id, ErrNoInvite) }

// InviteSecret returns the secret in an SSH user name that begins with InvitePrefix; ok is false
// for any other.
func InviteSecret(user string) (secret string, ok bool) {
	return strings.CutPrefix(user, InvitePrefix)
}
