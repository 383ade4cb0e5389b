//go:build race || !linux

package nonblock

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// The order of events that the race detector takes from package syscall's calls, which package net
// makes, is another one than that from package unix's.

func read(fd uintptr, p []byte) (int, error) { return syscall.Read(int(fd), p) }

func write(fd uintptr, p []byte) (int, error) { return syscall.Write(int(fd), p) }

func poll(fd uintptr, events int16) (int16, error) {
	p := []unix.PollFd{{Fd: int32(fd), Events: events}}
	_, err := unix.Poll(p, 0)
	return p[0].Revents, err
}
