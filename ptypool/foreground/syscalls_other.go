//go:build !amd64

package foreground

import "golang.org/x/sys/unix"

// The system calls in which a program waits for its terminal, by number. Architectures that are
// younger than these calls have only the general one of each kind.
var (
	readCalls   = []uint64{unix.SYS_READ, unix.SYS_READV, unix.SYS_SPLICE}
	pollCalls   = []uint64{unix.SYS_PPOLL}
	selectCalls = []uint64{unix.SYS_PSELECT6}
	epollCalls  = []uint64{unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2}
)
