//go:build !linux

package tty

import "golang.org/x/sys/unix"

// discardInput is tcflush(3) of what can be read: FREAD, of sys/fcntl.h, by tty(4).
func discardInput(fd int) error {
	const read = 1
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, read)
}
