package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"termhost/ahp"
	"termhost/ahp/commandline"
	"termhost/cmd/termhost/mcpproxy"
	"termhost/cmd/termhost/sshcmd"
)

// mcpArgs are the arguments of `termhost mcp`.
type mcpArgs struct {
	as     string // the client's name; "": the one that it gives itself
	local  bool
	file   string // of the configuration; only with local
	target sshcmd.Target
}

// proxyMCP is `termhost mcp`: it carries MCP between the client, which is on the standard streams,
// and a host.
func proxyMCP(c *call) int {
	if len(c.args) > 0 && isHelp(c.args[0]) {
		return c.printUsage()
	}
	a, err := parseMCP(c.args)
	if err != nil {
		return c.badUsage(err.Error())
	}
	said := sshcmd.NewStderr(c.std.err)
	cfg := mcpproxy.Config{In: c.std.in, Out: c.std.out,
		Notice: func(s string) { fmt.Fprintf(c.std.err, "termhost: note: %s\n", s) }}
	hint := hintRemote
	if a.local {
		dial, err := a.localDial(said)
		if err != nil {
			return fail(c.std, exitUsage, err.Error(), "")
		}
		cfg.Host, hint = "the host", "start it with: termhost serve"
		cfg.Dial = mcpproxy.Heard(said, dial, func() {})
	} else {
		ssh := &sshcmd.Dialer{Target: a.target, Words: a.words(), Stderr: said}
		// The user may log in at a ControlMaster, with a second factor for instance.
		cfg.Host, cfg.Dial = a.target.Dest, mcpproxy.Heard(said, ssh.Dial, ssh.UseMaster)
	}
	ctx, stop := untilSignal()
	defer stop()
	err = mcpproxy.Run(ctx, cfg)
	var sig *signalError
	switch {
	case errors.As(context.Cause(ctx), &sig):
		return 128 + int(sig.Signal)
	case err != nil:
		return fail(c.std, exitFailure, err.Error(), hint)
	}
	return exitOK
}

// parseMCP reads mcp's own options, which come first, then ssh's, and the host.
func parseMCP(args []string) (a mcpArgs, err error) {
	for own := true; own; {
		switch {
		case len(args) > 0 && args[0] == "--local":
			a.local, args = true, args[1:]
		case len(args) > 0 && args[0] == "--as":
			if len(args) == 1 || !ahp.ValidName(args[1]) {
				return a, errors.New("--as needs a NAME: 1 to 64 letters a-z or A-Z, " +
					"digits, dots, underscores and dashes")
			}
			a.as, args = args[1], args[2:]
		case len(args) > 1 && args[0] == "-c" && a.local: // ssh has a -c, too
			a.file, args = args[1], args[2:]
		default:
			own = false
		}
	}
	switch {
	case !a.local:
		a.target, err = sshcmd.Parse(args)
	case len(args) > 0:
		err = errors.New("--local takes no host, only --as NAME and -c FILE")
	}
	return a, err
}

// words are what the host runs: the subsystem, which does not depend on how the host runs other
// commands, unless the client has another name.
func (a mcpArgs) words() []string {
	if a.as == "" {
		return []string{"-s", "mcp"}
	}
	return []string{a.line("")}
}

// line is the command line that the host runs, where programs start in dir; "": the home folder.
func (a mcpArgs) line(dir string) string {
	line := "mcp"
	if a.as != "" {
		line += " --as " + a.as // a NAME needs no quotes
	}
	if dir != "" {
		line += " -C " + commandline.Quote(dir)
	}
	return line
}

// signalError is the cause of a context that a signal has ended.
type signalError struct{ syscall.Signal }

func (e *signalError) Error() string { return e.Signal.String() }

// untilSignal returns a context that ends with a signal that ends this program, with a
// [signalError].
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	// Go ends a process that writes to a closed standard output (os/signal, SIGPIPE), which would
	// leave ssh behind. Notify makes that an error of the write.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	go func() {
		select {
		case sig := <-arrived:
			cancel(&signalError{sig.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		signal.Stop(arrived)
		signal.Stop(broken)
	}
}
