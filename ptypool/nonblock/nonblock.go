// Package nonblock makes system calls, on descriptors that do not block, of which Go's scheduler is
// not told.
//
// Before an ordinary system call the Go runtime prepares for one that takes long: when the program
// was idle just before, that wakes the runtime's monitor thread, which then looks every 20 µs
// whether the call is over. For the echo of a key, which is a few calls of a microsecond each out
// of idleness, these are most of the context switches.
//
// The price is that the calling goroutine keeps its processor, and the garbage collector waits for
// the call. So the calls are for pipes, ptys and sockets in non-blocking mode (O_NONBLOCK), and
// never for files, whose calls wait for the disk. They repeat calls that a signal interrupts.
//
// With the race detector they are ordinary system calls: it takes the order of events from those.
// So they are on other systems than Linux, where programs must not make system calls themselves.
package nonblock

import "syscall"

// Read reads from fd as read(2) does. The error is a [syscall.Errno]: EAGAIN if there is nothing to
// read. 0, nil is the end of what can be read.
func Read(fd uintptr, p []byte) (n int, err error) {
	return repeat(func() (int, error) { return read(fd, p) })
}

// Write writes to fd as write(2) does. The error is a [syscall.Errno]: EAGAIN if there is no room.
func Write(fd uintptr, p []byte) (n int, err error) {
	return repeat(func() (int, error) { return write(fd, p) })
}

// Poll returns which of the events, such as unix.POLLIN, have come for fd, and those that are
// always told of, as poll(2) does. 0: none.
func Poll(fd uintptr, events int16) (revents int16, err error) {
	_, err = repeat(func() (n int, err error) {
		revents, err = poll(fd, events)
		return 0, err
	})
	return revents, err
}

// repeat repeats a call that a signal has interrupted.
func repeat(call func() (int, error)) (n int, err error) {
	for {
		n, err = call()
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}
