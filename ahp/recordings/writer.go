package recordings

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"termhost/ahp/journal"
	"termhost/ptypool/statefile"
	"termhost/ptypool/termlog"
)

// Writer adds to a recording in progress. Its methods are called one at a time. The caller ends the
// recording when it has closed the Writer: see [Store.End].
type Writer struct {
	*Recording
	store *Store
	log   *termlog.Log
}

// Create begins a recording of at most size bytes at the position first of a terminal's output. It
// is named after the terminal and the time.
func (s *Store) Create(about About, size, first int64) (*Writer, error) {
	if s.dir == "" {
		return nil, errNoFolder
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	base := about.Terminal + "-" + about.Began.UTC().Format("20060102T150405")
	id := base
	for n := 2; s.list[id] != nil; n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	about.Format = journal.Format
	r := &Recording{id: id, about: about}
	f, err := statefile.Open(s.pathLocked(r), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	log, err := termlog.NewAt(f, size, first)
	if err == nil {
		text, _ := json.Marshal(&about) // plain fields: it cannot fail
		if _, err = log.Append(termlog.Description, about.Began, text); err != nil {
			log.Close()
		}
	}
	if err != nil {
		os.Remove(s.pathLocked(r))
		return nil, err
	}
	s.list[id] = r
	return &Writer{r, s, log}, nil
}

// Reopen returns a Writer for a recording in progress that has none.
func (s *Store) Reopen(r *Recording) (*Writer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := statefile.Open(s.pathLocked(r), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	log, err := termlog.New([]*os.File{f}, 0)
	if err != nil {
		return nil, err
	}
	return &Writer{r, s, log}, nil
}

// Fits reports whether the file has room for a record of so many bytes.
func (w *Writer) Fits(bytes int) bool {
	return w.log.Room() >= int64(bytes)+termlog.RecordOverhead
}

// Write adds a record. What does not fit is left out.
func (w *Writer) Write(kind termlog.Kind, at time.Time, payload []byte) error {
	if !w.Fits(len(payload)) {
		return nil
	}
	_, err := w.log.Append(kind, at, payload)
	return w.grown(err)
}

// Skip adds a Gap of n bytes, and why they are missing, which must fit.
func (w *Writer) Skip(n int64, at time.Time, why string) error {
	return w.grown(w.log.Skip(n, at, why))
}

func (w *Writer) grown(err error) error {
	if err == nil {
		w.store.grown(w.Recording, w.log.Size())
	}
	return err
}

// End returns the position in the terminal's output that the recording has reached.
func (w *Writer) End() int64 { return w.log.End() }

// Last returns when the last record was made that comes behind all output; zero: there is none.
func (w *Writer) Last() (at time.Time) {
	_ = w.log.Read(w.log.End(), func(r termlog.Record) bool { at = r.Time; return true })
	return at
}

// Close ends the writing.
func (w *Writer) Close() { w.log.Close() }
