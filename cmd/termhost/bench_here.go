//go:build linux && !laptop

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"termhost/cmd/termhost/bench"
)

// usageBench is what `termhost bench` measures.
const usageBench = "[--ssh DEST]"

// benchHere compares this program with what is installed here.
func benchHere(ctx context.Context, o bench.Options) (*bench.Report, error) {
	program, err := exec.LookPath(os.Args[0]) // as it was called
	if err == nil {
		program, err = filepath.Abs(program) // servers have folders of their own
	}
	if err != nil {
		return nil, err
	}
	return bench.Run(ctx, program, o)
}
