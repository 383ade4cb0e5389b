package keys

import (
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"
)

// snapshot has all that decides whether a key is accepted. It never changes, so it is read without
// a lock. The maps' keys are public keys in wire form.
type snapshot struct {
	plain       map[string][]entry // lines of people's keys, in the order of the files
	authorities map[string][]entry // cert-authority lines, in the order of the files
	trusted     map[string]entry   // lines of trusted_user_ca_files
	spoilt      map[string]string  // keys with a refused line: the reason
	withdrawn   map[string]bool    // keys that a file authorised before it was refused
	revoked     map[string]bool    // SHA256 fingerprints
	closed      error              // if set, no key is accepted: the revoked ones are unknown
	loginUser   string
}

// newSnapshot builds the snapshot of the configuration's lines and the files.
func newSnapshot(fixed keyFile, files []*watched, loginUser string) *snapshot {
	s := &snapshot{
		plain:       map[string][]entry{},
		authorities: map[string][]entry{},
		trusted:     map[string]entry{},
		spoilt:      map[string]string{},
		withdrawn:   map[string]bool{},
		loginUser:   loginUser,
	}
	s.add(authorizedKeys, fixed)
	for _, f := range files {
		for blob := range f.withdrawn {
			s.withdrawn[blob] = true
		}
		if f.kind == revokedKeys {
			s.revoked, s.closed = f.content.revoked, f.err
			continue
		}
		s.add(f.kind, f.content)
	}
	return s
}

// keyless reports whether no line has a key or an authority that could be accepted.
func (s *snapshot) keyless() bool {
	return len(s.plain)+len(s.authorities)+len(s.trusted) == 0
}

// add adds the lines of one file.
func (s *snapshot) add(kind kind, file keyFile) {
	for _, e := range file.entries {
		blob := string(e.Key.Marshal())
		switch {
		case kind == trustedCAs:
			s.trusted[blob] = e
		case e.CertAuthority:
			s.authorities[blob] = append(s.authorities[blob], e)
		default:
			s.plain[blob] = append(s.plain[blob], e)
		}
	}
	for blob, reason := range file.spoilt {
		s.spoilt[blob] = reason
	}
}

// authenticate decides about key, which may be a certificate.
func (s *snapshot) authenticate(user string, key ssh.PublicKey, remote remoteAddr,
	now time.Time) (Identity, error) {
	if s.closed != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrWithdrawn, s.closed)
	}
	if cert, ok := key.(*ssh.Certificate); ok {
		return s.certificate(user, cert, remote, now)
	}
	lines := s.plain[string(key.Marshal())]
	if len(lines) == 0 {
		return Identity{}, s.unknown(key, "no line authorises it")
	}
	if err := s.notRefused(key); err != nil {
		return Identity{}, err
	}
	// As in sshd, the first line that permits decides.
	var lastErr error
	for _, line := range lines {
		if lastErr = line.permits(line.Fingerprint(), remote, now); lastErr == nil {
			return line.identity(user, key, remote), nil
		}
	}
	return Identity{}, lastErr
}

// unknown returns the error for a key or an authority that no line names.
func (s *snapshot) unknown(key ssh.PublicKey, why string) error {
	if reason, ok := s.spoilt[string(key.Marshal())]; ok {
		return refused(ssh.FingerprintSHA256(key), "%s", reason)
	}
	if s.withdrawn[string(key.Marshal())] {
		return fmt.Errorf("%w (%s)", ErrWithdrawn, ssh.FingerprintSHA256(key))
	}
	return fmt.Errorf("%w: %s: %s", ErrUnknownKey, ssh.FingerprintSHA256(key), why)
}

// notRefused returns an error if one of the keys is revoked, has a refused line, or is of an
// algorithm that is not accepted.
func (s *snapshot) notRefused(keys ...ssh.PublicKey) error {
	for _, key := range keys {
		fingerprint := ssh.FingerprintSHA256(key)
		if s.revoked[fingerprint] {
			return refused(fingerprint, "it is revoked")
		}
		if reason, ok := s.spoilt[string(key.Marshal())]; ok {
			return refused(fingerprint, "%s", reason)
		}
		if err := checkAlgorithm(key); err != nil {
			return refused(fingerprint, "%v", err)
		}
	}
	return nil
}

// permits returns an error if the line does not accept its key from remote, or has expired.
func (e entry) permits(fingerprint string, remote remoteAddr, now time.Time) error {
	if !remote.within(e.options.from) {
		return refused(fingerprint, "%s does not permit it from this address", e.source)
	}
	if at := e.options.expires; !at.IsZero() && !now.Before(at) {
		return refused(fingerprint, "it expired by the expiry-time of %s", e.source)
	}
	return nil
}

// identity returns what the line says about key.
func (e entry) identity(user string, key ssh.PublicKey, remote remoteAddr) Identity {
	id := Identity{
		Fingerprint:     ssh.FingerprintSHA256(key),
		Comment:         e.Comment,
		User:            user,
		Remote:          remote.addr,
		Key:             publicLine(key, ""),
		Role:            e.options.role,
		Command:         e.options.command,
		ReadOnly:        !e.options.pty,
		NoForward:       !e.options.forward,
		Forwards:        e.options.forwards(),
		Opens:           joinPermits(e.options.opens),
		Listens:         joinPermits(e.options.listens),
		NoAgent:         !e.options.agent,
		NoTouchRequired: e.options.noTouch,
		Expires:         e.options.expires,
	}
	if e.options.from != nil {
		id.From = e.options.from.text
	}
	return id
}
