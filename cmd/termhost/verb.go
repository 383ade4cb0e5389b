//go:build linux

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"termhost/ahp/commandline"
	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/local"
	"termhost/sshd/verbs"
	"termhost/sshd/verbs/helptext"
)

const (
	// hintUnknown is the hint for an unknown command.
	hintUnknown = "termhost help lists the commands"
	// aboutVerbs stands above the verbs in help.
	aboutVerbs = "On a host of this machine, through its unix socket " +
		"(behind ssh HOST elsewhere;\n" +
		"-c FILE, before the rest, names the configuration that it runs with):\n\n"
)

// verbTable returns the verbs of a host.
func verbTable() []helptext.Verb { return verbs.Verbs() }

// hostVerbs returns, as commands of this program, the verbs that people type behind `ssh HOST`.
// What this program does itself is not among them.
func hostVerbs() []command {
	var all []command
	for _, v := range verbTable() {
		own := func(c command) bool { return c.name == v.Name }
		if !slices.ContainsFunc(ownCommands(), own) {
			run, usage := func(c *call) int { return c.runVerb(v) }, v.Usage
			if v.Name == attachName {
				run = attachTerminal
			}
			for _, f := range ownFlags(v.Name) {
				usage = fmt.Sprintf("[%s %s] %s", f.Shape, f.Value, usage)
			}
			all = append(all, command{v.Name, usage, v.Help, run})
		}
	}
	return all
}

// ownFlags returns the flags of a verb that are for this program.
func ownFlags(verb string) []helptext.Flag {
	if verb != attachName {
		return nil
	}
	return attachFlags()
}

// explainVerb explains the command, which is a host's verb.
func (c *call) explainVerb() { verbs.WriteHelp(c.std.out, c.name, ownFlags(c.name)...) }

// runVerb has a host on this machine run a verb, through its unix socket. That needs no key: only
// the user who runs the host can use the socket.
func (c *call) runVerb(verb helptext.Verb) int {
	if len(c.args) > 0 && isHelp(c.args[0]) {
		c.explainVerb()
		return exitOK
	}
	file, args, err := cutConfig(c.args)
	if err != nil {
		return c.badUsage(err.Error())
	}
	cfg, err := config.OfRunning(file)
	if err != nil {
		return fail(c.std, exitUsage, err.Error(), "")
	}
	client, err := local.Dial(cfg.SocketPath())
	if err != nil {
		return fail(c.std, exitFailure, err.Error(), hintLocal)
	}
	defer client.Close()
	return c.runOn(client, c.hostCommand(verb, args, file))
}

// hostCommand returns a verb with its arguments, for a host to run.
func (c *call) hostCommand(verb helptext.Verb, args []string, file string) local.Command {
	return local.Command{
		Line:     commandline.Join(slices.Concat([]string{verb.Name}, args)),
		Terminal: verb.UsesTerminal(args),
		Input:    verb.ReadsInput(args),
		Dir:      workingDirectory(),
		Config:   file,
		In:       c.std.in, Out: c.std.out, Err: c.std.err,
	}
}

// runOn has a host run a command, and returns the exit status.
func (c *call) runOn(client *local.Client, cmd local.Command) int {
	status, err := client.Run(cmd)
	switch {
	case errors.Is(err, local.ErrHostGone): // exit code 1 may be a program's own
		return fail(c.std, local.StatusLost, err.Error(), "")
	case err != nil:
		return fail(c.std, exitFailure, err.Error(), "")
	}
	return status
}

// cutConfig takes `-c FILE` out of the flags at the head of a verb's arguments.
func cutConfig(args []string) (file string, rest []string, err error) {
	for i, a := range args {
		switch {
		case a == "-c" && i+1 == len(args):
			return "", nil, errors.New("-c needs the path of a configuration file")
		case a == "-c":
			return args[i+1], slices.Concat(args[:i], args[i+2:]), nil
		case !strings.HasPrefix(a, "-"), a == "-", a == "--":
			return "", args, nil
		}
	}
	return "", args, nil
}
