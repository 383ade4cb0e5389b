package drops

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// MaxBytes bounds a file, in bytes: a picture of a large screen has a few MiB.
	MaxBytes = 10 << 20
	// MaxFiles bounds the files of a terminal, those that are still coming included.
	MaxFiles = 50
	// Age is how long a file is kept.
	Age = 24 * time.Hour

	dropsDir   = "drops" // in the state folder
	goneSuffix = " gone" // ends the names of folders that are being removed: no ID has a blank
	partPrefix = ".part" // begins the names of files that are still coming
)

var (
	errNoFolder = errors.New("this host has no state folder to keep files in")
	// ErrTooLarge: the file has more than MaxBytes.
	ErrTooLarge = errors.New("the file has more than 10 MiB: copy it to the host with sftp")
	// ErrTooMany: the terminal has MaxFiles already.
	ErrTooMany = errors.New("the terminal has " + strconv.Itoa(MaxFiles) +
		" files, which go after a day: delete some of them")
)

// Store has the files of a host's terminals. All methods but Open may be called concurrently.
type Store struct {
	dir string // "": there are none, and none can be made
	mu  sync.Mutex
	n   int // of parts, ever
}

// Open sets the state folder; "": no files are kept. It deletes the files of terminals of which
// live is false, by ID, and what an earlier host has received half.
func (s *Store) Open(stateDir string, live func(id string) bool) error {
	if stateDir == "" {
		return nil
	}
	s.dir = filepath.Join(stateDir, dropsDir)
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if path := filepath.Join(s.dir, e.Name()); !live(e.Name()) {
			err = errors.Join(err, os.RemoveAll(path))
			continue
		}
		parts, _ := filepath.Glob(filepath.Join(s.dir, e.Name(), partPrefix+"*"))
		for _, part := range parts {
			err = errors.Join(err, os.Remove(part))
		}
	}
	return err
}

// Create begins a file for a terminal. The ID is the name of its folder. The caller must call
// [File.Keep] or [File.Discard].
func (s *Store) Create(id string) (*File, error) {
	if s.dir == "" {
		return nil, errNoFolder
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := filepath.Join(s.dir, id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	// A program in the terminal can replace the folder. What is written stays below it all the
	// same.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err == nil && len(entries) >= MaxFiles {
		err = ErrTooMany
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	s.n++
	part := partPrefix + strconv.Itoa(s.n)
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &File{store: s, root: root, f: f, dir: dir, part: part}, nil
}

// Remove takes a terminal's files away, and returns a folder to be deleted; "": there is none.
func (s *Store) Remove(id string) (rubbish string) {
	if s.dir == "" {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := filepath.Join(s.dir, id)
	s.n++
	rubbish = dir + "." + strconv.Itoa(s.n) + goneSuffix
	if os.Rename(dir, rubbish) != nil {
		return ""
	}
	return rubbish
}

// Expire deletes the files that are older than Age at a time, and folders that are empty then.
func (s *Store) Expire(now time.Time) {
	if s.dir == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	folders, _ := os.ReadDir(s.dir) // what cannot be read is tried again later
	for _, folder := range folders {
		if !folder.IsDir() || strings.HasSuffix(folder.Name(), goneSuffix) {
			continue
		}
		path := filepath.Join(s.dir, folder.Name())
		files, _ := os.ReadDir(path)
		for _, f := range files {
			if info, err := f.Info(); err == nil && now.Sub(info.ModTime()) >= Age {
				_ = os.RemoveAll(filepath.Join(path, f.Name()))
			}
		}
		_ = os.Remove(path) // unless it has files still
	}
}
