package keys

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// InvitePrefix begins the SSH user name that carries an invitation's secret.
	InvitePrefix = "invite-"
	// DefaultInviteTTL is long enough to look at something together.
	DefaultInviteTTL = time.Hour
	// MaxInvitations bounds the live invitations, so that comparing a secret with each of them
	// takes no time that anybody notices.
	MaxInvitations = 256
	// MaxInvitesPerKey bounds the live invitations of one inviter, so that none uses up all.
	MaxInvitesPerKey = 64
	// MaxInviteTerminals bounds the terminals that one invitation names.
	MaxInviteTerminals = 32
	// MaxInviteKeys bounds the keys of one invitation: several people with several keys each.
	MaxInviteKeys = 32
	// inviteIDBytes is the number of random bytes in an ID, which also tells guests of the same
	// name apart.
	inviteIDBytes = 8
)

// Errors of invitations.
var (
	// ErrBadInvite says that a secret is refused, alone or with a key: it is unknown, expired, used
	// or revoked.
	ErrBadInvite = errors.New("keys: the invitation is not valid")
	// ErrNoInvite says that there is no such invitation.
	ErrNoInvite = errors.New("keys: there is no invitation of that name")
	// ErrInvited says that a guest of that name is invited already.
	ErrInvited = errors.New("keys: a guest of that name is invited already; revoke that first, " +
		"or choose another name")
	// ErrTooManyInvites says that there are MaxInvitations, or MaxInvitesPerKey of one inviter.
	ErrTooManyInvites = errors.New("keys: too many invitations; revoke some")
	// ErrGuestName says that a guest's name is not 1 to MaxTokenNameBytes of A-Z a-z 0-9 . _ -
	ErrGuestName = errors.New("keys: a guest's name is 1 to 64 characters of A-Z a-z 0-9 . _ -")
	// ErrInviteTTL says that the lifetime is not positive, or above MaxTokenTTL.
	ErrInviteTTL = errors.New("keys: an invitation's lifetime is positive" +
		" and at most 366 days")
	// ErrInviteSize says that an invitation has too many terminals or keys, or none.
	ErrInviteSize = errors.New("keys: an invitation names 1 to 32 terminals and at most 32 keys")
)

// Invitation lets a guest without a key of this host see some terminals. Only the guest knows the
// secret. An Invitation is a value that must not be modified.
type Invitation struct {
	// ID is random: a later invitation of the same guest has another one.
	ID string `json:"id"`
	// Guest is the name of the guest, unique among the live invitations.
	Guest string `json:"guest"`
	// Role is the guest's, at most ByRole.
	Role string `json:"role"`
	// Terminals are the only ones that the guest sees.
	Terminals []InvitedTerminal `json:"terminals"`
	// Keys may use the invitation, as "type base64". Open: other keys may, too, and are added at
	// their first use. Once: only one key is added.
	Keys []string `json:"keys"`
	Open bool     `json:"open"`
	Once bool     `json:"once"`
	// ByID, ByName and ByRole describe the inviting principal as it was then. By is its key, with
	// Fingerprint, User and Key only; all are empty for a user of this machine.
	ByID   string  `json:"byId"`
	ByName string  `json:"byName"`
	ByRole string  `json:"byRole"`
	By     Inviter `json:"by"`
	// Created and Expires bound the invitation's life.
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
}

// InvitedTerminal is one terminal. A later terminal of the same NAME is another one.
type InvitedTerminal struct {
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
}

// Inviter is the key that invites.
type Inviter struct {
	Fingerprint string `json:"fingerprint,omitempty"`
	User        string `json:"user,omitempty"`
	Key         string `json:"key,omitempty"`
}

// Identity returns the inviting key as [Ring.StillAnywhere] takes it.
func (i Inviter) Identity() Identity {
	return Identity{Fingerprint: i.Fingerprint, User: i.User, Key: i.Key}
}

// check returns what is wrong with the invitation.
func (i *Invitation) check() error {
	switch {
	case !validTokenName(i.Guest):
		return ErrGuestName
	case i.Expires.Sub(i.Created) <= 0 || i.Expires.Sub(i.Created) > MaxTokenTTL:
		return ErrInviteTTL
	case len(i.Terminals) == 0, len(i.Terminals) > MaxInviteTerminals, len(i.Keys) > MaxInviteKeys:
		return ErrInviteSize
	case i.Role != RoleOperator && i.Role != RoleObserver:
		return errors.New("keys: a guest is an operator or an observer")
	case len(i.ID) != hex.EncodedLen(inviteIDBytes):
		return errors.New("keys: an invitation has no id")
	}
	for _, t := range i.Terminals {
		if !validTokenName(t.Name) {
			return errors.New("keys: an invitation names an invalid terminal")
		}
	}
	for _, line := range i.Keys {
		if key, _, err := parseKeyFields(line); err != nil || guestKey(key) != nil {
			return errors.New("keys: a guest's key cannot be read or is too weak")
		}
	}
	return nil
}

// admits reports whether a key may use the invitation, and whether its use adds it to Keys.
func (i *Invitation) admits(line string) (ok, adds bool) {
	switch {
	case slices.Contains(i.Keys, line):
		return true, false
	case !i.Open, i.Once && len(i.Keys) > 0, len(i.Keys) >= MaxInviteKeys:
		return false, false
	}
	return true, true
}

// guestKey returns an error for a key that no guest may use: a certificate, or a weak one.
func guestKey(key ssh.PublicKey) error {
	if _, ok := key.(*ssh.Certificate); ok {
		return errors.New("keys: a guest's key must not be a certificate")
	}
	return checkAlgorithm(key)
}

// ParseGuestKeys reads public keys, one per line, as ssh-keygen writes them. It skips empty lines
// and # comments. It fails if a line has options, if a key is not accepted, or if there is none.
func ParseGuestKeys(text string) (lines []string, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, _, err := parseKeyFields(line)
		if err == nil {
			err = guestKey(key)
		}
		if err != nil {
			return nil, err
		}
		if own := publicLine(key, ""); !slices.Contains(lines, own) {
			lines = append(lines, own)
		}
	}
	switch {
	case len(lines) == 0:
		return nil, errors.New("there is no public key in it")
	case len(lines) > MaxInviteKeys:
		return nil, ErrInviteSize
	}
	return lines, nil
}

// usableGuestKeys is ParseGuestKeys that skips keys that are not accepted, such as old ones.
func usableGuestKeys(text string) (lines []string, err error) {
	var usable strings.Builder
	for line := range strings.Lines(text) {
		if _, err := ParseGuestKeys(line); err == nil {
			usable.WriteString(line)
		}
	}
	return ParseGuestKeys(usable.String())
}

// GuestKey returns why a guest may not use a key: it is revoked, too weak or a certificate, or the
// revoked keys are unknown. nil: a guest may.
func (r *Ring) GuestKey(key ssh.PublicKey) error {
	s := r.current.Load()
	if s.closed != nil {
		return s.closed
	}
	if err := guestKey(key); err != nil {
		return err
	}
	return s.notRefused(key)
}

// GuestKeyLine is [Ring.GuestKey] for a key in the format of Invitation.Keys.
func (r *Ring) GuestKeyLine(line string) error {
	key, _, err := parseKeyFields(line)
	if err != nil {
		return err
	}
	return r.GuestKey(key)
}
