//go:build linux && !race

package nonblock

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func read(fd uintptr, p []byte) (int, error) {
	data := unsafe.Pointer(unsafe.SliceData(p))
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(data), uintptr(len(p)))
	return result(n, errno)
}

func write(fd uintptr, p []byte) (int, error) {
	data := unsafe.Pointer(unsafe.SliceData(p))
	n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(data), uintptr(len(p)))
	return result(n, errno)
}

// poll is ppoll(2) with a timeout of zero.
func poll(fd uintptr, events int16) (int16, error) {
	p := unix.PollFd{Fd: int32(fd), Events: events}
	var now unix.Timespec
	n, _, errno := syscall.RawSyscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1,
		uintptr(unsafe.Pointer(&now)), 0, 0, 0)
	_, err := result(n, errno)
	return p.Revents, err
}

func result(n uintptr, errno syscall.Errno) (int, error) {
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
