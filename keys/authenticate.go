package keys

import (
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/crypto/ssh"
)

// Authenticate decides whether key, which may be a *ssh.Certificate, is accepted for the SSH user
// name user from the address remote, which may be nil. The caller verifies that the peer holds the
// private key. Errors match ErrUnknownKey, ErrWithdrawn or *RefusedError.
//
// As with sshd, a key that has just been added is accepted: for one that nothing authorises, files
// that have changed are read at once, when nobody writes them any more (see [AtRest]).
func (r *Ring) Authenticate(user string, key ssh.PublicKey, remote net.Addr,
	now time.Time) (Identity, error) {
	from := remoteAddr{addr: addressOf(remote)}
	id, err := r.current.Load().authenticate(user, key, from, now)
	if errors.Is(err, ErrUnknownKey) && r.outdated() {
		r.ReloadAtRest()
		id, err = r.current.Load().authenticate(user, key, from, now)
	}
	return id, err
}

// Still authenticates an accepted identity again, and returns it as it is now: options and expiry
// may have changed. Errors are those of Authenticate.
func (r *Ring) Still(id Identity, now time.Time) (Identity, error) {
	return r.again(id, remoteAddr{addr: id.Remote}, now)
}

// StillFrom is Still for another address. It is for tokens: a token may be used from elsewhere
// than its key was, and the key's from= has to permit that address, too.
func (r *Ring) StillFrom(id Identity, remote net.Addr, now time.Time) (Identity, error) {
	return r.again(id, remoteAddr{addr: addressOf(remote)}, now)
}

// StillAnywhere is Still without the address: it checks whether the key is accepted from anywhere.
func (r *Ring) StillAnywhere(id Identity, now time.Time) (Identity, error) {
	return r.again(id, remoteAddr{everywhere: true}, now)
}

func (r *Ring) again(id Identity, remote remoteAddr, now time.Time) (Identity, error) {
	key, _, err := parseKeyFields(id.Key)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: it cannot be read", ErrUnknownKey)
	}
	return r.current.Load().authenticate(id.User, key, remote, now)
}

// Identities returns the identity of each line with a person's key, without checking addresses.
// Some of the keys may be revoked or refused.
func (r *Ring) Identities() (list []Identity) {
	return r.current.Load().identities()
}

func (s *snapshot) identities() (list []Identity) {
	for _, lines := range s.plain {
		for _, line := range lines {
			list = append(list, line.identity("", line.Key, remoteAddr{everywhere: true}))
		}
	}
	return list
}

// Certifies reports whether any certificate could be accepted.
func (r *Ring) Certifies() bool {
	s := r.current.Load()
	return len(s.authorities)+len(s.trusted) > 0
}

// Refused returns an error if the key of that fingerprint is revoked, or no key is accepted at the
// moment. It says nothing of whether the key is authorised.
func (r *Ring) Refused(fingerprint string) error {
	s := r.current.Load()
	if s.closed != nil {
		return s.closed
	}
	if s.revoked[fingerprint] {
		return refused(fingerprint, "it is revoked")
	}
	return nil
}
