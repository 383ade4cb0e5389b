package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"termhost/ptypool/statefile"
)

const (
	notesFile = "host.journal" // in the state folder
	// maxNotes, in bytes, is after how much more the file is to be written anew: some thousand
	// connections.
	maxNotes = 1 << 20
)

// Notes are what a host must know again besides its terminals: a file with a line for each [Note].
// All methods may be called concurrently. The zero Notes keeps nothing.
type Notes struct {
	mu    sync.Mutex // no other lock is taken while it is held
	file  *os.File   // nil: nothing is kept
	added int        // bytes since the file was written anew
	told  bool       // that it cannot be written
}

// Note is one line. One of the fields is set. A later note replaces an earlier one about the same
// thing.
type Note struct {
	Client  *Client  `json:"client,omitempty"`
	Used    *Used    `json:"used,omitempty"`
	Spent   *Spent   `json:"spent,omitempty"`
	Guarded *Guarded `json:"guarded,omitempty"`
	Asks    int64    `json:"asks,omitempty"` // how many asks have been named
}

// Client is a clientId and the principal that it is bound to.
type Client struct {
	ID        string    `json:"id"`
	Principal string    `json:"principal"` // its ID
	Name      string    `json:"name"`
	Number    int       `json:"page,omitempty"` // of those of one name; at first only pages had one
	Version   string    `json:"version"`
	Left      time.Time `json:"left,omitzero"` // zero: it is connected
}

// Used is which terminal a principal used last.
type Used struct {
	Principal string    `json:"principal"` // its ID
	Terminal  string    `json:"terminal"`  // its URI
	Created   time.Time `json:"created"`
	At        time.Time `json:"at"`
}

// Spent is a number of a NAME that is not given again; Base "": of any NAME.
type Spent struct {
	Base string `json:"base,omitempty"`
	N    int    `json:"n"`
}

// Guarded records whether a NAME stays guarded.
type Guarded struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
}

// ReadNotes calls visit with an earlier host's notes. It moves a damaged file aside and returns an
// error, after visiting what is whole. stateDir "": there are none.
func ReadNotes(stateDir string, visit func(Note)) error {
	if stateDir == "" {
		return nil
	}
	path := filepath.Join(stateDir, notesFile)
	text, err := statefile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	damaged := 0
	for line := range bytes.Lines(text) {
		var n Note
		switch {
		case json.Unmarshal(line, &n) == nil:
			visit(n)
		case bytes.HasSuffix(line, []byte("\n")), !bytes.HasPrefix(line, []byte("{")):
			damaged++ // else the last host was killed while writing it
		}
	}
	if damaged > 0 {
		err = fmt.Errorf("%d lines of it are damaged", damaged)
	}
	if err != nil {
		to := path + damagedSuffix
		err = fmt.Errorf("it is left as %s: %w", to, errors.Join(err, os.Rename(path, to)))
	}
	return err
}

// Rewrite writes the file anew with what each adds, and opens it for more. Concurrent additions
// wait and come behind. It fails only once: see Add. stateDir "": nothing is kept.
func (ns *Notes) Rewrite(stateDir string, each func(add func(Note))) error {
	if stateDir == "" {
		return nil
	}
	ns.mu.Lock()
	defer ns.mu.Unlock()
	var text []byte
	each(func(n Note) { text = n.append(text) })
	path := filepath.Join(stateDir, notesFile)
	err := statefile.Replace(path, text)
	if err == nil {
		ns.closeLocked()
		ns.file, err = statefile.Open(path, os.O_WRONLY|os.O_APPEND, 0)
		ns.added = 0
	}
	return ns.failed(err)
}

// Add adds a note. When the file cannot be written, the next host knows less; only the first call
// that finds that fails.
func (ns *Notes) Add(n Note) error {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if ns.file == nil {
		return nil
	}
	added, err := ns.file.Write(n.append(nil))
	ns.added += added
	return ns.failed(err)
}

func (n Note) append(dst []byte) []byte { return append(append(dst, encode(n)...), '\n') }

// failed returns err if it is the first one.
func (ns *Notes) failed(err error) error {
	if err == nil || ns.told {
		return nil
	}
	ns.told = true
	return err
}

// Long reports whether the file should be written anew, because so much has been added.
func (ns *Notes) Long() bool {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	return ns.added > maxNotes
}

// Close ends the notes. What is added afterwards is lost.
func (ns *Notes) Close() {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.closeLocked()
}

func (ns *Notes) closeLocked() {
	if ns.file != nil {
		ns.file.Close()
		ns.file = nil
	}
}
