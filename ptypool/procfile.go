package ptypool

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// maxProcFile, in bytes, bounds what is read of a file: an environment may have more than a usual
// ARG_MAX (2 MiB).
const maxProcFile = 8 << 20

// procReader reads files of /proc into one buffer. A scan reads two of every process, so each takes
// three system calls; an os.File takes twice as many.
type procReader struct{ buf []byte }

// read returns a file's text, or its first maxProcFile bytes. It is valid until the next call.
func (r *procReader) read(path string) ([]byte, error) {
	fd, err := uninterrupted(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	r.buf = slices.Grow(r.buf[:0], 4<<10)
	for len(r.buf) < maxProcFile {
		room := r.buf[len(r.buf):cap(r.buf)]
		n, err := uninterrupted(func() (int, error) { return unix.Read(fd, room) })
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
		r.buf = r.buf[:len(r.buf)+n]
		if n < len(room) {
			break // these files fill what they are given, up to their end
		}
		r.buf = slices.Grow(r.buf, len(r.buf))
	}
	return r.buf, nil
}

// uninterrupted repeats a system call that a signal has interrupted.
func uninterrupted(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); err != unix.EINTR {
			return n, err
		}
	}
}
