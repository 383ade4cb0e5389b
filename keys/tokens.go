package keys

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// TokenPrefix begins every token, so that secret scanners and people know
	// one when they see it.
	TokenPrefix = "tht_"
	// tokenBytes is a token's entropy: 256 bits cannot be guessed, whatever the
	// rate.
	tokenBytes = 32
	// DefaultTokenName is the name of a token that is minted without one.
	DefaultTokenName = "default"
	// DefaultTokenTTL is a working day: long enough for an agent's task, short
	// enough that a forgotten token is soon worthless.
	DefaultTokenTTL = 8 * time.Hour
	// MaxTokenTTL bounds a token's life: whoever needs more mints again.
	MaxTokenTTL = 366 * 24 * time.Hour
	// MaxTokensPerKey bounds a key's live tokens: one per agent and tool of a
	// busy person, while a runaway script is stopped.
	MaxTokensPerKey = 64
	// MaxTokens bounds all live tokens, so that looking through every one of
	// them in constant time stays under 0.1 ms.
	MaxTokens = 1024
	// MaxUserBytes bounds the SSH user name kept with a token, in bytes; systems
	// allow 32 or so.
	MaxUserBytes = 256
	// MaxTokenNameBytes bounds a token's name, in bytes, like a terminal's.
	MaxTokenNameBytes = 64
)

// Errors of the token store.
var (
	// ErrBadToken: no live token is this one. Malformed, unknown, expired and
	// revoked are not told apart.
	ErrBadToken = errors.New("keys: the token is not valid; mint one with: ssh HOST token")
	// ErrNoToken: there is no token of that name to revoke.
	ErrNoToken = errors.New("keys: there is no token of that name")
	// ErrTooManyTokens: MaxTokensPerKey or MaxTokens is reached.
	ErrTooManyTokens = errors.New("keys: too many tokens; revoke some, or wait until they expire")
	// ErrTokenName: the name is not 1 to MaxTokenNameBytes of A-Z a-z 0-9 . _ -
	ErrTokenName = errors.New("keys: a token's name is 1 to 64 characters of A-Z a-z 0-9 . _ -")
	// ErrTokenTTL: the lifetime is not positive, or above MaxTokenTTL.
	ErrTokenTTL = errors.New("keys: a token lives for more than nothing and at most 366 days")
)

// Token describes a token; the secret itself is known to its bearer only.
type Token struct {
	// Name names the principal; several tokens of one key may share it.
	Name string
	// Role is the role that was asked for, at most KeyRole.
	Role string
	// KeyRole is the key's role at the time of minting: a token ends when it
	// changes.
	KeyRole string
	// Identity is the key that minted the token. Its Fingerprint, User and Key
	// are stored; whether the key is still good is asked of the Ring at each use.
	Identity Identity
	// Created and Expires bound its life; Expires is never zero.
	Created, Expires time.Time
}

// MintRequest says what token to make.
type MintRequest struct {
	// Name names it; "" is DefaultTokenName. Earlier tokens of the same key and
	// name stay, as further secrets of the same principal, unless they have
	// another role.
	Name string
	// Role and KeyRole are stored in the Token. The caller has checked that Role
	// is not above KeyRole.
	Role, KeyRole string
	// Identity is the minting key's. The token ends with it.
	Identity Identity
	// TTL is the lifetime; 0 is DefaultTokenTTL.
	TTL time.Duration
}

// TokenOptions say where the tokens are kept.
type TokenOptions struct {
	// StateDir holds tokens.json, mode 0600.
	StateDir string
	// Rand is where tokens come from: crypto/rand.Reader.
	Rand io.Reader
}

// Tokens holds the bearer tokens. Its methods may be called concurrently. It
// checks no key: combine Verify with the Ring.
type Tokens struct {
	path string
	rand io.Reader

	mu      sync.Mutex // a leaf; held while the file is written
	records []record   // what the file holds
	changed chan struct{}
}

// record is a token at rest.
type record struct {
	Token
	hash [sha256.Size]byte
}

// OpenTokens reads the token file of the state folder. A file that others have
// access to (*LaxError) or that is damaged is an error: nothing is guessed.
func OpenTokens(o TokenOptions) (*Tokens, error) {
	t := &Tokens{path: filepath.Join(o.StateDir, tokensName), rand: o.Rand, changed: make(chan struct{})}
	records, err := loadTokens(t.path)
	if err != nil {
		return nil, err
	}
	t.records = records
	return t, nil
}

// Changed returns a channel that is closed when the next Mint, Revoke or
// RevokeKey has taken effect. Ask for it before looking.
func (t *Tokens) Changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changed
}

// Mint makes a token and returns its secret, which is not kept. When it returns
// without error, the token is on disk. Errors match ErrTokenName, ErrTokenTTL,
// ErrTooManyTokens, or come from the disk.
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
	token = Token{
		Name: r.Name, Role: r.Role, KeyRole: r.KeyRole,
		Identity: Identity{Fingerprint: r.Identity.Fingerprint, User: r.Identity.User, Key: r.Identity.Key},
		Created:  now.UTC().Truncate(time.Second),
		Expires:  earlier(now.Add(r.TTL), r.Identity.Expires).UTC().Truncate(time.Second),
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

// add keeps the other tokens of the name, which are the same principal's, unless
// they have another role: a principal has one.
func (t *Tokens) add(r record, now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	namesake := func(old record) bool {
		return old.Identity.Fingerprint == r.Identity.Fingerprint && old.Name == r.Name
	}
	left := t.without(func(old record) bool {
		return !now.Before(old.Expires) || namesake(old) && (old.Role != r.Role || old.KeyRole != r.KeyRole)
	})
	ofKey := 0
	for _, other := range left {
		if other.Identity.Fingerprint == r.Identity.Fingerprint {
			ofKey++
		}
	}
	if ofKey >= MaxTokensPerKey || len(left) >= MaxTokens {
		// A script that mints one for every run goes on with the newest.
		oldest := slices.IndexFunc(left, namesake)
		if oldest < 0 {
			return ErrTooManyTokens
		}
		left = slices.Delete(left, oldest, oldest+1)
	}
	return t.replace(append(left, r))
}

// Verify returns the live token that secret is, or ErrBadToken. It compares with
// every token in constant time.
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
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(t.records[i].hash[:], hash[:]), i, found)
	}
	if found < 0 || !now.Before(t.records[found].Expires) {
		return Token{}, ErrBadToken
	}
	return t.records[found].Token, nil
}

// Current reports whether token is still in force at now: neither expired nor
// revoked nor replaced by a later one of its name with another role.
func (t *Tokens) Current(token Token, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.records, func(r record) bool { return r.Token == token }) && now.Before(token.Expires)
}

// List returns the live tokens of the key with that fingerprint, oldest first;
// with "" those of all keys.
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

// Revoke ends all tokens of that key and name; ErrNoToken if there is none.
func (t *Tokens) Revoke(fingerprint, name string) error {
	n, err := t.revoke(func(r record) bool { return r.Identity.Fingerprint == fingerprint && r.Name == name })
	if err == nil && n == 0 {
		return ErrNoToken
	}
	return err
}

// RevokeKey ends all tokens of a key and returns how many there were.
func (t *Tokens) RevokeKey(fingerprint string) (int, error) {
	return t.revoke(func(r record) bool { return r.Identity.Fingerprint == fingerprint })
}

func (t *Tokens) revoke(match func(record) bool) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := t.without(match)
	n := len(t.records) - len(left)
	if n == 0 {
		return 0, nil
	}
	return n, t.replace(left)
}

// without returns a new slice of the records that do not match. The caller holds
// mu.
func (t *Tokens) without(match func(record) bool) []record {
	return slices.DeleteFunc(slices.Clone(t.records), match)
}

// replace writes records to disk and then takes them over: if the disk refuses,
// nothing has changed. The caller holds mu.
func (t *Tokens) replace(records []record) error {
	if err := storeTokens(t.path, records); err != nil {
		return err
	}
	t.records = records
	close(t.changed)
	t.changed = make(chan struct{})
	return nil
}

func validTokenName(name string) bool {
	const legal = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	return name != "" && len(name) <= MaxTokenNameBytes && strings.Trim(name, legal) == ""
}
