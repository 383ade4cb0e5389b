package keys

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// TokenPrefix begins every token, so that people and secret scanners recognise one.
	TokenPrefix = "tht_"
	// tokenBytes is how many random bytes a token has: 256 bits cannot be guessed.
	tokenBytes = 32
	// DefaultTokenName is the name of a token that is minted without one.
	DefaultTokenName = "default"
	// DefaultTokenTTL is a working day: long enough for an agent's task, and short enough that
	// a forgotten token is soon worthless.
	DefaultTokenTTL = 8 * time.Hour
	// MaxTokenTTL bounds a token's lifetime.
	MaxTokenTTL = 366 * 24 * time.Hour
	// MaxTokensPerKey bounds a key's live tokens. It is enough for all agents and tools of one
	// person, and stops a script that mints without end.
	MaxTokensPerKey = 64
	// MaxTokens bounds all live tokens, so that comparing a secret with each of them takes
	// less than 0.1 ms.
	MaxTokens = 1024
	// MaxUserBytes bounds the SSH user name that is stored with a token, in bytes. Most systems
	// allow 32.
	MaxUserBytes = 256
	// MaxTokenNameBytes bounds a token's name, in bytes, like that of a terminal.
	MaxTokenNameBytes = 64
	// maxBrowserBytes and maxOriginBytes bound what is stored of a token's page: 65 bytes in
	// base64, and a host name of the greatest length with scheme and port.
	maxBrowserBytes, maxOriginBytes = 87, 300
)

// Errors of the token store.
var (
	// ErrBadToken says that no live token has this secret: it is malformed, unknown, expired or
	// revoked.
	ErrBadToken = errors.New("keys: the token is not valid; mint one with: ssh HOST token")
	// ErrNoToken says that there is no token of that name to revoke.
	ErrNoToken = errors.New("keys: there is no token of that name")
	// ErrTooManyTokens says that there are MaxTokensPerKey or MaxTokens tokens.
	ErrTooManyTokens = errors.New("keys: too many tokens; revoke some, or wait until they expire")
	// ErrTokenName says that the name is not 1 to MaxTokenNameBytes of A-Z a-z 0-9 . _ -
	ErrTokenName = errors.New("keys: a token's name is 1 to 64 characters of A-Z a-z 0-9 . _ -")
	// ErrTokenTTL says that the lifetime is not positive, or above MaxTokenTTL.
	ErrTokenTTL = errors.New("keys: a token's lifetime is positive and at most 366 days")
)

// Token describes a token. Only its bearer knows the secret.
type Token struct {
	// Name is part of the principal's name. Several tokens of a key may have the same one.
	Name string
	// Role is the role that was asked for, at most KeyRole.
	Role string
	// KeyRole is the role that the key had when the token was minted. If it changes, the token
	// ends.
	KeyRole string
	// Identity is the key that minted the token, with Fingerprint, User and Key only. Check with
	// the Ring at each use that the key is still accepted.
	Identity Identity
	// TypesSecrets says that the bearer may type where a program asks for a secret.
	TypesSecrets bool
	// Created and Expires bound the token's lifetime. Expires is never zero.
	Created, Expires time.Time
	// Browser is the public key of the web page that alone may use the token, as Origin: its point
	// on P-256, uncompressed (SEC 1), in unpadded base64url. "": it is a bearer token.
	Browser, Origin string
}

// UserPrefix begins the Identity.Fingerprint of a web page's token that belongs not to a key but to
// a user of this machine. The user id follows.
const UserPrefix = "uid:"

// OfUser returns the user id that a token belongs to; ok is false for that of a key.
func (t Token) OfUser() (uid uint32, ok bool) {
	text, ok := strings.CutPrefix(t.Identity.Fingerprint, UserPrefix)
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), ok && err == nil
}

// MintRequest describes a token to mint.
type MintRequest struct {
	// Name is the token's name, or "" for DefaultTokenName. Earlier tokens of the same key and name
	// remain valid, as further secrets of the same principal, unless their rights differ.
	Name string
	// Role and KeyRole are stored in the Token. The caller has checked that Role is not above
	// KeyRole.
	Role, KeyRole string
	// Identity is the key that mints the token. The token ends with the key.
	Identity Identity
	// TypesSecrets is stored in the Token.
	TypesSecrets bool
	// TTL is the lifetime, or 0 for DefaultTokenTTL.
	TTL time.Duration
	// Browser and Origin are as in Token.
	Browser, Origin string
}

// record is a token as it is stored: with the hash of its secret.
type record struct {
	Token
	hash tokenHash
}

// of reports whether r is a token of the key with that fingerprint and has that name.
func (r record) of(fingerprint, name string) bool {
	return r.Identity.Fingerprint == fingerprint && r.Name == name
}

// check returns what is wrong with the token. Tokens are checked when they are minted and when they
// are read from the file.
func (t Token) check() error {
	if !validTokenName(t.Name) {
		return ErrTokenName
	}
	for _, role := range []string{t.Role, t.KeyRole} {
		if role != RoleAdmin && role != RoleOperator && role != RoleObserver {
			return errors.New("its role is unknown")
		}
	}
	if ttl := t.Expires.Sub(t.Created); ttl <= 0 || ttl > MaxTokenTTL {
		return ErrTokenTTL
	}
	if len(t.Browser) > maxBrowserBytes || len(t.Origin) > maxOriginBytes ||
		(t.Browser == "") != (t.Origin == "") {
		return errors.New("its page cannot be read")
	}
	if _, ok := t.OfUser(); ok && t.Browser != "" && t.Identity.Key == "" {
		return nil
	}
	if len(t.Identity.Key) > MaxLineBytes || len(t.Identity.User) > MaxUserBytes {
		return errors.New("its key or user name is too long")
	}
	key, _, err := parseKeyFields(t.Identity.Key)
	if err != nil || publicLine(key, "") != t.Identity.Key {
		return errors.New("its key cannot be read")
	}
	if cert, ok := key.(*ssh.Certificate); ok {
		key = cert.Key
	}
	if ssh.FingerprintSHA256(key) != t.Identity.Fingerprint {
		return errors.New("its key and fingerprint do not belong together")
	}
	return nil
}

func validTokenName(name string) bool {
	const legal = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	return name != "" && len(name) <= MaxTokenNameBytes && strings.Trim(name, legal) == ""
}
