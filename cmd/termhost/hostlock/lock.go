// Package hostlock keeps two hosts from using one state folder at the same time: a host holds the
// folder's lock (flock(2)) while it runs. It also ends the host that holds the lock.
package hostlock

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"termhost/ptypool/statefile"
)

// FileName is the name of the lock in the state folder.
const FileName = "lock"

// Lock makes sure that no other host uses the state folder until the file is closed. The error, if
// there is one, is for the user. A folder that cannot be written is locked itself, which is logged:
// the host then works as far as it can.
func Lock(dir string, log *slog.Logger) (*os.File, error) {
	f, err := statefile.Open(filepath.Join(dir, FileName), os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, statefile.ErrNoFile) {
		return nil, fmt.Errorf("cannot lock the state folder: %w", err)
	}
	if err != nil {
		log.Warn("the state folder cannot be written; little of what happens is kept", "err", err)
		if f, err = statefile.OpenFolder(dir); err != nil {
			return nil, fmt.Errorf("cannot read the state folder: %w", err)
		}
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		by := ""
		if pid := holderOf(f); pid > 0 {
			by = fmt.Sprintf(" (process %d)", pid)
		}
		f.Close()
		return nil, fmt.Errorf("another termhost%s is running with the state folder %s; "+
			"stop it, or set state_dir", by, dir)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot lock the state folder: %w", err)
	}
	// The number is for people and for StopHolder: a full disk does not keep the host from
	// starting.
	if err := f.Truncate(0); err == nil {
		_, _ = fmt.Fprintln(f, os.Getpid())
	}
	return f, nil
}

// holderOf returns the process that holds a lock; 0: the file does not say.
func holderOf(lock *os.File) int {
	var b [20]byte
	n, _ := lock.ReadAt(b[:], 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil {
		return 0
	}
	return pid
}
