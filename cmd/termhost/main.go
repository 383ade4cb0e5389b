package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"termhost/ahp/spelling"
	"termhost/sshd/verbs/helptext"
)

// The exit codes of every command, unless it passes on another program's.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// command is one of the program's commands.
type command struct {
	name  string
	usage string            // its arguments
	help  string            // one line
	run   func(c *call) int // returns the exit code; nil: no host runs on this system
}

// Commands that other programs run: the host a keeper, and one for the SSH subsystem sftp.
const (
	keeperName     = "keeper"
	sftpServerName = "sftp-server"
)

// explanation returns the command's help, and whether it is there on this system.
func (c command) explanation() string {
	if c.run == nil {
		return c.help + " (Linux only)"
	}
	return c.help
}

// commands returns all commands, in the order in which help lists them.
func commands() []command { return append(ownCommands(), hostVerbs()...) }

// ownCommands returns what this program does without having a host do it.
func ownCommands() []command {
	return []command{
		{"serve", "[-c FILE]", "run the host", serve},
		{keeperName, "[-c FILE | -- serve [-c FILE]]",
			"keep the host's terminals; `serve` starts one where none answers. With `-- serve`: " +
				"be process 1 of a container, which runs the host again when it crashes",
			runKeeper},
		{"config", "[-c FILE] [--json]",
			"check the configuration, as `serve` does, and print what counts: every key with its " +
				"value, and the line of the file that it is from, or that it is the default",
			explainConfig},
		{"ssh-config", "[--write] [--name NAME] " + usageBlock,
			"print the block for ~/.ssh/config by which `ssh th`, or `ssh NAME`, logs in to " +
				aboutBlock + "; --write puts it into " +
				"~/.ssh/termhost.conf, which ~/.ssh/config then includes",
			printSSHConfig},
		{"stop", "[-c FILE]", "end the terminals, the host and its keeper", stop},
		{"share", "[-n NAME] " + usageWay + " [-- CMD ARGS...]",
			"show this terminal, or a program's, to a host", shareTerminal},
		{"acp", usageWay + " -- AGENT ARGS...",
			"run an ACP agent whose commands run in the host's terminals", proxyACP},
		{"mcp", "[--as NAME] " + usageWay,
			"speak MCP on standard input and output: the terminals of a host, as tools", proxyMCP},
		{"page", "[--role ROLE] " + usageWay + " [NAME...]",
			"open the terminals of a host in a browser", openPage},
		{"status", "[-c FILE] [NAME] working|waiting|done|failed [TEXT...]",
			"say how the program of this terminal stands, or with NAME that of another: it is " +
				"listed, and whoever does not look is told",
			sayStatus},
		{"fleet", "init [--name NAME] [--listen HOST:PORT] [--at HOST:PORT] | join [--name NAME] " +
			"URL TOKEN | hosts [--json] | token [--door] | remove HOST | leave [--end]" +
			"  (each with [-c FILE])",
			"several hosts behind one door: make a fleet, join it with the line that this " +
				"prints, list its hosts, print another line, remove a host, leave" +
				" (termhost man fleet)",
			fleetCommand},
		{"hooks", "claude|codex|gemini|opencode [--install | --remove]",
			"print the settings by which an agent calls `termhost status` itself, add them to " +
				"what it has, or take them out",
			agentHooks},
		{sftpServerName, "",
			"serve SFTP on standard input and output, as `serve` has it do", sftpServer},
		{"bench", usageBench + " [--quick] [--only NAME,...] [--markdown] [--svg DIR]",
			"measure the host of DEST from here, by your own ssh; without --ssh (Linux only) " +
				"compare termhost with what is installed of sshd, tmux, dtach and ttyd. It does " +
				"so at length, or with --quick in less than two minutes. --only chooses from " +
				"memory, idle, echo, observed, drawn, flood, login, fan-out-1, fan-out-10, " +
				"fan-out-50 and fleet, with --ssh from trip, echo, flood and login. Prints a " +
				"table, or one of --markdown; --svg draws plots in DIR",
			benchmark},
		{"completion", "bash|zsh|fish", "print a shell's completion of these commands",
			printCompletion},
		{"man", "[TOPIC]",
			"show the manual page, or what there is to know about a TOPIC, in $PAGER, less or " +
				"more; into a pipe or a file print its source, that of the page for `man -l -`",
			manual},
		{"version", "[--json]", "print the version", printVersion},
		{"help", "[COMMAND]", "show this, or explain a command", help},
	}
}

// stdio is what a command reads and writes.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

func main() {
	os.Exit(run(os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr}))
}

// run runs the command that args begin with, and returns the exit code.
func run(args []string, std stdio) int {
	if len(args) == 0 {
		printHelp(std.out)
		return exitOK
	}
	if args[0] == "-c" {
		var err error
		if args, err = configBehind(args); err != nil {
			return fail(std, exitUsage, err.Error(), "")
		}
	}
	name, rest := args[0], args[1:]
	if isHelp(name) {
		name = "help"
	}
	c, ok := commandNamed(name)
	if !ok {
		return unknownCommand(std, name)
	}
	if c.run == nil {
		return refuse(std, name, rest)
	}
	return c.run(&call{command: c, args: rest, std: std})
}

func commandNamed(name string) (command, bool) {
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return all[i], true
}

// linuxOnlyError says that something needs a host on this machine, and that none runs here.
type linuxOnlyError struct{ what string }

func (e *linuxOnlyError) Error() string {
	return e.what + " is Linux only: no host runs on " + runtime.GOOS
}

// refuse refuses a command that needs a host on this machine, and returns the exit code. What the
// settings of `termhost hooks` call, which a person may have on several machines, does nothing
// without a terminal of a host: see sayForAgent.
func refuse(std stdio, name string, args []string) int {
	if name == "status" && len(args) > 0 && args[0] == "--from" {
		return exitOK
	}
	err := &linuxOnlyError{"termhost " + name}
	return fail(std, exitFailure, err.Error(),
		"share, attach --ssh, bench --ssh, acp, mcp, page and ssh-config DEST reach a host by ssh")
}

// unknownCommand refuses a command, and returns the exit code.
func unknownCommand(std stdio, name string) int {
	var names []string
	for _, c := range commands() {
		if c.run != nil {
			names = append(names, c.name)
		}
	}
	hint := hintUnknown
	if near := spelling.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return fail(std, exitUsage, fmt.Sprintf("there is no command %q", name), hint)
}

// help lists the commands, or explains one.
func help(c *call) int {
	switch len(c.args) {
	case 0:
		printHelp(c.std.out)
		return exitOK
	case 1:
	default:
		return c.badUsage(fmt.Sprintf("unexpected argument %q", c.args[1]))
	}
	about, ok := commandNamed(c.args[0])
	if !ok {
		return unknownCommand(c.std, c.args[0])
	}
	use := &call{command: about, args: []string{"-h"}, std: c.std}
	own := func(o command) bool { return o.name == about.name }
	if !slices.ContainsFunc(ownCommands(), own) {
		return use.run(use) // a verb explains itself
	}
	use.printUsage()
	fmt.Fprint(c.std.out, helptext.Text("", "", about.explanation()))
	return exitOK
}

func printHelp(out io.Writer) {
	w := new(strings.Builder)
	fmt.Fprint(w, "termhost keeps terminals alive: "+
		"people attach with ssh, agents over WebSocket.\n\n")
	list := func(commands []command) {
		for _, c := range commands {
			w.WriteString(helptext.Usage("  termhost ", c.name+" "+c.usage))
			w.WriteString(helptext.Text("      ", "      ", c.explanation()))
		}
	}
	list(ownCommands())
	fmt.Fprint(w, "\n"+aboutVerbs)
	list(hostVerbs())
	_, _ = io.WriteString(out, w.String())
}

// isHelp reports whether an argument asks for help.
func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

// fail prints an error and, if it is not empty, a hint. It returns the exit code.
func fail(std stdio, code int, message, hint string) int {
	fmt.Fprintf(std.err, "termhost: error: %s\n", message)
	if hint != "" {
		fmt.Fprintf(std.err, "hint: %s\n", hint)
	}
	return code
}

// The hints for a host that cannot be reached.
const (
	hintLocal  = "is termhost serve running, with the same configuration?"
	hintRemote = "see whether this works: ssh DEST ls"
)

// call is one run of a command.
type call struct {
	command
	args []string // without the command's name
	std  stdio
}

func (c *call) usageLine() string { return "usage: termhost " + c.name + " " + c.usage }

// printUsage prints the usage, which the user has asked for, and returns the exit code.
func (c *call) printUsage() int {
	fmt.Fprint(c.std.out, helptext.Usage("usage: termhost ", c.name+" "+c.usage))
	return exitOK
}

// badUsage prints an error with the usage as its hint, and returns the exit code.
func (c *call) badUsage(message string) int {
	return fail(c.std, exitUsage, message, c.usageLine())
}

// flags returns the command's set of flags, to which it adds its own.
func (c *call) flags() *flag.FlagSet { return flag.NewFlagSet(c.name, flag.ContinueOnError) }

// parse parses the arguments: at most that many operands, and flags anywhere among them. If it
// returns false it has told the user what is wrong, or printed the usage, and the command ends with
// the exit code.
func (c *call) parse(fs *flag.FlagSet, operands int) (code int, ok bool) {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	err := parseAnywhere(fs, c.args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return c.printUsage(), false
	case err != nil:
		return c.badUsage(helptext.FlagError(fs, err)), false
	case fs.NArg() > operands:
		return c.badUsage(fmt.Sprintf("unexpected argument %q", fs.Arg(operands))), false
	}
	return exitOK, true
}

// parseAnywhere is fs.Parse for flags that may be behind operands, too. Behind the first operand a
// word that is none of the flags is an operand: the line to join a fleet with may begin with "-".
func parseAnywhere(fs *flag.FlagSet, args []string) error {
	var operands []string
	for len(args) > 0 {
		if err := fs.Parse(args); err != nil {
			return err
		}
		rest := fs.Args()
		if n := len(args) - len(rest); n > 0 && args[n-1] == "--" {
			operands = append(operands, rest...)
			break
		}
		n := min(1, len(rest))
		for n < len(rest) && rest[n] != "--" && !isFlag(fs, rest[n]) {
			n++
		}
		operands, args = append(operands, rest[:n]...), rest[n:]
	}
	return fs.Parse(append([]string{"--"}, operands...))
}

// isFlag reports whether a word is one of the flags, or asks for help.
func isFlag(fs *flag.FlagSet, word string) bool {
	name, dashed := strings.CutPrefix(word, "-")
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "-"), "=")
	return isHelp(word) || dashed && fs.Lookup(name) != nil
}
