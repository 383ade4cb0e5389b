package ptypool

import (
	"errors"
	"math"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// sealDescriptors marks every descriptor from 3 on close-on-exec. Go's own are so already; this is for those that this
// process inherited.
func sealDescriptors() error {
	err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) {
		return err
	}
	// Linux before 5.11.
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return err
}

// unignoreSignals replaces inherited SIG_IGN of the signals that terminals live on by a handler that drops them: the
// same for this process, but exec(2) resets handlers to the default and keeps SIG_IGN.
func unignoreSignals() {
	dropped := make(chan os.Signal, 1) // nobody receives: Notify never blocks, what does not fit is dropped
	for _, sig := range []os.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGTSTP, syscall.SIGTTIN,
		syscall.SIGTTOU, syscall.SIGWINCH, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE,
	} {
		if signal.Ignored(sig) {
			signal.Notify(dropped, sig)
		}
	}
}
