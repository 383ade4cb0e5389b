package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"termhost/sshd/verbs/completion"
	"termhost/sshd/verbs/helptext"
)

// printCompletion prints a script by which a shell completes this program's commands.
func printCompletion(c *call) int {
	fs := c.flags()
	if code, ok := c.parse(fs, 1); !ok {
		return code
	}
	if !slices.Contains(completion.Shells(), fs.Arg(0)) {
		return c.badUsage("name one of the shells " + strings.Join(completion.Shells(), ", "))
	}
	if err := completion.Write(c.std.out, fs.Arg(0), completions(), nil); err != nil {
		return fail(c.std, exitFailure, fmt.Sprintf("cannot write the script: %v", err), "")
	}
	return exitOK
}

// flagShape matches a flag in a usage.
var flagShape = regexp.MustCompile(`--?[a-z]+`)

// completions returns what a shell completes: the commands of this program's table and, of those
// that a host runs, the flags.
func completions() []completion.Command {
	all := map[string]helptext.Verb{}
	for _, v := range verbTable() {
		all[v.Name] = v
	}
	var list []completion.Command
	for _, c := range ownCommands() {
		if c.name != sftpServerName && c.run != nil {
			flags := flagShape.FindAllString(c.usage, -1)
			list = append(list, withOperands(completion.Command{Name: c.name, Help: c.help,
				Flags: slices.Compact(slices.Sorted(slices.Values(flags)))}))
		}
	}
	for _, c := range hostVerbs() {
		list = append(list, completionOf(all[c.name]))
	}
	return list
}

// withOperands adds what the first operand of a command may be.
func withOperands(c completion.Command) completion.Command {
	switch c.Name {
	case "completion":
		c.First = completion.Shells()
	case "fleet":
		c.First, c.HostsAfter = fleetCommands(), "remove"
	}
	return c
}
