package foreground

import "golang.org/x/sys/unix"

// The system calls in which a program waits for its terminal, by number.
var (
	readCalls   = []uint64{unix.SYS_READ, unix.SYS_READV, unix.SYS_SPLICE}
	pollCalls   = []uint64{unix.SYS_POLL, unix.SYS_PPOLL}
	selectCalls = []uint64{unix.SYS_SELECT, unix.SYS_PSELECT6}
	epollCalls  = []uint64{unix.SYS_EPOLL_WAIT, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2}
)
