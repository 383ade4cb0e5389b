package keys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// MaxFileBytes bounds a key file, in bytes. Some thousands of keys fit, and it can be read whole
// whenever it changes.
const MaxFileBytes = 1 << 20

// StrictModesError says that a file with keys cannot be trusted, because others than its owner
// could change it. It is named after sshd's option StrictModes.
type StrictModesError struct {
	// Path is the file that is not safe, or the folder above it.
	Path string
	// Reason states the fault, and Hint the remedy.
	Reason, Hint string
}

// Error has path, reason and hint in one line.
func (e *StrictModesError) Error() string {
	return fmt.Sprintf("keys: %s is refused: %s; %s", e.Path, e.Reason, e.Hint)
}

// inspector checks files as sshd does with StrictModes. On the resolved path, the file and the
// folders above it, up to one of the stops, must belong to the host's user or root, and nobody else
// may have the right to write to them.
type inspector struct {
	uid   int      // of the host's user
	stops []string // resolved folders; for a file below one, no folder above that is checked
}

// newInspector returns an inspector for the process's effective user. A stop that cannot be
// resolved is ignored.
func newInspector(stops ...string) inspector {
	i := inspector{uid: os.Geteuid()}
	for _, stop := range stops {
		if stop == "" {
			continue
		}
		if resolved, err := filepath.EvalSymlinks(stop); err == nil {
			i.stops = append(i.stops, resolved)
		}
	}
	return i
}

// stamp describes a file as it was found. If two stamps are equal, then content, modes and owners
// are, unless two changes were so close together that they have the same time.
type stamp string

// inspect checks path, which must be a regular file, and returns its resolved path. It returns a
// stamp even if the check fails.
func (i inspector) inspect(path string) (string, stamp, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", stamp("unresolved: " + reason(err).Error()), err
	}
	info, err := os.Lstat(resolved)
	if err != nil {
		return "", stamp("missing"), err
	}
	var seen strings.Builder
	fmt.Fprintf(&seen, "%s %s", resolved, describe(info))
	fail := checkFile(resolved, info)
	if fail == nil {
		fail = i.checkOwnerAndMode(resolved, info)
	}
	for folder := filepath.Dir(resolved); ; folder = filepath.Dir(folder) {
		info, err := os.Lstat(folder)
		if err != nil {
			return "", stamp(seen.String()), err
		}
		fmt.Fprintf(&seen, " %v %d", info.Mode(), owner(info))
		if fail == nil {
			fail = i.checkOwnerAndMode(folder, info)
		}
		if i.stopsAt(folder) {
			break
		}
	}
	return resolved, stamp(seen.String()), fail
}

func (i inspector) stopsAt(folder string) bool {
	for _, stop := range i.stops {
		if folder == stop {
			return true
		}
	}
	return folder == filepath.Dir(folder)
}

func checkFile(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return &StrictModesError{Path: path,
			Reason: "it is not a regular file", Hint: "put a file in its place, or move it away"}
	}
	return nil
}

func (i inspector) checkOwnerAndMode(path string, info fs.FileInfo) error {
	if uid := owner(info); uid != 0 && uid != i.uid {
		return &StrictModesError{Path: path, Reason: fmt.Sprintf("it belongs to uid %d", uid),
			Hint: fmt.Sprintf("run: chown %d %s", i.uid, path)}
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return &StrictModesError{Path: path,
			Reason: fmt.Sprintf("group or others may write to it (mode %04o)", mode),
			Hint:   "run: chmod go-w " + path}
	}
	return nil
}

// owner returns the uid of a file's owner.
func owner(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// describe returns a text that changes when the file's content, mode or owner changes, or when
// another file replaces it.
func describe(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Sprintf("%v %d %v", info.Mode(), info.Size(), info.ModTime())
	}
	return fmt.Sprintf("%v %d %d %d %d %d.%d %d.%d",
		info.Mode(), st.Uid, info.Size(), st.Dev, st.Ino,
		st.Mtim.Sec, st.Mtim.Nsec, st.Ctim.Sec, st.Ctim.Nsec)
}

// read inspects path and returns its content, at most MaxFileBytes, from the very file that was
// inspected. If there is no such file, the error wraps fs.ErrNotExist.
func (i inspector) read(path string) ([]byte, stamp, error) {
	resolved, seen, err := i.inspect(path)
	if err != nil {
		return nil, seen, err
	}
	before, err := os.Lstat(resolved)
	if err != nil {
		return nil, seen, err
	}
	data, err := readRegular(resolved, before, MaxFileBytes)
	return data, seen, err
}

// readRegular reads a regular file, at most limit bytes, which must still be the one that info
// describes. If path has become a symbolic link, it does not follow it, and if it has become a
// pipe, it does not wait for a writer.
func readRegular(path string, info fs.FileInfo, limit int) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(info, now) || info.Mode() != now.Mode() || owner(info) != owner(now) {
		return nil, fmt.Errorf("keys: %s changed while it was read", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > limit {
		return nil, fmt.Errorf("keys: %s is larger than %d bytes", path, limit)
	}
	return data, nil
}

// readPrivate reads a file to which only its owner may have access, at most limit bytes: a private
// key or the token file. Like sshd for host keys, it does not check the folders above it.
func readPrivate(path string, limit int) ([]byte, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(resolved)
	if err != nil {
		return nil, err
	}
	if err := checkFile(resolved, info); err != nil {
		return nil, err
	}
	if uid := owner(info); uid != 0 && uid != os.Geteuid() {
		return nil, &StrictModesError{Path: path, Reason: fmt.Sprintf("it belongs to uid %d", uid),
			Hint: fmt.Sprintf("run: chown %d %s", os.Geteuid(), path)}
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, &StrictModesError{Path: path,
			Reason: fmt.Sprintf("group or others have access to it (mode %04o)", mode),
			Hint:   "run: chmod 600 " + path}
	}
	return readRegular(resolved, info, limit)
}

// reason returns a file error without the path, for messages that have the path already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
