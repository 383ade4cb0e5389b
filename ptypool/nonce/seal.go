package nonce

import (
	"bytes"
	"crypto/rand"
	"strings"
)

const (
	// prefix begins every nonce. Its first byte is rare in output, and occurs in it only once, so
	// that searching for it costs little and no matches overlap.
	prefix = "~termhost:"
	// secretLen, in bytes, is the length of rand.Text: 130 bits of A to Z and 2 to 7.
	secretLen = 26
	whole     = len(prefix) + secretLen

	masked  = 'X' // replaces a byte of what may be a secret
	vouched = 'V' // replaces the last byte of the secret
)

// Genuine replaces the nonce in sealed output, at the end of each of the shell's own marks.
const Genuine = prefix + "XXXXXXXXXXXXXXXXXXXXXXXXXV"

// NewSecret returns a new secret.
func NewSecret() string { return rand.Text() }

// Of returns the nonce of a shell with that secret.
func Of(secret string) string { return prefix + secret }

// Sealer removes the secret from a shell's output. It masks, byte by byte, everything after a
// nonce's prefix that is in a secret's alphabet; only the mask of the secret's own last byte says
// that it was genuine. So the length is unchanged, nothing is held back where reads cut a nonce,
// and a program that guesses or forges a secret learns nothing.
//
// A nil Sealer changes nothing. Methods must not be called concurrently.
type Sealer struct {
	secret string
	at     int  // how many bytes of a possible nonce have come
	ok     bool // all of them so far match the secret
}

// NewSealer returns a Sealer that begins in state st. For an empty secret it is nil.
func NewSealer(secret string, st State) *Sealer {
	if secret == "" {
		return nil
	}
	s := &Sealer{secret: secret}
	s.SetState(st)
	return s
}

// Seal seals the next output in place.
func (s *Sealer) Seal(p []byte) {
	if s == nil {
		return
	}
	for len(p) > 0 {
		switch {
		case s.at == 0:
			n := bytes.Index(p, []byte(prefix))
			if n < 0 {
				s.at = begun(p)
				return
			}
			s.at, s.ok = len(prefix), true
			p = p[n+len(prefix):]
		case s.at < len(prefix):
			p = s.matchPrefix(p)
		default:
			p = s.mask(p)
		}
	}
}

// begun returns how many bytes of a prefix p ends with.
func begun(p []byte) int {
	for n := min(len(prefix)-1, len(p)); n > 0; n-- {
		if bytes.HasSuffix(p, []byte(prefix[:n])) {
			return n
		}
	}
	return 0
}

// matchPrefix goes on with a prefix that has begun, and returns what of p is left.
func (s *Sealer) matchPrefix(p []byte) []byte {
	if p[0] != prefix[s.at] {
		s.at = 0
		return p
	}
	s.at, s.ok = s.at+1, true
	return p[1:]
}

// mask masks the next byte if it may be a part of the secret, and returns the rest of p.
func (s *Sealer) mask(p []byte) []byte {
	if !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", rune(p[0])) {
		s.at = 0
		return p
	}
	i := s.at - len(prefix)
	s.ok = s.ok && i < len(s.secret) && p[0] == s.secret[i]
	p[0] = masked
	if s.at++; s.at == whole {
		if s.ok {
			p[0] = vouched
		}
		s.at = 0
	}
	return p[1:]
}

// State is a Sealer's state, with which another one can continue. It fits into seven bits.
type State uint8

const stateOK State = 1 << 6

// State returns the state of s.
func (s *Sealer) State() State {
	if s == nil || s.at == 0 {
		return 0
	}
	st := State(s.at)
	if s.ok {
		st |= stateOK
	}
	return st
}

// SetState continues from another Sealer's state.
func (s *Sealer) SetState(st State) {
	if s == nil {
		return
	}
	s.at, s.ok = int(st&^stateOK), st&stateOK != 0
	if s.at >= whole {
		s.at = 0
	}
}
