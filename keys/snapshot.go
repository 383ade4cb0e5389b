package keys

import (
	"bytes"
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"
)

// entry is one usable line and where it stands.
type entry struct {
	Line
	source string // "FILE:LINE" or "config"
}

// permits checks the limits of the line on where and when.
func (e entry) permits(fingerprint string, remote origin, now time.Time) error {
	if !remote.within(e.options.from) {
		return refused(fingerprint, "%s does not permit it from this address", e.source)
	}
	if at := e.options.expires; !at.IsZero() && !now.Before(at) {
		return refused(fingerprint, "it expired by the expiry-time of %s", e.source)
	}
	return nil
}

// identity fills in what the line says about key.
func (e entry) identity(user string, key ssh.PublicKey, remote origin) Identity {
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
		NoTouchRequired: e.options.noTouch,
		Expires:         e.options.expires,
		Source:          e.source,
	}
	if e.options.from != nil {
		id.From = e.options.from.text
	}
	return id
}

// snapshot is everything that decides about a key at one moment. It never
// changes once it is built, so it is read without a lock. The maps' keys are
// public keys in wire form.
type snapshot struct {
	plain       map[string][]entry // lines of people's keys, in file order
	authorities map[string][]entry // cert-authority lines, in file order
	trusted     map[string]entry   // trusted_user_ca_files
	spoilt      map[string]string  // keys with a refused line: the reason
	withdrawn   map[string]bool    // keys that a refused file authorised before
	revoked     map[string]bool    // SHA256 fingerprints
	closed      error              // set: nobody gets in, because revocation is unknown
	loginUser   string
}

// authenticate decides about key, which may be a certificate.
func (s *snapshot) authenticate(user string, key ssh.PublicKey, remote origin, now time.Time) (Identity, error) {
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
	// As in sshd, the first line decides that permits.
	var lastErr error
	for _, line := range lines {
		if lastErr = line.permits(line.Fingerprint(), remote, now); lastErr == nil {
			return line.identity(user, key, remote), nil
		}
	}
	return Identity{}, lastErr
}

// unknown is the error for a key or authority that no line names.
func (s *snapshot) unknown(key ssh.PublicKey, why string) error {
	if reason, ok := s.spoilt[string(key.Marshal())]; ok {
		return refused(ssh.FingerprintSHA256(key), "%s", reason)
	}
	if s.withdrawn[string(key.Marshal())] {
		return fmt.Errorf("%w (%s)", ErrWithdrawn, ssh.FingerprintSHA256(key))
	}
	return fmt.Errorf("%w: %s: %s", ErrUnknownKey, ssh.FingerprintSHA256(key), why)
}

// notRefused checks each of the keys against revocation, refused lines and the
// accepted algorithms.
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

// keyFile is the content of one key file.
type keyFile struct {
	entries []entry
	spoilt  map[string]string
	notes   []string // for the log, each with its line
}

// parseKeyFile reads an authorized_keys file, or with plainOnly a file of
// public keys without options (trusted_user_ca_files). A bad line spoils its
// own key, never the file.
func parseKeyFile(path string, data []byte, plainOnly bool) keyFile {
	file := keyFile{spoilt: map[string]string{}}
	first := map[string]int{}
	number := 0
	for raw := range bytes.Lines(data) {
		number++
		text := bytes.Trim(raw, " \t\r\n")
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		source := fmt.Sprintf("%s:%d", path, number)
		line, err := parseLine(string(text))
		if err == nil && plainOnly && line.hasOptions {
			err = fmt.Errorf("options have no place here")
		}
		if err != nil {
			if line.keyKnown {
				file.spoilt[string(line.Key.Marshal())] = fmt.Sprintf("%s: %v", source, err)
			}
			file.notes = append(file.notes, fmt.Sprintf("%s is refused: %v", source, err))
			continue
		}
		blob := string(line.Key.Marshal())
		if earlier, ok := first[blob]; ok {
			file.notes = append(file.notes,
				fmt.Sprintf("%s has the key of line %d again; the first of them that permits decides", source, earlier))
		} else {
			first[blob] = number
		}
		file.entries = append(file.entries, entry{Line: line.Line, source: source})
	}
	return file
}

// parseRevoked reads revoked_keys_file: one fingerprint ("SHA256:...") or public
// key per line. What is not understood is an error for the whole file, because
// it may be what revokes a key.
func parseRevoked(data []byte) (map[string]bool, error) {
	if bytes.HasPrefix(data, []byte("SSHKRL\n\x00")) {
		return nil, fmt.Errorf("it is a binary KRL, which is not supported; list the public keys or SHA256 fingerprints as text")
	}
	revoked := map[string]bool{}
	number := 0
	for raw := range bytes.Lines(data) {
		number++
		text := string(bytes.Trim(raw, " \t\r\n"))
		if text == "" || text[0] == '#' {
			continue
		}
		if word, _ := cutField(text); IsFingerprint(word) {
			revoked[word] = true
			continue
		}
		key, _, err := parseKeyFields(text)
		if err != nil {
			return nil, fmt.Errorf("line %d is neither a public key nor a SHA256 fingerprint", number)
		}
		if cert, ok := key.(*ssh.Certificate); ok {
			key = cert.Key
		}
		revoked[ssh.FingerprintSHA256(key)] = true
	}
	return revoked, nil
}
