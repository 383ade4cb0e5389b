package keys

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"termhost/ptypool/ticks"
)

// DefaultInterval is how often the files are checked for changes. The connections of a
// removed key must end within two seconds.
const DefaultInterval = time.Second

// Options configure a Ring. Paths are used as they are: ~ and variables are not expanded.
type Options struct {
	// AuthorizedKeysFiles have people's keys and cert-authority lines. A file that does not
	// exist counts as an empty one, and may appear later.
	AuthorizedKeysFiles []string
	// TrustedUserCAFiles have keys that sign user certificates. They must exist.
	TrustedUserCAFiles []string
	// RevokedKeysFile has keys and fingerprints that are never accepted; "" for none. While a file
	// is named here and cannot be read, no key is accepted.
	RevokedKeysFile string
	// Lines are authorized_keys lines that stand in the configuration.
	Lines []string
	// LoginUser, if not "", is the only SSH user name for which a certificate of a trusted
	// authority is accepted. (A cert-authority line with principals= accepts others.) It should be
	// the user that the host runs as: otherwise, everybody with a certificate for their own name
	// could log in.
	LoginUser string
	// Home and StateDir limit the check of a file's folders: of a file below one of them, the
	// folders above that one are not checked.
	Home, StateDir string
	// Interval is the time between two checks of the files; 0 is DefaultInterval.
	Interval time.Duration
	// Log gets a record for each line that is refused and for each change; nil drops them.
	Log *slog.Logger
	// Leads reports whether the owner of a key is an admin; nil: everybody is. The last such keys
	// stay in force when their file loses them. It is called with a lock held.
	Leads func(Identity) bool
}

// Ring authenticates keys. Its methods may be called concurrently.
type Ring struct {
	inspect inspector
	log     *slog.Logger
	user    string // Options.LoginUser
	leads   func(Identity) bool

	// current is replaced as a whole, with mu held, and read without it.
	current atomic.Pointer[snapshot]

	// mu is held while the files are read and current is replaced. No other lock is taken
	// under it, and nothing but the log is called.
	mu      sync.Mutex
	fixed   keyFile // Options.Lines, or those of SetLines
	files   []*watched
	changed chan struct{} // closed, and replaced, when current is replaced

	stop context.CancelFunc
	done chan struct{} // closed when the goroutine that watches has ended
}

// Open reads the files and starts to watch them. It fails if a file that exists is refused (with a
// *StrictModesError if its mode or owner is the reason) and if a line of Options.Lines is bad. A
// bad line in a file refuses only the key in that line, and is logged. The Ring must be closed.
func Open(o Options) (*Ring, error) {
	r := &Ring{
		inspect: newInspector(o.Home, o.StateDir),
		log:     o.Log,
		user:    o.LoginUser,
		leads:   o.Leads,
		changed: make(chan struct{}),
		done:    make(chan struct{}),
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	fixed, err := configLines(o.Lines)
	if err != nil {
		return nil, err
	}
	r.fixed = fixed
	r.files = o.files()
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

// files returns the files to watch, still unread.
func (o *Options) files() (files []*watched) {
	for _, path := range o.AuthorizedKeysFiles {
		files = append(files, &watched{path: path, kind: authorizedKeys})
	}
	for _, path := range o.TrustedUserCAFiles {
		files = append(files, &watched{path: path, kind: trustedCAs})
	}
	if o.RevokedKeysFile != "" {
		files = append(files, &watched{path: o.RevokedKeysFile, kind: revokedKeys})
	}
	return files
}

// Paths returns the paths of all files that o names.
func (o *Options) Paths() (paths []string) {
	for _, f := range o.files() {
		paths = append(paths, f.path)
	}
	return paths
}

// SetFiles replaces the files that Options name; other fields of o are not used. If a file that
// exists is refused, it returns why and changes nothing; otherwise the change has taken effect. As
// with Reload, the last keys of a file that was emptied stay in force, if o still names the file.
func (r *Ring) SetFiles(o Options) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	files := o.files()
	for _, f := range files {
		f.reload(r.inspect)
		if f.err != nil {
			return f.err
		}
	}
	var changes []change
	for _, f := range files {
		f.tell(r.log, watched{})
		for _, old := range r.files {
			if old.path == f.path && old.kind == f.kind {
				changes = append(changes, change{f, *old})
			}
		}
	}
	if r.locksOut(files) {
		r.keepKeys(changes)
	}
	r.files = files
	r.replaceLocked()
	return nil
}

// Close stops watching the files. The Ring still answers from its last reading.
func (r *Ring) Close() error {
	r.stop()
	<-r.done
	return nil
}

func (r *Ring) watch(ctx context.Context, interval time.Duration) {
	defer close(r.done)
	tick := time.NewTimer(ticks.Wait(interval))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.reloadAtRest(ctx, restTime)
			tick.Reset(ticks.Wait(interval))
		}
	}
}

// Changed returns a channel that is closed when the next change has taken effect. Call it before
// you query the Ring, so that you miss no change.
func (r *Ring) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// SetLines replaces Options.Lines. If it returns an error, nothing has changed; otherwise the
// change has taken effect.
func (r *Ring) SetLines(lines []string) error {
	fixed, err := configLines(lines)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fixed = fixed
	r.replaceLocked()
	return nil
}

// Empty reports whether no key at all could be accepted now.
func (r *Ring) Empty() bool {
	s := r.current.Load()
	return s.closed != nil || s.keyless()
}

// ReloadAtRest checks the files now instead of at the next interval, after [AtRest]. When it
// returns, what it found has taken effect.
func (r *Ring) ReloadAtRest() { r.reloadAtRest(context.Background(), restTime) }

func (r *Ring) reloadAtRest(ctx context.Context, rest time.Duration) {
	r.mu.Lock()
	var paths []string
	for _, f := range r.files {
		paths = append(paths, f.path)
	}
	r.mu.Unlock()
	if atRest(ctx, rest, paths) == nil {
		r.Reload()
	}
}

// outdated reports whether a file may have changed since it was read.
func (r *Ring) outdated() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.files {
		if _, seen, _ := r.inspect.inspect(f.path); seen != f.seen {
			return true
		}
	}
	return false
}

// Reload is ReloadAtRest for files that nobody is writing.
func (r *Ring) Reload() {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.current.Load() == nil
	var changes []change
	for _, f := range r.files {
		before := *f
		if f.reload(r.inspect) {
			changes = append(changes, change{f, before})
		}
	}
	if !first && len(changes) > 0 && r.locksOut(r.files) {
		changes = r.keepKeys(changes)
	}
	for _, c := range changes {
		c.file.tell(r.log, c.before)
	}
	if first || len(changes) > 0 {
		r.replaceLocked()
	}
}

// locksOut reports whether with these files nobody, or no admin, could log in any more.
func (r *Ring) locksOut(files []*watched) bool {
	was, now := r.current.Load(), newSnapshot(r.fixed, files, r.user)
	return now.keyless() && !was.keyless() || r.leaderless(now) && !r.leaderless(was)
}

// leaderless reports whether no key belongs to an admin.
func (r *Ring) leaderless(s *snapshot) bool {
	if len(s.authorities)+len(s.trusted) > 0 {
		return false
	}
	for _, id := range s.identities() {
		if r.leads == nil || r.leads(id) {
			return false
		}
	}
	return true
}

// change is a file whose content has changed.
type change struct {
	file   *watched
	before watched
}

// keepKeys keeps the keys of emptied files in force if otherwise nobody, or no admin, could log in:
// most such files were emptied by mistake. It returns the other changes, such as those of files
// that can no longer be trusted.
func (r *Ring) keepKeys(changes []change) (others []change) {
	for _, c := range changes {
		emptied := len(c.before.content.entries) > 0 && len(c.file.content.entries) == 0
		if c.file.err != nil || !emptied {
			others = append(others, c)
			continue
		}
		if !c.before.kept {
			r.log.Warn("a key file has no keys any more, and its former keys stay in force:"+
				" without them nobody, or no admin, could log in. Add a key; to remove the last"+
				" one, stop the host",
				"file", c.file.path, "keys", len(c.before.content.entries))
		}
		c.file.keep(c.before)
	}
	return others
}

// replaceLocked puts fixed and files into effect.
func (r *Ring) replaceLocked() {
	r.current.Store(newSnapshot(r.fixed, r.files, r.user))
	close(r.changed)
	r.changed = make(chan struct{})
}
