//go:build linux && !laptop

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	"termhost/cmd/termhost/bench"
)

// errInterrupted ends a benchmark whose user has had enough.
var errInterrupted = errors.New("interrupted; all servers that were started have ended")

// benchmark compares this program with others.
func benchmark(c *call) int {
	fs, std := c.flags(), c.std
	var o bench.Options
	fs.BoolVar(&o.Quick, "quick", false, "")
	markdown := fs.Bool("markdown", false, "")
	plots := fs.String("svg", "", "")
	fs.Func("only", "", func(s string) error {
		o.Only = append(o.Only, strings.Split(s, ",")...)
		return nil
	})
	if code, ok := c.parse(fs, 0); !ok {
		return code
	}
	program, err := exec.LookPath(os.Args[0]) // as it was called
	if err == nil {
		program, err = filepath.Abs(program) // servers have folders of their own
	}
	if err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupts)
	go func() { <-interrupts; cancel(errInterrupted) }()
	file, ok := std.err.(*os.File)
	o.Progress = bench.Progress{Out: std.err, Redraw: ok && term.IsTerminal(int(file.Fd()))}
	report, err := bench.Run(ctx, program, o)
	if err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	write := report.WriteText
	if *markdown {
		write = report.WriteMarkdown
	}
	err = write(std.out)
	if err == nil && *plots != "" {
		err = report.WriteSVG(*plots)
	}
	if err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	return exitOK
}
