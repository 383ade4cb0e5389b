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
	// maxNotes is how many bytes are added before the file is rewritten: some thousand connections.
	maxNotes = 1 << 20
)

// Notes keeps what the next host must know besides terminals: a file with a line for each [Note].
// All methods may be called concurrently. The zero Notes keeps nothing.
type Notes struct {
	mu    sync.Mutex // no other lock is taken while it is held
	file  *os.File   // nil: nothing is kept
	added int        // bytes since the file was rewritten
	told  bool       // a caller has had the error of a write
}

// Note is one line. Exactly one field is set. A later note replaces an earlier one about the same
// thing.
type Note struct {
	Client  *Client  `json:"client,omitempty"`
	Used    *Used    `json:"used,omitempty"`
	Spent   *Spent   `json:"spent,omitempty"`
	Guarded *Guarded `json:"guarded,omitempty"`
	Asks    int64    `json:"asks,omitempty"` // the number of the last ask's name
	// Lines begins a file: how many lines it has at least, this one included. Files of earlier
	// versions have none.
	Lines int `json:"lines,omitempty"`
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

// ReadNotes calls visit with an earlier host's notes. If the file is damaged, empty or too short,
// it visits the intact notes, moves the file aside and returns an error. stateDir "": there are
// none.
func ReadNotes(stateDir string, visit func(Note)) error {
	if stateDir == "" {
		return nil
	}
	path := filepath.Join(stateDir, notesFile)
	text, err := statefile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	damaged, intact, least := 0, 0, 0
	for line := range bytes.Lines(text) {
		var n Note
		switch {
		case json.Unmarshal(line, &n) == nil && n.Lines > 0:
			intact, least = intact+1, n.Lines
		case json.Unmarshal(line, &n) == nil:
			intact++
			visit(n)
		case bytes.HasSuffix(line, []byte("\n")), !bytes.HasPrefix(line, []byte("{")), least > 0:
			damaged++ // else an earlier version was writing the line when it was killed
		}
	}
	switch {
	case err != nil:
	case len(text) == 0: // as versions without Lines left it if there was nothing to note
		err = errors.New("it is empty")
	case intact == 0:
		err = errors.New("nothing of it can be read")
	case damaged > 0:
		err = fmt.Errorf("%d lines of it are damaged", damaged)
	case intact < least:
		err = fmt.Errorf("its end is missing: it has %d of %d lines", intact, least)
	}
	if err != nil {
		to := path + damagedSuffix
		err = fmt.Errorf("it is left as %s: %w", to, errors.Join(err, os.Rename(path, to)))
	}
	return err
}

// Rewrite replaces the file by the notes that each adds, and opens it for more. Concurrent calls of
// Add wait and come after them. It fails only once: see Add. stateDir "": nothing is kept.
func (ns *Notes) Rewrite(stateDir string, each func(add func(Note))) error {
	if stateDir == "" {
		return nil
	}
	ns.mu.Lock()
	defer ns.mu.Unlock()
	var text []byte
	lines := 1
	each(func(n Note) { text, lines = n.append(text), lines+1 })
	text = append(Note{Lines: lines}.append(nil), text...)
	path := filepath.Join(stateDir, notesFile)
	err := statefile.Replace(path, text)
	if err == nil {
		ns.closeLocked()
		ns.file, err = statefile.Open(path, os.O_WRONLY|os.O_APPEND, 0)
		ns.added = 0
	}
	return ns.failed(err)
}

// Add adds a note. If the file cannot be written, the note is lost to the next host; only the first
// such call returns an error.
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

// Long reports whether the file has become so long that it should be rewritten.
func (ns *Notes) Long() bool {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	return ns.added > maxNotes
}

// Close closes the file. Notes that are added afterwards are lost.
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
