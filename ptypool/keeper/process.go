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

// Isolate prepares this process for being a keeper: programs inherit neither its inherited
// descriptors nor ignored signals, and of the usual signals only SIGTERM ends it, because a ^C is
// for the host. The context ends with SIGTERM. Garbage is collected early, because a keeper makes
// little of it, in bursts.
func Isolate() context.Context {
	debug.SetGCPercent(gcPercent)
	// It fails only on Linux before 5.11; a host passes nothing on anyway.
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	// They get a handler instead of being ignored, because programs would inherit that through
	// exec(2). Nobody receives from the channel: further signals are dropped.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT,
		syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGWINCH, syscall.SIGUSR1,
		syscall.SIGUSR2, syscall.SIGPIPE)
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM) // until the process ends
	return ctx
}
