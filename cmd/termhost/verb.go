//go:build linux && !laptop

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/local"
	"termhost/sshd/verbs"
	"termhost/sshd/verbs/completion"
	"termhost/sshd/verbs/helptext"
)

const (
	// usageWay is how usages name a host.
	usageWay = "[--local [-c FILE] | [ssh options] DEST]"
	// usageBlock is which host ssh-config is about.
	usageBlock = "[-c FILE | [ssh options] DEST]"
	aboutBlock = "this machine's host, as `serve` does, or to the one of DEST"
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
			if v.Name == helptext.AttachName {
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
	if verb != helptext.AttachName {
		return nil
	}
	return attachFlags()
}

// completionOf returns what a shell completes of a verb, with the flags that are for this program.
func completionOf(v helptext.Verb) completion.Command {
	c := completion.Of(v)
	c.Flags = append(c.Flags, "-c")
	for _, f := range ownFlags(v.Name) {
		c.Flags = append(c.Flags, f.Shape)
	}
	return c
}

// explainVerb explains the command, which is a host's verb.
func (c *call) explainVerb(v helptext.Verb) {
	verbs.WriteHelp(c.std.out, v.Name, ownFlags(v.Name)...)
}

// runVerb has a host on this machine run a verb, through its unix socket. That needs no key: only
// the user who runs the host can use the socket.
func (c *call) runVerb(verb helptext.Verb) int {
	if len(c.args) > 0 && isHelp(c.args[0]) {
		c.explainVerb(verb)
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
