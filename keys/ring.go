package keys

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

// DefaultInterval is how often the files are looked at: a removed key must end
// its connections within two seconds.
const DefaultInterval = time.Second

// Options say what a Ring reads. Paths are used as they are: no ~, no variables.
type Options struct {
	// AuthorizedKeysFiles list people's keys and cert-authority lines. A file
	// that does not exist is an empty one, and may appear later.
	AuthorizedKeysFiles []string
	// TrustedUserCAFiles list keys that sign user certificates. They must exist.
	TrustedUserCAFiles []string
	// RevokedKeysFile lists keys and fingerprints that are never let in; "" for
	// none. While it is named and cannot be read, nobody is let in.
	RevokedKeysFile string
	// Lines are further authorized_keys lines, from the configuration.
	Lines []string
	// LoginUser, if not "", is the only SSH user name that a certificate of a
	// trusted authority may be used for. (A cert-authority line with principals=
	// admits others.) It should be the name of the user whom the host runs as:
	// without it everybody who has a certificate in their own name gets in.
	LoginUser string
	// Home and StateDir are where the check of the folders above a file stops.
	Home, StateDir string
	// Interval is the time between two looks at the files; 0 is DefaultInterval.
	Interval time.Duration
	// Log gets one record per refused line and per change; nil discards them.
	Log *slog.Logger
}

// Ring holds every way to authenticate with a key. Its methods may be called
// concurrently.
type Ring struct {
	inspect inspector
	log     *slog.Logger
	user    string // Options.LoginUser

	current atomic.Pointer[snapshot] // replaced as a whole, under mu

	mu      sync.Mutex // a leaf: nothing is locked and nobody is called under it but the log
	fixed   keyFile    // Options.Lines or SetLines
	files   []*watched
	changed chan struct{} // closed, and replaced, when current is replaced

	stop context.CancelFunc
	done chan struct{} // closed when the reloading goroutine has ended
}

// kind is what a watched file is for.
type kind int

const (
	authorizedKeys kind = iota
	trustedCAs
	revokedKeys
)

// watched is one file and what was found in it last.
type watched struct {
	path string
	kind kind

	seen    stamp
	digest  [sha256.Size]byte // of the content, while err is nil
	loaded  bool              // digest and content are of a file that was read
	err     error             // why the file is refused at present
	content keyFile           // authorizedKeys, trustedCAs
	revoked map[string]bool   // revokedKeys
	before  map[string]bool   // while err is set: keys that it authorised when it was last good
}

// Open reads the files and begins to watch them. A file that exists but is
// refused is an error (*LaxError where rights are the reason), so is a bad line
// in Options.Lines; a bad line in a file refuses that line's key and is logged.
// Close must be called.
func Open(o Options) (*Ring, error) {
	r := &Ring{
		inspect: newInspector(o.Home, o.StateDir),
		log:     o.Log,
		user:    o.LoginUser,
		changed: make(chan struct{}),
		done:    make(chan struct{}),
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	fixed, err := linesOf(o.Lines)
	if err != nil {
		return nil, err
	}
	r.fixed = fixed
	for _, path := range o.AuthorizedKeysFiles {
		r.files = append(r.files, &watched{path: path, kind: authorizedKeys})
	}
	for _, path := range o.TrustedUserCAFiles {
		r.files = append(r.files, &watched{path: path, kind: trustedCAs})
	}
	if o.RevokedKeysFile != "" {
		r.files = append(r.files, &watched{path: o.RevokedKeysFile, kind: revokedKeys})
	}
	r.Reload()
	for _, f := range r.files {
		if f.err != nil {
			return nil, f.err
		}
	}
	interval := o.Interval
	if interval == 0 {
		interval = DefaultInterval
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go r.watch(ctx, interval)
	return r, nil
}

// Close stops watching and waits for that. The Ring goes on answering from what
// it read last, and Changed stays silent.
func (r *Ring) Close() error {
	r.stop()
	<-r.done
	return nil
}

func (r *Ring) watch(ctx context.Context, interval time.Duration) {
	defer close(r.done)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			r.Reload()
		}
	}
}

// Changed returns a channel that is closed when the next change has taken
// effect. Ask for it before looking, so that no change is missed.
func (r *Ring) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// Authenticate decides about key, which may be a *ssh.Certificate, presented for
// the SSH user name user from remote (nil if there is none). It proves nothing by
// itself: the caller has verified, or is about to verify, that the peer holds the
// private key. Errors match ErrUnknownKey, ErrWithdrawn or *RefusedError.
func (r *Ring) Authenticate(user string, key ssh.PublicKey, remote net.Addr, now time.Time) (Identity, error) {
	return r.current.Load().authenticate(user, key, origin{addr: addressOf(remote)}, now)
}

// Still asks again about an identity that was let in before, and returns it as
// it is now: options and expiry may have changed. Errors are Authenticate's.
func (r *Ring) Still(id Identity, now time.Time) (Identity, error) {
	return r.again(id, origin{addr: id.Remote}, now)
}

// StillFrom is Still for another address: a token is used from where its bearer
// is, and its key's from= binds it there.
func (r *Ring) StillFrom(id Identity, remote net.Addr, now time.Time) (Identity, error) {
	return r.again(id, origin{addr: addressOf(remote)}, now)
}

// StillAnywhere is Still without regard to addresses: whether the key is good
// for any at all.
func (r *Ring) StillAnywhere(id Identity, now time.Time) (Identity, error) {
	return r.again(id, origin{everywhere: true}, now)
}

func (r *Ring) again(id Identity, remote origin, now time.Time) (Identity, error) {
	key, _, err := parseKeyFields(id.Key)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: it cannot be read", ErrUnknownKey)
	}
	return r.current.Load().authenticate(id.User, key, remote, now)
}

// linesOf reads authorized_keys lines of the configuration.
func linesOf(texts []string) (keyFile, error) {
	var f keyFile
	for _, text := range texts {
		line, err := ParseLine(text)
		if err != nil {
			return keyFile{}, fmt.Errorf("keys: a key line of the configuration is refused: %w", err)
		}
		f.entries = append(f.entries, entry{Line: line, source: "config"})
	}
	return f, nil
}

// SetLines replaces Options.Lines. When it returns without error, it has taken
// effect; with an error, nothing has changed.
func (r *Ring) SetLines(texts []string) error {
	fixed, err := linesOf(texts)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fixed = fixed
	r.current.Store(r.build())
	close(r.changed)
	r.changed = make(chan struct{})
	return nil
}

// Empty reports whether no key at all could be let in at present.
func (r *Ring) Empty() bool {
	s := r.current.Load()
	return s.closed != nil || len(s.plain)+len(s.authorities)+len(s.trusted) == 0
}

// Reload looks at the files now instead of at the next interval, and returns
// when what it found has taken effect.
func (r *Ring) Reload() {
	r.mu.Lock()
	defer r.mu.Unlock()
	different := r.current.Load() == nil
	for _, f := range r.files {
		if r.look(f) {
			different = true
		}
	}
	if !different {
		return
	}
	r.current.Store(r.build())
	close(r.changed)
	r.changed = make(chan struct{})
}

// look reads f if it seems changed and reports whether what it says changed.
// The caller holds mu.
func (r *Ring) look(f *watched) bool {
	if _, seen, _ := r.inspect.inspect(f.path); seen == f.seen && f.seen != "" {
		return false
	}
	data, seen, err := r.inspect.read(f.path)
	if f.kind == authorizedKeys && errors.Is(err, fs.ErrNotExist) {
		data, err = nil, nil
	}
	if f.seen = seen; isFresh(f.path) {
		f.seen = "" // a second edit within the clock's granularity would look the same: read again next time
	}
	digest := sha256.Sum256(data)
	if err == nil && f.loaded && f.err == nil && digest == f.digest {
		return false
	}
	var content keyFile
	var revoked map[string]bool
	if err == nil {
		if f.kind == revokedKeys {
			revoked, err = parseRevoked(data)
		} else {
			content = parseKeyFile(f.path, data, f.kind == trustedCAs)
		}
	}
	if err != nil {
		return r.refuse(f, err)
	}
	for _, note := range content.notes {
		r.log.Warn("key line", "note", note)
	}
	if f.loaded || f.err != nil {
		r.log.Info("key file read again", "file", f.path, "keys", len(content.entries))
	}
	f.digest, f.loaded, f.err, f.before = digest, true, nil, nil
	f.content, f.revoked = content, revoked
	return true
}

// refuse withdraws what f said. It reports a change, and logs, only when the
// reason is new.
func (r *Ring) refuse(f *watched, err error) bool {
	var lax *LaxError
	if !errors.As(err, &lax) {
		err = fmt.Errorf("keys: %s is refused: %w", f.path, reason(err))
		f.seen = "" // it may pass without a trace in the file (no descriptor free): try again
	}
	if f.err != nil && f.err.Error() == err.Error() {
		return false
	}
	if f.before == nil {
		f.before = map[string]bool{}
		for _, e := range f.content.entries {
			f.before[string(e.Key.Marshal())] = true
		}
	}
	f.err, f.content, f.revoked = err, keyFile{}, nil
	if r.current.Load() != nil { // else Open returns the error
		r.log.Error("key file refused; its keys are withdrawn", "file", f.path, "reason", err.Error())
	}
	return true
}

// build makes the snapshot of what the files say now. The caller holds mu.
func (r *Ring) build() *snapshot {
	s := &snapshot{
		plain: map[string][]entry{}, authorities: map[string][]entry{}, trusted: map[string]entry{},
		spoilt: map[string]string{}, withdrawn: map[string]bool{}, loginUser: r.user,
	}
	s.addLines(r.fixed)
	for _, f := range r.files {
		for blob := range f.before {
			s.withdrawn[blob] = true
		}
		switch f.kind {
		case authorizedKeys:
			s.addLines(f.content)
		case trustedCAs:
			s.addTrusted(f.content)
		case revokedKeys:
			s.revoked, s.closed = f.revoked, f.err
		}
	}
	return s
}

func (s *snapshot) addLines(file keyFile) {
	for _, e := range file.entries {
		blob := string(e.Key.Marshal())
		if e.CertAuthority {
			s.authorities[blob] = append(s.authorities[blob], e)
		} else {
			s.plain[blob] = append(s.plain[blob], e)
		}
	}
	for blob, reason := range file.spoilt {
		s.spoilt[blob] = reason
	}
}

func (s *snapshot) addTrusted(file keyFile) {
	for _, e := range file.entries {
		s.trusted[string(e.Key.Marshal())] = e
	}
	for blob, reason := range file.spoilt {
		s.spoilt[blob] = reason
	}
}
