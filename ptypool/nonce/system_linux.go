package nonce

import (
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// FIFOs reports whether a Grant may have a FIFO: whether it can be known who has it open.
const FIFOs = true

// opened reports whether process pid has the file open that f is.
func opened(pid int, f *os.File) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	fds, _ := os.ReadDir(dir)
	want, err := f.Stat()
	for _, fd := range fds {
		st, ferr := os.Stat(filepath.Join(dir, fd.Name()))
		if err == nil && ferr == nil && os.SameFile(st, want) {
			return true
		}
	}
	return false
}

// Undumpable makes this process's memory readable by root only: it leaves no core dump, and
// /proc/PID/mem and the like belong to root (PR_SET_DUMPABLE of prctl(2)). It does not affect
// programs that are started.
func Undumpable() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
