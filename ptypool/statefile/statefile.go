// Package statefile opens a program's own files, which may have been replaced: if there is a pipe,
// a folder or a dangling link instead of a file, it fails at once, whereas [os.Open] would wait for
// ever for a pipe's other end.
//
// Files are replaced in one step: see [Replace], and [Save] for what must outlive the machine's
// crash.
package statefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// maxBytes bounds what Read returns: more than any file of a state folder that is read whole.
const maxBytes = 64 << 20

// ErrNoFile is wrapped by the errors for what is no regular file.
var ErrNoFile = errors.New("move it away")

// Open opens a file as [os.OpenFile] does, without ever waiting. It refuses everything but files
// and devices such as /dev/null.
func Open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	flag |= unix.O_NONBLOCK | unix.O_CLOEXEC
	fd, err := unix.Open(path, flag, uint32(perm.Perm()))
	for err == unix.EINTR {
		fd, err = unix.Open(path, flag, uint32(perm.Perm()))
	}
	if err != nil {
		return nil, explain(path, &fs.PathError{Op: "open", Path: path, Err: err})
	}
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	if kind := st.Mode & unix.S_IFMT; err == nil && kind != unix.S_IFREG && kind != unix.S_IFCHR {
		err = explain(path, errors.New("it has just been something else than a file"))
	}
	if err == nil {
		err = unix.SetNonblock(fd, false)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// OpenFolder opens a folder, to lock it or to find what is in it.
func OpenFolder(path string) (*os.File, error) {
	f, err := os.OpenFile(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		why := fmt.Errorf("it is not a folder: %w", ErrNoFile)
		err = &fs.PathError{Op: "open", Path: path, Err: why}
	}
	return f, err
}

// Read returns the contents of a file.
func Read(path string) ([]byte, error) {
	f, err := Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(text) > maxBytes {
		err = &fs.PathError{Op: "read", Path: path, Err: unix.EFBIG}
	}
	return text, err
}

// explain says what there is instead of a file that could not be opened.
func explain(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return err
	}
	if errors.Is(err, unix.ELOOP) {
		return &fs.PathError{Op: "open", Path: path,
			Err: fmt.Errorf("it is a symbolic link that leads to itself: %w", ErrNoFile)}
	}
	if st, serr := os.Stat(path); serr == nil && !st.Mode().IsRegular() {
		return noFile(path, st.Mode())
	}
	return err
}

func noFile(path string, mode fs.FileMode) error {
	is := "something else than a file"
	switch mode.Type() {
	case fs.ModeDir:
		is = "a folder, not a file"
	case fs.ModeNamedPipe:
		is = "a pipe, not a file"
	case fs.ModeSocket:
		is = "a socket, not a file"
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it is %s: %w", is, ErrNoFile)}
}
