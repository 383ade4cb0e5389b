package keys

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"golang.org/x/crypto/ssh"
)

// tokensName is the token file in the state folder.
const tokensName = "tokens.json"

// tokenFileVersion is the version of its format; another one is refused.
const tokenFileVersion = 1

// maxTokenFileBytes bounds the token file: every token with the longest key or
// certificate, and the fields around it.
const maxTokenFileBytes = MaxTokens * (MaxLineBytes + 2<<10)

// tokenFile is the form of the token file. It holds no secret: a SHA-256 hash
// of 256 random bits cannot be turned back.
type tokenFile struct {
	Version int           `json:"version"`
	Tokens  []storedToken `json:"tokens"`
}

type storedToken struct {
	Name        string    `json:"name"`
	Role        string    `json:"role"`
	KeyRole     string    `json:"keyRole"`
	SHA256      string    `json:"sha256"`
	Fingerprint string    `json:"fingerprint"`
	User        string    `json:"user"`
	Key         string    `json:"key"`
	Created     time.Time `json:"created"`
	Expires     time.Time `json:"expires"`
}

// loadTokens reads the token file; a missing one holds no tokens.
func loadTokens(path string) ([]record, error) {
	data, err := readPrivate(path, maxTokenFileBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var lax *LaxError
	if errors.As(err, &lax) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("keys: the token file %s cannot be read: %w", path, reason(err))
	}
	records, err := decodeTokens(data)
	if err != nil {
		return nil, fmt.Errorf("keys: the token file %s is damaged: %w; move it away and mint the tokens anew", path, err)
	}
	return records, nil
}

func decodeTokens(data []byte) ([]record, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var file tokenFile
	if err := decoder.Decode(&file); err != nil {
		return nil, errors.New("it is not the JSON that was written")
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("something follows its end")
	}
	if file.Version != tokenFileVersion {
		return nil, fmt.Errorf("its version is %d and not %d", file.Version, tokenFileVersion)
	}
	if len(file.Tokens) > MaxTokens {
		return nil, fmt.Errorf("it holds more than %d tokens", MaxTokens)
	}
	records := make([]record, 0, len(file.Tokens))
	for i, stored := range file.Tokens {
		r := record{Token: Token{
			Name: stored.Name, Role: stored.Role, KeyRole: stored.KeyRole,
			Identity: Identity{Fingerprint: stored.Fingerprint, User: stored.User, Key: stored.Key},
			Created:  stored.Created.UTC(), Expires: stored.Expires.UTC(),
		}}
		hash, err := hex.DecodeString(stored.SHA256)
		if err != nil || copy(r.hash[:], hash) != len(r.hash) || len(hash) != len(r.hash) {
			return nil, fmt.Errorf("token %d has no hash", i+1)
		}
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("token %d: %w", i+1, err)
		}
		records = append(records, r)
	}
	return records, nil
}

// check reports whether t can be a token at all; it holds for what is minted
// and for what is read back.
func (t Token) check() error {
	if !validTokenName(t.Name) {
		return ErrTokenName
	}
	for _, role := range []string{t.Role, t.KeyRole} {
		if role != RoleAdmin && role != RoleOperator && role != RoleObserver {
			return errors.New("its role is unknown")
		}
	}
	if t.Expires.Sub(t.Created) <= 0 || t.Expires.Sub(t.Created) > MaxTokenTTL {
		return ErrTokenTTL
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

// storeTokens writes the token file, on disk before it returns.
func storeTokens(path string, records []record) error {
	file := tokenFile{Version: tokenFileVersion, Tokens: make([]storedToken, 0, len(records))}
	for _, r := range records {
		file.Tokens = append(file.Tokens, storedToken{
			Name: r.Name, Role: r.Role, KeyRole: r.KeyRole, SHA256: hex.EncodeToString(r.hash[:]),
			Fingerprint: r.Identity.Fingerprint, User: r.Identity.User, Key: r.Identity.Key,
			Created: r.Created, Expires: r.Expires,
		})
	}
	data, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return fmt.Errorf("keys: the tokens cannot be stored: %w", err)
	}
	if err := replaceFile(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keys: the tokens cannot be stored: %w", reason(err))
	}
	return nil
}
