package tty

import "golang.org/x/sys/unix"

// discardInput is tcflush(3) of what can be read.
func discardInput(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
