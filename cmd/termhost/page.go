package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"termhost/ahp"
	"termhost/ahp/commandline"
	"termhost/cmd/termhost/sshcmd"
)

// pageArgs are the arguments of `termhost page`.
type pageArgs struct {
	role   string
	local  bool
	file   string // of the configuration; only with local
	target sshcmd.Target
	names  []string
}

// openPage is `termhost page`: it gets a ticket, makes the host reachable for a browser of this
// machine if it is far away, and opens the browser.
func openPage(c *call) int {
	if len(c.args) > 0 && isHelp(c.args[0]) {
		return c.printUsage()
	}
	a, err := parsePage(c.args)
	if err != nil {
		return c.badUsage(err.Error())
	}
	if a.local {
		return a.openLocal(c.std)
	}
	return a.openFar(c.std)
}

// parsePage reads page's own options, which come first, then ssh's, the host and the NAMEs.
func parsePage(args []string) (a pageArgs, err error) {
	for own := true; own; {
		switch {
		case len(args) > 0 && args[0] == "--local":
			a.local, args = true, args[1:]
		case len(args) > 1 && args[0] == "--role":
			a.role, args = args[1], args[2:]
		case len(args) > 1 && args[0] == "-c" && a.local: // ssh has a -c, too
			a.file, args = args[1], args[2:]
		default:
			own = false
		}
	}
	if a.names = args; !a.local {
		if a.target, a.names, err = sshcmd.ParseHead(args); err != nil {
			return a, err
		}
	}
	for _, name := range a.names {
		if !ahp.ValidName(name) {
			return a, fmt.Errorf("%q is not a terminal's name", name)
		}
	}
	return a, nil
}

// verb is the command line that makes the ticket.
func (a pageArgs) verb(flags ...string) string {
	words := append([]string{"page"}, flags...)
	if a.role != "" {
		words = append(words, "--role", a.role)
	}
	return commandline.Join(append(words, a.names...))
}

// openFar opens the page of a host that ssh reaches, through a port of this machine that is
// forwarded until the user presses Ctrl-C.
func (a pageArgs) openFar(std stdio) int {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM,
		syscall.SIGHUP)
	defer release()
	command := func(at string) string { return a.verb("--stay", "--url", at) }
	err := a.target.Page(ctx, command, func(url string) {
		show(std, url)
		fmt.Fprintln(std.err, "termhost: the page works until Ctrl-C is pressed here")
	}, std.err)
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		return fail(std, exitFailure, err.Error(), hintRemote)
	case err != nil:
		return fail(std, exitFailure, err.Error(), "")
	}
	return exitOK
}

// show prints the page's URL, and opens it in a browser if there is one.
func show(std stdio, url string) {
	fmt.Fprintln(std.out, url)
	program := ""
	switch {
	case os.Getenv("BROWSER") != "":
		program = os.Getenv("BROWSER")
	case runtime.GOOS == "darwin":
		program = "open"
	case os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "":
		program = "xdg-open"
	}
	if program == "" {
		fmt.Fprintln(std.err, "termhost: open this in a browser within a minute; it works once")
		return
	}
	browser := exec.Command(program, url)
	if err := browser.Start(); err != nil {
		fmt.Fprintf(std.err, "termhost: the browser does not start: %v; open the URL within a "+
			"minute\n", err)
		return
	}
	go func() { _ = browser.Wait() }()
}
