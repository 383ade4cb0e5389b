package main

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"termhost/cmd/termhost/bench"
)

// benchmark compares this program with others.
func benchmark(c *call) int {
	fs, std := c.flags(), c.std
	quick := fs.Bool("quick", false, "")
	if code, ok := c.parse(fs, 0); !ok {
		return code
	}
	program, err := exec.LookPath(os.Args[0]) // as it was called
	if err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := bench.Compare(ctx, program, *quick, std.out); err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	return exitOK
}
