//go:build race

package nonblock

import "golang.org/x/sys/unix"

func read(fd uintptr, p []byte) (int, error) { return unix.Read(int(fd), p) }

func write(fd uintptr, p []byte) (int, error) { return unix.Write(int(fd), p) }

func poll(fd uintptr, events int16) (int16, error) {
	p := []unix.PollFd{{Fd: int32(fd), Events: events}}
	_, err := unix.Poll(p, 0)
	return p[0].Revents, err
}
