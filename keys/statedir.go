package keys

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// EnsureStateDir makes the state folder, of mode 0700, and the folders that are missing above it.
// If it exists, it must belong to the host's user or root, and nobody else may write to it
// (*StrictModesError); others lose the right to read it. No folder above it may be writable by
// everybody. It may be writable by its group: on many systems each user has a group of their own.
func EnsureStateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keys: the state folder cannot be made: %w; "+
			"set state_dir to a folder you may write to", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("keys: the state folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf(
			"keys: the state folder %s is not a folder; set state_dir to another", dir)
	}
	if err := (inspector{uid: os.Geteuid()}).checkOwnerAndMode(dir, info); err != nil {
		return err
	}
	if err := checkAbove(dir); err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("keys: the state folder: %w; run: chmod 700 %s", err, dir)
		}
	}
	return nil
}

// checkAbove returns an error if everybody may write to a folder above dir, unless that is sticky,
// as /tmp is: there only the owner of an entry can replace it.
func checkAbove(dir string) error {
	resolved, err := filepath.EvalSymlinks(dir)
	if err == nil {
		resolved, err = filepath.Abs(resolved)
	}
	for err == nil && resolved != filepath.Dir(resolved) {
		resolved = filepath.Dir(resolved)
		var info fs.FileInfo
		if info, err = os.Stat(resolved); err != nil {
			break
		}
		if mode := info.Mode(); mode&0o002 != 0 && mode&fs.ModeSticky == 0 {
			return &StrictModesError{
				Path: resolved,
				Reason: fmt.Sprintf(
					"everybody may write to it (mode %04o), and the state folder is in it",
					mode.Perm()),
				Hint: "run: chmod o-w " + resolved,
			}
		}
	}
	if err != nil {
		return fmt.Errorf("keys: the state folder: %w", err)
	}
	return nil
}
