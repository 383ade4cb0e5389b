package main

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"termhost/cmd/termhost/bench"
)

// benchmark compares this program with others, or puts a host under load for a long time.
func benchmark(c *call) int {
	fs, std := c.flags(), c.std
	quick := fs.Bool("quick", false, "")
	soak := fs.Duration("soak", 0, "")
	if code, ok := c.parse(fs, 0); !ok {
		return code
	}
	if *soak < 0 || *soak > 0 && *quick {
		return c.badUsage("--soak takes a positive time, and stands alone")
	}
	program, err := exec.LookPath(os.Args[0]) // as it was called
	if err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *soak > 0 {
		err = bench.Soak(ctx, program, *soak, std.out)
	} else {
		err = bench.Compare(ctx, program, *quick, std.out)
	}
	if err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	return exitOK
}
