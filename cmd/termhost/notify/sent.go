package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"termhost/ptypool/statefile"
)

const (
	// maxSent bounds the reasons that a target remembers: there are not more terminals.
	maxSent = 20_000
	// sentAge is how long a reason is remembered that is there no more. It may come back: after a
	// restart of the host it takes a while until a program is known to wait still.
	sentAge = 24 * time.Hour
	// maxSentFile bounds the file, in bytes: beyond that it is none of ours.
	maxSentFile = 64 << 20
)

// sent is what one target has been told: the reason that was sent last, by terminal and person.
type sent map[string]time.Time

// forget forgets entries outside of there that are old or, if there are too many entries, all
// outside of there.
func (s sent) forget(there map[string]bool, now time.Time) {
	maps.DeleteFunc(s, func(key string, at time.Time) bool {
		return !there[key] && (len(s) > maxSent || now.Sub(at) > sentAge)
	})
}

// record keeps in a file what targets have been told, so that a restart of the host tells nobody
// anything twice. Its methods may be called concurrently. The zero record keeps nothing.
type record struct {
	path string

	mu     sync.Mutex // held while the file is written
	told   map[string]sent
	hours  map[string][]time.Time // of the messages of the last hour
	failed bool                   // the file could not be written
}

// sentFile is the format of the file. It has no addresses: a target's may be secret.
type sentFile struct {
	Version int             `json:"version"`
	Targets map[string]sent `json:"targets"` // by [Target.key]
	// Hours are when the messages of the last hour went out, for the limit of an hour.
	Hours map[string][]time.Time `json:"hours,omitempty"`
}

// load reads the file. path "": there is none.
func (r *record) load(path string) error {
	r.path, r.told, r.hours = path, map[string]sent{}, map[string][]time.Time{}
	if path == "" {
		return nil
	}
	text, err := statefile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var file sentFile
	switch {
	case err != nil:
	case len(text) > maxSentFile || json.Unmarshal(text, &file) != nil || file.Version != 1:
		err = errors.New("it is damaged")
	}
	if err != nil {
		return fmt.Errorf("%s: %w; what waits now may be notified again", path, err)
	}
	maps.Copy(r.told, file.Targets)
	maps.Copy(r.hours, file.Hours)
	return nil
}

// of returns a copy of what a target has been told with the last host, and when in the last hour.
func (r *record) of(t *Target) (sent, []time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := maps.Clone(r.told[t.key()])
	if told == nil {
		told = sent{}
	}
	return told, slices.Clone(r.hours[t.key()])
}

// keep writes down what a target has been told. The error is that of the first write that fails.
func (r *record) keep(t *Target, told sent, hour []time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.path == "" {
		return nil
	}
	r.told[t.key()], r.hours[t.key()] = maps.Clone(told), slices.Clone(hour)
	text, err := json.Marshal(sentFile{1, r.told, r.hours})
	if err == nil {
		err = statefile.Replace(r.path, text)
	}
	if was := r.failed; err == nil || was {
		r.failed = err != nil
		return nil
	}
	r.failed = true
	return err
}

// only forgets all other targets, of which there may be many after as many changes of the
// configuration.
func (r *record) only(targets []Target) {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := map[string]bool{}
	for i := range targets {
		keys[targets[i].key()] = true
	}
	maps.DeleteFunc(r.told, func(key string, _ sent) bool { return !keys[key] })
	maps.DeleteFunc(r.hours, func(key string, _ []time.Time) bool { return !keys[key] })
}

// key names a target in the file by whom it tells, and where.
func (t *Target) key() string {
	kind, address := t.kind()
	text := strings.Join(append([]string{t.Principal, kind, address}, t.Command...), "\x00")
	hash := sha256.Sum256([]byte(text))
	return hex.EncodeToString(hash[:16])
}
