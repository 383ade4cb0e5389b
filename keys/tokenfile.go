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

	"termhost/ptypool/statefile"
)

// tokensName is the token file in the state folder.
const tokensName = "tokens.json"

// tokenFileVersion is the version of its format. Files of other versions are refused.
const tokenFileVersion = 1

// maxTokenFileBytes bounds the token file, in bytes: each token may have the longest key or
// certificate, and has other fields.
const maxTokenFileBytes = MaxTokens * (MaxLineBytes + 2<<10)

// tokenFile is the format of the token file. It holds no secrets: 256 random bits cannot be found
// from their SHA-256 hash.
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
	Secrets     bool      `json:"mayTypeSecrets,omitempty"`
	Created     time.Time `json:"created"`
	Expires     time.Time `json:"expires"`
	Browser     string    `json:"browser,omitempty"`
	Origin      string    `json:"origin,omitempty"`
}

// loadTokens reads the token file. If it is missing, there are no tokens.
func loadTokens(path string) ([]record, error) {
	data, err := readPrivate(path, maxTokenFileBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var refusal *StrictModesError
	if errors.As(err, &refusal) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("keys: the token file %s cannot be read: %w", path, reason(err))
	}
	records, err := decodeTokens(data)
	if err != nil {
		return nil, fmt.Errorf("keys: the token file %s is damaged: %w; "+
			"move it away and mint the tokens anew", path, err)
	}
	return records, nil
}

func decodeTokens(data []byte) ([]record, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var file tokenFile
	if err := decoder.Decode(&file); err != nil {
		return nil, errors.New("it is not the JSON of a token file")
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
			Browser: stored.Browser, Origin: stored.Origin, TypesSecrets: stored.Secrets,
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

// storeTokens writes the token file. If it returns nil, the file is on disk.
func storeTokens(path string, records []record) error {
	file := tokenFile{Version: tokenFileVersion, Tokens: make([]storedToken, 0, len(records))}
	for _, r := range records {
		file.Tokens = append(file.Tokens, storedToken{
			Name: r.Name, Role: r.Role, KeyRole: r.KeyRole, SHA256: hex.EncodeToString(r.hash[:]),
			Fingerprint: r.Identity.Fingerprint, User: r.Identity.User, Key: r.Identity.Key,
			Created: r.Created, Expires: r.Expires, Browser: r.Browser, Origin: r.Origin,
			Secrets: r.TypesSecrets,
		})
	}
	data, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return fmt.Errorf("keys: the tokens cannot be stored: %w", err)
	}
	if err := statefile.Save(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keys: the tokens cannot be stored: %w", reason(err))
	}
	return nil
}
