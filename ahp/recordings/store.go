package recordings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"termhost/authz"
	"termhost/authz/admit"
	"termhost/ptypool/statefile"
	"termhost/ptypool/termlog"
)

const (
	recordingsDir = "recordings" // in the state folder
	liveSuffix    = ".live"      // of the file of a recording that goes on
	endedSuffix   = ".rec"       // of one that has ended
)

// Store has the recordings of a host. All methods but Open may be called concurrently.
type Store struct {
	dir string // "": there are none, and none can be made

	mu    sync.Mutex // no other lock is taken while it is held
	list  map[string]*Recording
	bytes int64 // of all
}

var errNoFolder = errors.New("this host has no state folder for recordings")

// Open learns which recordings there are in a state folder; "": none, and none can be made. A file
// that is none is left alone, and the error names it.
func (s *Store) Open(stateDir string) error {
	s.list = map[string]*Recording{}
	if stateDir == "" {
		return nil
	}
	s.dir = filepath.Join(stateDir, recordingsDir)
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		id, live := strings.CutSuffix(e.Name(), liveSuffix)
		id, ended := strings.CutSuffix(id, endedSuffix)
		if live == ended {
			continue
		}
		about, st, damage := readAbout(filepath.Join(s.dir, e.Name()))
		if damage != nil {
			err = errors.Join(err, fmt.Errorf("%s/%s: %w", recordingsDir, e.Name(), damage))
			continue
		}
		r := &Recording{id: id, about: about, bytes: st.Size()}
		if ended {
			r.ended = st.ModTime()
		}
		s.list[id] = r
		s.bytes += r.bytes
	}
	return err
}

// pathLocked returns the name of a recording's file.
func (s *Store) pathLocked(r *Recording) string {
	if r.ended.IsZero() {
		return filepath.Join(s.dir, r.id+liveSuffix)
	}
	return filepath.Join(s.dir, r.id+endedSuffix)
}

// Find returns the recording of a name, or else the only one whose name begins so, of those that
// sees reports true for; nil: there is none.
func (s *Store) Find(name string, sees func(*About) bool) *Recording {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*Recording
	for id, r := range s.list {
		switch {
		case !sees(&r.about):
		case id == name:
			return r
		case name != "" && strings.HasPrefix(id, name):
			found = append(found, r)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return nil
}

// All returns all recordings, the oldest first.
func (s *Store) All() []*Recording {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sortedLocked(func(a, b *Recording) int {
		return cmp.Or(a.about.Began.Compare(b.about.Began), cmp.Compare(a.id, b.id))
	})
}

func (s *Store) sortedLocked(compare func(a, b *Recording) int) []*Recording {
	all := make([]*Recording, 0, len(s.list))
	for _, r := range s.list {
		all = append(all, r)
	}
	slices.SortFunc(all, compare)
	return all
}

// Excess returns the recordings to remove so that all take at most so many bytes (0: no bound): the
// oldest of the owner with the most comes first, and recordings in progress last. The caller ends
// and removes them, or skips one.
func (s *Store) Excess(most int64) iter.Seq[*Recording] {
	return func(yield func(*Recording) bool) {
		s.mu.Lock()
		all := s.sortedLocked(func(a, b *Recording) int {
			switch live, other := a.ended.IsZero(), b.ended.IsZero(); {
			case live && other:
				return a.about.Began.Compare(b.about.Began)
			case live:
				return 1
			case other:
				return -1
			}
			return a.ended.Compare(b.ended)
		})
		s.mu.Unlock()
		owner := func(r *Recording) string { return authz.Person(r.about.By) }
		for len(all) > 0 && s.Exceeds(most) {
			i := admit.OldestOfLargest(all, owner, s.Bytes)
			r := all[i]
			if all = slices.Delete(all, i, i+1); !yield(r) {
				return
			}
		}
	}
}

// Exceeds reports whether all take more than so many bytes; 0: no bound.
func (s *Store) Exceeds(most int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return most > 0 && s.bytes > most
}

// Bytes returns how large a recording is.
func (s *Store) Bytes(r *Recording) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.bytes
}

// Ended returns when a recording has ended; zero: it is in progress.
func (s *Store) Ended(r *Recording) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.ended
}

// grown notes the size of a recording.
func (s *Store) grown(r *Recording, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += bytes - r.bytes
	r.bytes = bytes
}

// End ends a recording; no Writer may add to it afterwards. at zero: it ended with the last write
// to its file. The file's modification time is the end, for the next host as well.
func (s *Store) End(r *Recording, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !r.ended.IsZero() {
		return
	}
	live := s.pathLocked(r)
	if !at.IsZero() {
		_ = os.Chtimes(live, time.Time{}, at) // else the last write is the end
	}
	st, err := os.Stat(live)
	if err != nil {
		return // the next host ends it
	}
	r.ended = st.ModTime()
	if os.Rename(live, s.pathLocked(r)) != nil {
		r.ended = time.Time{}
	}
}

// Remove deletes a recording that has ended.
func (s *Store) Remove(r *Recording) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list[r.id] != r {
		return nil
	}
	if err := os.Remove(s.pathLocked(r)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	delete(s.list, r.id)
	s.bytes -= r.bytes
	return nil
}

// Records calls visit with the records of a recording until visit returns false. from gets its
// start and returns where to begin. Payloads are valid only during the call. A partial last record
// becomes a Gap.
func (s *Store) Records(
	r *Recording, from func(start termlog.Spot) termlog.Spot, visit func(termlog.Record) bool,
) error {
	s.mu.Lock()
	f, err := statefile.Open(s.pathLocked(r), os.O_RDONLY, 0)
	ended := !r.ended.IsZero()
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("the recording %s cannot be read", r.id)
	}
	log, err := termlog.New([]*os.File{f}, 0)
	if err != nil {
		return fmt.Errorf("the recording %s is damaged", r.id)
	}
	defer log.Close()
	last := termlog.Record{Kind: termlog.Gap, Pos: log.End(), Payload: []byte(termlog.Damaged)}
	reader := termlog.NewReader(from(log.Start()))
	for {
		more, err := reader.Next(log)
		switch {
		case err != nil:
			return err
		case !more:
			// The end of one that goes on may just be written.
			if ended && (log.Torn() || log.Unfinished()) {
				visit(last)
			}
			return nil
		}
		if !reader.Each(func(rec termlog.Record) bool {
			last.Time = rec.Time
			return visit(rec)
		}) {
			return nil
		}
	}
}
