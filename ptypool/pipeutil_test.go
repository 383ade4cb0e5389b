package ptypool

import "golang.org/x/sys/unix"

// pipeIsFull reports whether a pipe that is written to takes nothing more.
func pipeIsFull(fd uintptr) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	n, err := unix.Poll(p, 0)
	return err == nil && n == 0
}

// unread returns how many bytes wait in a pipe.
func unread(fd uintptr) int {
	n, _ := unix.IoctlGetInt(int(fd), unix.TIOCINQ)
	return n
}

// pipeSize returns how many bytes a pipe can hold.
func pipeSize(fd uintptr) int {
	n, _ := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0)
	return n
}
