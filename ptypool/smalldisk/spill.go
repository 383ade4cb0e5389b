package smalldisk

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// ErrSpill is how a [Spill] fails.
var ErrSpill = errors.New("the disk fails")

// Spill stands for the file that output is moved to. It fails when it is told to.
type Spill struct {
	Bytes []byte
	Full  bool // nothing more is taken
	Torn  bool // nothing can be read any more

	mu sync.Mutex
}

// Save takes p, and returns what it can be read from, and where.
func (s *Spill) Save(p []byte) (io.ReaderAt, int64, error) {
	if s.Full {
		return nil, 0, ErrSpill
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Bytes = append(s.Bytes, p...)
	return s, int64(len(s.Bytes) - len(p)), nil
}

// ReadAt is io.ReaderAt's.
func (s *Spill) ReadAt(p []byte, at int64) (int, error) {
	if s.Torn {
		return 0, ErrSpill
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.NewReader(s.Bytes).ReadAt(p, at)
}
