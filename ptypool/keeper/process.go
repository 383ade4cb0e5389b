package keeper

import (
	"context"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"
)

const gcPercent = 25

// Isolate makes this process a keeper's: none of the descriptors that it has inherited reaches a
// program, nor is a signal ignored in one, and of the signals by which programs end only SIGTERM
// ends it: a ^C is for the host. The context ends with SIGTERM. Garbage is collected early: a
// keeper makes little, in bursts.
func Isolate() context.Context {
	debug.SetGCPercent(gcPercent)
	// It fails on Linux before 5.11 only; a host passes nothing on in any case.
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	// They get a handler and are not ignored, because exec(2) would hand that on. Nobody receives
	// from the channel: what does not fit is dropped.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT,
		syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGWINCH, syscall.SIGUSR1,
		syscall.SIGUSR2, syscall.SIGPIPE)
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM) // until the process ends
	return ctx
}
