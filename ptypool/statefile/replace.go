package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// newSuffix ends the name of the file that Replace writes to first.
const newSuffix = ".new"

// Replace makes text the content of a file of mode 0600 in one step: a reader, or the next process
// after a crash of this one, finds either the old content or all of the new. It does not wait until
// the disk has it. Only one caller at a time may replace a file.
func Replace(path string, text []byte) error {
	f, err := Open(path+newSuffix, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return place(f, text, func() error { return nil }, func() error {
		return os.Rename(f.Name(), path)
	})
}

// Prepare makes the file to which the next Replace of path writes, so that Replace takes less time.
func Prepare(path string) error {
	f, err := Open(path+newSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// Save is Replace for what a crash of the machine must not lose: when it returns, the disk has the
// file, which is of the given mode. Several callers may save a file at once.
func Save(path string, text []byte, mode fs.FileMode) error {
	return save(path, text, chmod(mode), func(temp string) error { return os.Rename(temp, path) })
}

// SaveFor is Save for a file that belongs to the owner of like.
func SaveFor(like fs.FileInfo, path string, text []byte, mode fs.FileMode) error {
	return save(path, text, func(f *os.File) error {
		return errors.Join(giveTo(f, like), f.Chmod(mode))
	}, func(temp string) error { return os.Rename(temp, path) })
}

// giveTo gives a file to the owner of another one. Only root can do that, and the group is the
// owner's to choose: a group that this process is not in is given up.
func giveTo(f *os.File, like fs.FileInfo) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	is, isStat := st.Sys().(*syscall.Stat_t)
	want, wantStat := like.Sys().(*syscall.Stat_t)
	if !isStat || !wantStat || is.Uid == want.Uid && is.Gid == want.Gid {
		return nil
	}
	err = f.Chown(int(want.Uid), int(want.Gid))
	if is.Uid == want.Uid {
		return nil
	}
	return err
}

// Create is Save for a file that must not exist yet: the error wraps [fs.ErrExist] then, and the
// file stays as it is. Of several callers at once one succeeds.
func Create(path string, text []byte, mode fs.FileMode) error {
	return save(path, text, chmod(mode), func(temp string) error {
		defer os.Remove(temp)
		return os.Link(temp, path)
	})
}

func chmod(mode fs.FileMode) func(*os.File) error {
	return func(f *os.File) error { return f.Chmod(mode) }
}

// save writes a temporary file beside path, which fit gives its mode and move then moves there.
func save(path string, text []byte, fit func(*os.File) error, move func(temp string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // 0600
	if err != nil {
		return err
	}
	settle := func() error { return errors.Join(fit(f), f.Sync()) }
	return place(f, text, settle, func() error {
		if err := move(f.Name()); err != nil {
			return err
		}
		return syncFolder(filepath.Dir(path))
	})
}

// place writes text to f, calls settle, closes f and calls move. If any of that fails, it removes
// f's file.
func place(f *os.File, text []byte, settle, move func() error) error {
	// An empty file is not truncated: that would cost a file system as much as making it.
	st, err := f.Stat()
	if err == nil && st.Size() > 0 {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.Write(text)
	}
	if err == nil {
		err = settle()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = move()
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// syncFolder brings new and changed names in a folder to the disk.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
