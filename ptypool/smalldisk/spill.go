package smalldisk

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// ErrSpill is the error of a [Spill] that fails.
var ErrSpill = errors.New("the disk fails")

// Spill takes the place of the file to which output is moved. It fails when Full or Torn is set.
type Spill struct {
	Bytes []byte
	Full  bool // Save fails
	Torn  bool // ReadAt fails

	mu sync.Mutex
}

// Save appends p, and returns the reader and the offset at which p can be read.
func (s *Spill) Save(p []byte) (io.ReaderAt, int64, error) {
	if s.Full {
		return nil, 0, ErrSpill
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Bytes = append(s.Bytes, p...)
	return s, int64(len(s.Bytes) - len(p)), nil
}

// ReadAt implements [io.ReaderAt].
func (s *Spill) ReadAt(p []byte, at int64) (int, error) {
	if s.Torn {
		return 0, ErrSpill
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.NewReader(s.Bytes).ReadAt(p, at)
}
