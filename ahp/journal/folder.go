package journal

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	foldersDir      = "terms" // in the state folder
	descriptionFile = "meta"  // in the folder of a terminal
	exitFile        = "exit"  // likewise: how the terminal ended

	// goneSuffix and damagedSuffix end the names of folders of terminals that are being removed,
	// and of folders and files that cannot be read.
	goneSuffix    = ".gone"
	damagedSuffix = ".damaged"

	// scratchPrefix begins the names of scratch files, until these are unlinked a moment later. No
	// terminal's folder begins so.
	scratchPrefix = ".spill-"
)

// Folders is the folder in which the terminals' folders are; "": nothing is kept.
type Folders string

// OpenFolders makes the folder in a state folder if it is missing. It returns the folder even
// with an error: a full disk may have room later.
func OpenFolders(stateDir string) (Folders, error) {
	dir := filepath.Join(stateDir, foldersDir)
	return Folders(dir), os.MkdirAll(dir, 0o700)
}

// New returns the path of a folder for a new terminal. It does not make the folder.
func (f Folders) New() string { return f.Of(rand.Text()) }

// Of returns the folder of a terminal by its ID.
func (f Folders) Of(id string) string { return filepath.Join(string(f), id) }

// Left is the content of Folders when a host starts.
type Left struct {
	Terminals []string // the IDs of terminals that an earlier host has left
	Removed   []string // the IDs of those that it had removed; their folders are deleted
	Others    []string // the paths of other files
}

// Left lists the folders. It deletes those that an earlier host had no time to delete.
func (f Folders) Left() (l Left, err error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, e := range entries {
		path := f.Of(e.Name())
		switch id, gone := strings.CutSuffix(e.Name(), goneSuffix); {
		case gone:
			l.Removed = append(l.Removed, id)
			os.RemoveAll(path)
		case strings.HasPrefix(id, scratchPrefix):
			os.Remove(path) // its host was killed before it had unlinked the file
		case strings.HasSuffix(id, damagedSuffix):
		case !e.IsDir():
			l.Others = append(l.Others, path)
		default:
			l.Terminals = append(l.Terminals, id)
		}
	}
	return l, err
}

// SetAside renames the folder of a terminal that cannot be read, and returns its new path.
func SetAside(dir string) (to string) {
	to = dir + damagedSuffix
	if os.Rename(dir, to) != nil {
		return dir
	}
	return to
}

// setLogAside moves a log that cannot be read, to make room for a new one.
func setLogAside(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); strings.HasPrefix(e.Name(), "log.") {
			err = errors.Join(err, os.Rename(path, path+damagedSuffix))
		}
	}
	return err
}

// Scratch returns a file without a name, which is deleted when it is closed or the process ends.
func (f Folders) Scratch() (*os.File, error) {
	file, err := os.CreateTemp(string(f), scratchPrefix)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
