package keys

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"termhost/ptypool/statefile"
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
	path string
	rand io.Reader

	// mu is held while the file is written. No other lock is taken under it.
	mu      sync.Mutex
	all     []storedInvitation // what the file has
	changed chan struct{}
}

// invitationFile is the format of the file.
type invitationFile struct {
	Version     int                `json:"version"`
	Invitations []storedInvitation `json:"invitations"`
}

// OpenInvitations reads the invitations of the state folder. It fails if others have access to the
// file (*StrictModesError) or if it is damaged.
func OpenInvitations(o TokenOptions) (*Invitations, error) {
	in := &Invitations{
		path: filepath.Join(o.StateDir, invitationsName), rand: o.Rand,
		changed: make(chan struct{}),
	}
	data, err := readPrivate(in.path, maxInvitationBytes)
	var refusal *StrictModesError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return in, nil
	case errors.As(err, &refusal):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("keys: the file %s cannot be read: %w", in.path, reason(err))
	}
	if in.all, err = decodeInvitations(data); err != nil {
		return nil, fmt.Errorf("keys: the file %s is damaged: %w; move it away and invite anew",
			in.path, err)
	}
	return in, nil
}

func decodeInvitations(data []byte) ([]storedInvitation, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var file invitationFile
	if err := decoder.Decode(&file); err != nil || file.Version != 1 {
		return nil, errors.New("its format is not known")
	}
	if len(file.Invitations) > MaxInvitations {
		return nil, ErrTooManyInvites
	}
	for n := range file.Invitations {
		i := &file.Invitations[n]
		hash, err := hex.DecodeString(i.SHA256)
		if err != nil || len(hash) != copy(i.hash[:], hash) || len(hash) != len(i.hash) {
			return nil, fmt.Errorf("invitation %d has no hash", n+1)
		}
		if err := i.check(); err != nil {
			return nil, fmt.Errorf("invitation %d: %w", n+1, err)
		}
	}
	return file.Invitations, nil
}

// Changed returns a channel that is closed when the next change has taken effect. Call it before
// you look at the invitations, so that you miss no change.
func (in *Invitations) Changed() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.changed
}

// Invite stores an invitation, and returns it with its secret, which is not stored. The caller sets
// all fields but ID; an empty Guest gets a name. Errors match those of invitations (ErrInvited,
// ErrTooManyInvites and so on), or come from the disk.
func (in *Invitations) Invite(i Invitation, now time.Time) (
	secret string, made Invitation, err error) {
	raw := make([]byte, tokenBytes+inviteIDBytes)
	if _, err := io.ReadFull(in.rand, raw); err != nil {
		return "", Invitation{}, fmt.Errorf("keys: no randomness for an invitation: %w", err)
	}
	i.ID = hex.EncodeToString(raw[tokenBytes:])
	secret = base64.RawURLEncoding.EncodeToString(raw[:tokenBytes])
	hash := sha256.Sum256([]byte(secret))
	in.mu.Lock()
	defer in.mu.Unlock()
	live := in.withoutLocked(func(other *Invitation) bool { return !now.Before(other.Expires) })
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
	s := storedInvitation{Invitation: i, SHA256: hex.EncodeToString(hash[:]), hash: hash}
	if err := in.replaceLocked(append(live, s)); err != nil {
		return "", Invitation{}, err
	}
	return secret, i, nil
}

// Verify returns the live invitation with this secret if key may use it, or else ErrBadInvite.
// bind: the peer has proven that it holds the private key, so Verify may add the key to the
// invitation. It compares the secret with that of every invitation, in constant time.
func (in *Invitations) Verify(secret string, key ssh.PublicKey, bind bool, now time.Time) (
	Invitation, error) {
	hash := sha256.Sum256([]byte(secret))
	line := publicLine(key, "")
	in.mu.Lock()
	defer in.mu.Unlock()
	found := -1
	for n := range in.all {
		equal := subtle.ConstantTimeCompare(in.all[n].hash[:], hash[:])
		found = subtle.ConstantTimeSelect(equal, n, found)
	}
	if found < 0 || !now.Before(in.all[found].Expires) {
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
func (in *Invitations) List(now time.Time) []Invitation {
	in.mu.Lock()
	defer in.mu.Unlock()
	var list []Invitation
	for _, i := range in.all {
		if now.Before(i.Expires) {
			list = append(list, i.Invitation)
		}
	}
	return list
}

// Revoke ends the invitation, or returns ErrNoInvite. Any other error says that the invitation has
// ended, but comes back at a restart, because the file could not be written.
func (in *Invitations) Revoke(id string) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	left := in.withoutLocked(func(i *Invitation) bool { return i.ID == id })
	if len(left) == len(in.all) {
		return ErrNoInvite
	}
	err := in.replaceLocked(left)
	if err != nil {
		in.useLocked(left)
		return fmt.Errorf("%w; it has ended now, but would come back at a restart", err)
	}
	return nil
}

// withoutLocked returns a new slice of the invitations that do not match.
func (in *Invitations) withoutLocked(match func(*Invitation) bool) []storedInvitation {
	return slices.DeleteFunc(slices.Clone(in.all),
		func(i storedInvitation) bool { return match(&i.Invitation) })
}

// replaceLocked writes the invitations to disk and then replaces them. If it returns an error,
// nothing has changed.
func (in *Invitations) replaceLocked(all []storedInvitation) error {
	data, err := json.MarshalIndent(invitationFile{Version: 1, Invitations: all}, "", "  ")
	if err != nil {
		return fmt.Errorf("keys: the invitations cannot be stored: %w", err)
	}
	if err := statefile.Save(in.path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keys: the invitations cannot be stored: %w", reason(err))
	}
	in.useLocked(all)
	return nil
}

func (in *Invitations) useLocked(all []storedInvitation) {
	in.all = all
	close(in.changed)
	in.changed = make(chan struct{})
}

// InviteSecret returns the secret in an SSH user name that begins with InvitePrefix; ok is false
// for any other.
func InviteSecret(user string) (secret string, ok bool) {
	return strings.CutPrefix(user, InvitePrefix)
}
