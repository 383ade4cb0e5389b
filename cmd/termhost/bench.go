package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/crypto/ssh"
	"golang.org/x/term"

	"termhost/cmd/termhost/bench"
	"termhost/cmd/termhost/sshcmd"
)

// errInterrupted ends a benchmark whose user has had enough.
var errInterrupted = errors.New("interrupted; what was started has ended")

// benchmark measures a host elsewhere, or compares this program with others.
func benchmark(c *call) int {
	fs, std := c.flags(), c.std
	var o bench.Options
	var elsewhere *sshcmd.Target
	fs.Func("ssh", "", func(s string) error {
		t, err := sshcmd.Parse([]string{s})
		elsewhere = &t
		return err
	})
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
	ctx, cancel := context.WithCancelCause(context.Background())
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupts)
	go func() { <-interrupts; cancel(errInterrupted) }()
	file, ok := std.err.(*os.File)
	o.Progress = bench.Progress{Out: std.err, Redraw: ok && term.IsTerminal(int(file.Fd()))}
	measure := benchHere
	if elsewhere != nil {
		measure = c.benchElsewhere(*elsewhere)
	}
	report, err := measure(ctx, o)
	var linuxOnly *linuxOnlyError
	var unknown *bench.UnknownError
	if errors.As(err, &linuxOnly) || errors.As(err, &unknown) {
		return fail(std, exitUsage, err.Error(), "")
	}
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

// benchElsewhere measures a host elsewhere.
func (c *call) benchElsewhere(t sshcmd.Target) func(context.Context, bench.Options) (
	*bench.Report, error) {
	way := c.sshWay(t)
	dial := func(ctx context.Context) (*ssh.Client, error) {
		client, err := way.dial(ctx)
		if err != nil {
			return nil, err
		}
		return client.SSH(), nil
	}
	return func(ctx context.Context, o bench.Options) (*bench.Report, error) {
		return bench.RunElsewhere(ctx, bench.Elsewhere{Name: t.Dest, Dial: dial}, o)
	}
}
