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

// sealDescriptors makes all descriptors from 3 on close-on-exec. Those that Go opens are already;
// this is for inherited ones.
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

// unignoreSignals replaces an inherited SIG_IGN, for the signals that programs in terminals rely
// on, by a handler that drops the signal. This process notices no difference, but exec(2) resets a
// handler to the default and keeps SIG_IGN.
func unignoreSignals() {
	// Nobody receives from the channel. Notify never blocks: it drops further signals.
	dropped := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGTSTP,
		syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGWINCH, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGPIPE,
	} {
		if signal.Ignored(sig) {
			signal.Notify(dropped, sig)
		}
	}
}
