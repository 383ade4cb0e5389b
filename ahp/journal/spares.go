package journal

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"termhost/ptypool/statefile"
	"termhost/ptypool/termlog"
)

const (
	sparesDir = "spare" // in the state folder
	// spareFolders is the number of spares: as many as people and agents usually create terminals
	// at once. Further terminals wait for a new folder.
	spareFolders = 4
)

// Spares are folders for future terminals, with the files that a [Journal] begins with. Making the
// files takes longer than everything else that a journal does before the program runs, so they are
// made ahead. A spare becomes a terminal's folder when it is moved into the folder of the
// terminals. The next host deletes the spares that a killed host has left.
//
// Fill and Remove must not be called concurrently with each other; the other methods may be called
// at any time. The zero Spares has no spares.
type Spares struct {
	mu    sync.Mutex // no other lock is taken while it is held
	dir   string     // "": none are made
	ready []spare
}

// spare is one spare folder.
type spare struct {
	dir  string
	log  *termlog.Log // empty; nil: there is no log
	size int64        // the size that termlog.Create was given; 0: there is no log
}

func (s spare) discard() {
	if s.log != nil {
		s.log.Close()
	}
	os.RemoveAll(s.dir)
}

// Open makes an empty folder of spares in the state folder. After an error no spares are made.
func (s *Spares) Open(stateDir string) error {
	dir := filepath.Join(stateDir, sparesDir)
	old, err := statefile.OpenFolder(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		old.Close()
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	s.dir = dir
	return nil
}

// Fill makes the missing spares, and replaces the spares whose logs do not have size bytes. If size
// is 0, spares have no log. If Fill fails, as on a full disk, terminals get new folders and report
// the error.
func (s *Spares) Fill(size int64) {
	for s.wanting(size) {
		made, err := makeSpare(s.dir, size)
		if err != nil {
			made.discard()
			return
		}
		s.mu.Lock()
		s.ready = append(s.ready, made)
		s.mu.Unlock()
	}
}

// wanting reports whether a spare is missing. It discards all spares if their logs have another
// size.
func (s *Spares) wanting(size int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ready) > 0 && s.ready[0].size != size {
		for _, old := range s.ready {
			old.discard()
		}
		s.ready = nil
	}
	return s.dir != "" && len(s.ready) < spareFolders
}

func makeSpare(in string, size int64) (s spare, err error) {
	s = spare{dir: filepath.Join(in, rand.Text()), size: size}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return s, err
	}
	if err := statefile.Prepare(filepath.Join(s.dir, descriptionFile)); err != nil {
		return s, err
	}
	if size > 0 {
		s.log, err = termlog.Create(s.dir, size)
	}
	return s, err
}

// use moves a spare to the folder to, which must not exist, and returns its log of at most size
// bytes. It returns nil if no spare has such a log, or if size is 0.
func (s *Spares) use(to string, size int64) *termlog.Log {
	s.mu.Lock()
	n := len(s.ready)
	if n == 0 || s.ready[n-1].size != size {
		s.mu.Unlock()
		return nil
	}
	one := s.ready[n-1]
	s.ready = s.ready[:n-1]
	s.mu.Unlock()
	if os.Rename(one.dir, to) != nil {
		one.discard()
		return nil
	}
	if one.log != nil {
		one.log.Moved(to)
	}
	return one.log
}

// Remove deletes all spares.
func (s *Spares) Remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.ready {
		one.discard()
	}
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
	s.ready, s.dir = nil, ""
}
