// Command termhost keeps terminals alive for people and agents: people attach
// with ssh, agents over WebSocket, both to the same terminals.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// The exit codes of every command, unless it passes another program's on.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// command is one of the program's commands.
type command struct {
	name  string
	usage string // what follows the name
	help  string // one line
	run   func(args []string, std stdio) int
}

// stdio is what a command reads and writes.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

func commands() []command {
	return []command{
		{"serve", "[-c FILE]", "run the host", serve},
		{"share", shareUsage, "show this terminal, or a program's, to a host", shareTerminal},
		{"acp", acpUsage, "run an ACP agent whose commands run in the host's terminals", proxyACP},
		{"attach", attachUsage, "show a terminal of a host on this machine", attach},
		{"version", "", "print the version", printVersion},
	}
}

func main() {
	os.Exit(run(os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr}))
}

func run(args []string, std stdio) int {
	if len(args) == 0 {
		return fail(std, exitUsage, "no command", "termhost help lists them")
	}
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		printHelp(std.out)
		return exitOK
	}
	var names []string
	for _, c := range commands() {
		if c.name == name {
			return c.run(rest, std)
		}
		names = append(names, c.name)
	}
	hint := "termhost help lists the commands"
	if near := nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return fail(std, exitUsage, fmt.Sprintf("there is no command %q", name), hint)
}

func printHelp(w io.Writer) {
	fmt.Fprintln(w, "termhost keeps terminals alive: people attach with ssh, agents over WebSocket.")
	fmt.Fprintln(w)
	for _, c := range commands() {
		fmt.Fprintf(w, "  termhost %-20s  %s\n", strings.TrimSpace(c.name+" "+c.usage), c.help)
	}
}

// fail prints an error, and a hint if there is one, and returns the exit code.
func fail(std stdio, code int, message, hint string) int {
	fmt.Fprintf(std.err, "termhost: error: %s\n", message)
	if hint != "" {
		fmt.Fprintf(std.err, "hint: %s\n", hint)
	}
	return code
}

// parseFlags parses a command's arguments, of which at most one may be left
// over where operands are allowed. It returns false after telling the user what
// is wrong, or after printing the usage they asked for.
func parseFlags(fs *flag.FlagSet, args []string, operands int, usage string, std stdio) (code int, ok bool) {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(std.out, "usage: termhost", fs.Name(), usage)
		return exitOK, false
	case err != nil:
		return fail(std, exitUsage, err.Error(), "usage: termhost "+fs.Name()+" "+usage), false
	case fs.NArg() > operands:
		return fail(std, exitUsage, fmt.Sprintf("unexpected argument %q", fs.Arg(operands)), "usage: termhost "+fs.Name()+" "+usage), false
	}
	return exitOK, true
}
