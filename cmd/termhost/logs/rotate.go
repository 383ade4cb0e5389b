package logs

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"

	"termhost/ptypool/statefile"
)

// rotated is a file of bounded size that lines are appended to. A line that cannot be written is
// lost, which is logged.
type rotated struct {
	path string
	most int64 // in bytes
	log  *slog.Logger

	mu   sync.Mutex
	f    *os.File // nil: it is closed
	size int64
	torn bool // the last line lacks its end, because the disk was full or the host was killed
}

// Write appends a line.
func (r *rotated) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.writeLocked(line); err != nil {
		r.log.Error("an audit record is lost", "reason", err.Error(), "file", r.path)
		return 0, err
	}
	return len(line), nil
}

func (r *rotated) writeLocked(line []byte) error {
	if r.f == nil {
		return os.ErrClosed
	}
	if r.size > 0 && r.size+int64(len(line)) > r.most {
		if err := r.nextLocked(); err != nil {
			return err
		}
	}
	if r.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := r.f.Write(line)
	r.size += int64(n)
	if n > 0 {
		r.torn = n < len(line)
	}
	return err
}

// nextLocked begins a new file.
func (r *rotated) nextLocked() error {
	err := os.Rename(r.path, r.path+".1")
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // somebody else may have moved it
		return err
	}
	return r.openLocked()
}

// Reopen opens the file at the path, which may be another one than it was.
func (r *rotated) Reopen() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.openLocked()
}

func (r *rotated) openLocked() error {
	f, err := statefile.Open(r.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("the audit log cannot be opened: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return fmt.Errorf("the audit log cannot be opened: %w", err)
	}
	if r.f != nil {
		r.f.Close()
	}
	r.f, r.size, r.torn = f, info.Size(), false
	var last [1]byte
	if n, _ := f.ReadAt(last[:], r.size-1); n == 1 {
		r.torn = last[0] != '\n'
	}
	return nil
}

// Close closes the file. What is written later is lost.
func (r *rotated) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.f == nil {
		return nil
	}
	err := r.f.Close()
	r.f = nil
	return err
}
