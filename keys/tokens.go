package keys

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// TokenOptions configure Tokens and Invitations.
type TokenOptions struct {
	// StateDir is the folder of tokens.json, which has mode 0600.
	StateDir string
	// Rand is a source of randomness: crypto/rand.Reader.
	Rand io.Reader
}

// Tokens stores the bearer tokens. Its methods may be called concurrently. It does not check keys:
// after Verify, check the token's key with the Ring.
type Tokens struct {
	path string
	rand io.Reader

	// mu is held while the file is written. No other lock is taken under it.
	mu      sync.Mutex
	records []record // what the file has
	changed chan struct{}
}

type tokenHash [sha256.Size]byte

// OpenTokens reads the token file of the state folder. It fails if others have access to the file
// (*StrictModesError) or if it is damaged.
func OpenTokens(o TokenOptions) (*Tokens, error) {
	path := filepath.Join(o.StateDir, tokensName)
	records, err := loadTokens(path)
	if err != nil {
		return nil, err
	}
	return &Tokens{path: path, rand: o.Rand, records: records, changed: make(chan struct{})}, nil
}

// Changed returns a channel that is closed when the next Mint or Revoke has taken effect. Call it
// before you look at the tokens, so that you miss no change.
func (t *Tokens) Changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changed
}

// Mint makes a token and returns its secret, which is not stored. If it returns no error, the token
// is on disk. Errors match ErrTokenName, ErrTokenTTL or ErrTooManyTokens, or come from the disk.
func (t *Tokens) Mint(r MintRequest, now time.Time) (secret string, token Token, err error) {
	if r.Name == "" {
		r.Name = DefaultTokenName
	}
	if r.TTL == 0 {
		r.TTL = DefaultTokenTTL
	}
	if !validTokenName(r.Name) {
		return "", Token{}, ErrTokenName
	}
	if r.TTL < 0 || r.TTL > MaxTokenTTL {
		return "", Token{}, ErrTokenTTL
	}
	by := r.Identity
	token = Token{
		Name:         r.Name,
		Role:         r.Role,
		KeyRole:      r.KeyRole,
		Identity:     Identity{Fingerprint: by.Fingerprint, User: by.User, Key: by.Key},
		TypesSecrets: r.TypesSecrets,
		Created:      now.UTC().Truncate(time.Second),
		Expires:      earlier(now.Add(r.TTL), by.Expires).UTC().Truncate(time.Second),
		Browser:      r.Browser,
		Origin:       r.Origin,
	}
	if err := token.check(); err != nil {
		return "", Token{}, fmt.Errorf("keys: no token: %w", err)
	}
	raw := make([]byte, tokenBytes)
	if _, err := io.ReadFull(t.rand, raw); err != nil {
		return "", Token{}, fmt.Errorf("keys: no randomness for a token: %w", err)
	}
	secret = TokenPrefix + base64.RawURLEncoding.EncodeToString(raw)
	return secret, token, t.add(record{Token: token, hash: sha256.Sum256([]byte(secret))}, now)
}

// add stores a token. All tokens of one key and name are secrets of one principal, which has one
// set of rights: older tokens with other rights end.
func (t *Tokens) add(r record, now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	isNamesake := func(old record) bool { return old.of(r.Identity.Fingerprint, r.Name) }
	left := t.withoutLocked(func(old record) bool {
		expired := !now.Before(old.Expires)
		return expired || isNamesake(old) && (old.Role != r.Role || old.KeyRole != r.KeyRole ||
			old.TypesSecrets != r.TypesSecrets)
	})
	ofKey := 0
	for _, other := range left {
		if other.Identity.Fingerprint == r.Identity.Fingerprint {
			ofKey++
		}
	}
	if ofKey >= MaxTokensPerKey || len(left) >= MaxTokens {
		// A script that mints a token for each run replaces its oldest one.
		oldest := slices.IndexFunc(left, isNamesake)
		if oldest < 0 {
			return ErrTooManyTokens
		}
		left = slices.Delete(left, oldest, oldest+1)
	}
	return t.replaceLocked(append(left, r))
}

// Verify returns the live token that has this secret, or ErrBadToken. It compares the secret with
// every token, in constant time.
func (t *Tokens) Verify(secret string, now time.Time) (Token, error) {
	encoded, ok := strings.CutPrefix(secret, TokenPrefix)
	if !ok || len(encoded) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return Token{}, ErrBadToken
	}
	hash := sha256.Sum256([]byte(secret))
	t.mu.Lock()
	defer t.mu.Unlock()
	found := -1
	for i := range t.records {
		equal := subtle.ConstantTimeCompare(t.records[i].hash[:], hash[:])
		found = subtle.ConstantTimeSelect(equal, i, found)
	}
	if found < 0 || !now.Before(t.records[found].Expires) {
		return Token{}, ErrBadToken
	}
	return t.records[found].Token, nil
}

// Current reports whether token is valid at now: it has not expired, has not been revoked, and no
// later token of its name has other rights.
func (t *Tokens) Current(token Token, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	is := func(r record) bool { return r.Token == token }
	return now.Before(token.Expires) && slices.ContainsFunc(t.records, is)
}

// List returns the live tokens of the key with that fingerprint, or of all keys if it is "", the
// oldest first.
func (t *Tokens) List(fingerprint string, now time.Time) []Token {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := []Token{}
	for _, r := range t.records {
		if now.Before(r.Expires) && (fingerprint == "" || r.Identity.Fingerprint == fingerprint) {
			list = append(list, r.Token)
		}
	}
	return list
}

// Revoke ends all tokens of that key and name. If there are none, it returns ErrNoToken. Any other
// error says that they have ended, but come back at a restart, because the file could not be
// written.
func (t *Tokens) Revoke(fingerprint, name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := t.withoutLocked(func(r record) bool { return r.of(fingerprint, name) })
	if len(left) == len(t.records) {
		return ErrNoToken
	}
	if err := t.replaceLocked(left); err != nil {
		t.useLocked(left)
		return fmt.Errorf("%w; it has ended now, but would come back at a restart", err)
	}
	return nil
}

// withoutLocked returns a new slice of the records that do not match.
func (t *Tokens) withoutLocked(match func(record) bool) []record {
	return slices.DeleteFunc(slices.Clone(t.records), match)
}

// replaceLocked writes records to disk and then replaces t.records. If it returns an error, nothing
// has changed.
func (t *Tokens) replaceLocked(records []record) error {
	if err := storeTokens(t.path, records); err != nil {
		return err
	}
	t.useLocked(records)
	return nil
}

func (t *Tokens) useLocked(records []record) {
	t.records = records
	close(t.changed)
	t.changed = make(chan struct{})
}
