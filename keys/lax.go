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
	"time"
)

// MaxFileBytes bounds a key file, in bytes: room for some thousands of keys,
// small enough to be read in one go every time it changes.
const MaxFileBytes = 1 << 20

// freshFor is how long a changed file is read again at every look: the coarsest
// clock of a file system in use.
const freshFor = 2 * time.Second

// LaxError says that a file is not safe to take keys from.
type LaxError struct {
	// Path is the file, or the folder above it, that is at fault.
	Path string
	// Reason says what is wrong, Hint what to do about it.
	Reason, Hint string
}

// Error gives path, reason and hint in one line.
func (e *LaxError) Error() string {
	return fmt.Sprintf("keys: %s is refused: %s; %s", e.Path, e.Reason, e.Hint)
}

// inspector checks files as sshd's StrictModes does: on the resolved path, the
// file and every folder above it, up to a stop folder or the root, belong to us
// or to root and nobody else may write to them.
type inspector struct {
	uid   int      // whose files besides root's are trusted
	stops []string // resolved folders; nothing above one is checked for files below it
}

// newInspector trusts the effective user and stops at the given folders (the
// home and the state folder). A folder that cannot be resolved stops nothing.
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

// stamp is what a look at a file found. Two equal stamps mean that nothing
// changed in between: content, modes and owners, up to the clock's granularity.
type stamp string

// inspect checks path, which must be a regular file, and returns where it
// really is. The stamp is set whatever the result.
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
		return &LaxError{Path: path, Reason: "it is not a regular file", Hint: "name a file"}
	}
	return nil
}

func (i inspector) checkOwnerAndMode(path string, info fs.FileInfo) error {
	if uid := owner(info); uid != 0 && uid != i.uid {
		return &LaxError{Path: path, Reason: fmt.Sprintf("it belongs to uid %d", uid),
			Hint: fmt.Sprintf("run: chown %d %s", i.uid, path)}
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return &LaxError{Path: path, Reason: fmt.Sprintf("group or others may write to it (mode %04o)", mode),
			Hint: "run: chmod go-w " + path}
	}
	return nil
}

// owner returns the uid that a file belongs to.
func owner(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// describe lists what changes when a file's content, place or rights change.
func describe(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Sprintf("%v %d %v", info.Mode(), info.Size(), info.ModTime())
	}
	return fmt.Sprintf("%v %d %d %d %d %d.%d %d.%d", info.Mode(), st.Uid, info.Size(), st.Dev, st.Ino,
		st.Mtim.Sec, st.Mtim.Nsec, st.Ctim.Sec, st.Ctim.Nsec)
}

// read inspects path and returns its content, at most MaxFileBytes. The content
// comes from the very file that was inspected. An error wraps fs.ErrNotExist if
// there is no such file.
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

// readRegular reads the regular file path, at most limit bytes, which must still
// be the one that info describes. It neither follows a link put there since nor waits for a
// pipe's writer.
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

// readPrivate reads a file that only its owner may read, at most limit bytes: a
// private key or the token file. Parents are not checked, as sshd does not for host keys.
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
		return nil, &LaxError{Path: path, Reason: fmt.Sprintf("it belongs to uid %d", uid),
			Hint: fmt.Sprintf("run: chown %d %s", os.Geteuid(), path)}
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, &LaxError{Path: path, Reason: fmt.Sprintf("group or others have access to it (mode %04o)", mode),
			Hint: "run: chmod 600 " + path}
	}
	return readRegular(resolved, info, limit)
}

// reason strips the path off a file error, for messages that name it already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// isFresh reports whether path changed so recently that a further change might
// leave no trace in its times: file systems stamp them at the kernel's tick (at
// most 10 ms) or, on old ones, to two seconds.
func isFresh(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	changed := info.ModTime()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		if c := time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec)); c.After(changed) {
			changed = c
		}
	}
	return time.Since(changed).Abs() < freshFor
}
