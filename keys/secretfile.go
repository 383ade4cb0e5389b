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
	"slices"
	"sync"
	"time"

	"termhost/ptypool/statefile"
)

// sealed is what a file has of a secret: its hash.
type sealed struct {
	SHA256 string `json:"sha256"`
	hash   tokenHash
}

func seal(secret string) sealed {
	hash := sha256.Sum256([]byte(secret))
	return sealed{SHA256: hex.EncodeToString(hash[:]), hash: hash}
}

func (s *sealed) secretHash() *sealed { return s }

// secretEntry is an S of a secretFile, which has a secret: a link, or an invitation.
type secretEntry[S any] interface {
	*S
	secretHash() *sealed
	lasts() (id string, expires time.Time)
	check() error
}

// secretFile is a file of the state folder, of mode 0600, with what secrets are good for, and their
// hashes.
type secretFile[S any, P secretEntry[S]] struct {
	kind   string        // what an entry is for people
	format func([]S) any // of the file
	path   string
	rand   io.Reader

	// mu is held while the file is written. No other lock is taken under it.
	mu      sync.Mutex
	all     []S // what the file has, the oldest first
	changed chan struct{}
}

// open reads the file, of at most so many bytes, into what it is decoded to, which has its version
// and its entries. damaged tells people what to do if it cannot be understood.
func (f *secretFile[S, P]) open(most int, into any, version *int, all *[]S,
	maxEntries int, tooMany error, damaged string) error {
	f.changed = make(chan struct{})
	data, err := readPrivate(f.path, most)
	var refusal *StrictModesError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.As(err, &refusal):
		return err
	case err != nil:
		return fmt.Errorf("keys: the file %s cannot be read: %w", f.path, reason(err))
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(into); err != nil || *version != 1 {
		err = errors.New("its format is not known")
	} else if _, more := decoder.Token(); more != io.EOF {
		err = errors.New("something follows its end")
	} else if len(*all) > maxEntries {
		err = tooMany
	} else {
		err = f.check(*all)
	}
	if err != nil {
		return fmt.Errorf("keys: the file %s is damaged: %w; move it away%s", f.path, err, damaged)
	}
	f.all = *all
	return nil
}

// check checks entries, and reads their hashes.
func (f *secretFile[S, P]) check(all []S) error {
	for n := range all {
		e := P(&all[n])
		s := e.secretHash()
		hash, err := hex.DecodeString(s.SHA256)
		if err != nil || len(hash) != copy(s.hash[:], hash) || len(hash) != len(s.hash) {
			return fmt.Errorf("%s %d has no hash", f.kind, n+1)
		}
		if err := e.check(); err != nil {
			return fmt.Errorf("%s %d: %w", f.kind, n+1, err)
		}
	}
	return nil
}

// changes returns a channel that is closed when the next change has taken effect.
func (f *secretFile[S, P]) changes() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// newSecret returns a secret, and an id, which is not secret.
func (f *secretFile[S, P]) newSecret() (secret, id string, err error) {
	raw := make([]byte, tokenBytes+inviteIDBytes)
	if _, err := io.ReadFull(f.rand, raw); err != nil {
		return "", "", fmt.Errorf("keys: no randomness for one more %s: %w", f.kind, err)
	}
	return base64.RawURLEncoding.EncodeToString(raw[:tokenBytes]),
		hex.EncodeToString(raw[tokenBytes:]), nil
}

// live reports whether an entry has not expired.
func (f *secretFile[S, P]) live(e P, now time.Time) bool {
	_, expires := e.lasts()
	return now.Before(expires)
}

// liveLocked returns a new slice of the entries that have not expired, the oldest first.
func (f *secretFile[S, P]) liveLocked(now time.Time) []S {
	return slices.DeleteFunc(slices.Clone(f.all), func(e S) bool { return !f.live(&e, now) })
}

// list is liveLocked for callers that do not hold mu.
func (f *secretFile[S, P]) list(now time.Time) []S {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.liveLocked(now)
}

// findLocked compares a secret with that of every entry, in constant time, and returns the place of
// the live one that has it; -1: none has.
func (f *secretFile[S, P]) findLocked(secret string, now time.Time) int {
	hash := sha256.Sum256([]byte(secret))
	found := -1
	for n := range f.all {
		equal := subtle.ConstantTimeCompare(P(&f.all[n]).secretHash().hash[:], hash[:])
		found = subtle.ConstantTimeSelect(equal, n, found)
	}
	if found >= 0 && !f.live(&f.all[found], now) {
		return -1
	}
	return found
}

// revoke ends an entry, or returns unknown. Any other error says that it has ended, but comes back
// at a restart, because the file could not be written.
func (f *secretFile[S, P]) revoke(id string, unknown error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	left := f.withoutLocked(id)
	if len(left) == len(f.all) {
		return unknown
	}
	if err := f.replaceLocked(left); err != nil {
		f.useLocked(left)
		return fmt.Errorf("%w; it has ended now, but would come back at a restart", err)
	}
	return nil
}

// withoutLocked returns a new slice of the entries without that of an id.
func (f *secretFile[S, P]) withoutLocked(id string) []S {
	return slices.DeleteFunc(slices.Clone(f.all), func(e S) bool {
		is, _ := P(&e).lasts()
		return is == id
	})
}

// replaceLocked writes the entries to disk and then replaces them. If it returns an error, nothing
// has changed.
func (f *secretFile[S, P]) replaceLocked(all []S) error {
	data, err := json.MarshalIndent(f.format(all), "", "  ")
	if err != nil {
		return fmt.Errorf("keys: the %ss cannot be stored: %w", f.kind, err)
	}
	if err := statefile.Save(f.path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keys: the %ss cannot be stored: %w", f.kind, reason(err))
	}
	f.useLocked(all)
	return nil
}

func (f *secretFile[S, P]) useLocked(all []S) {
	f.all = all
	close(f.changed)
	f.changed = make(chan struct{})
}
