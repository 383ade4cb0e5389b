//go:build linux && !laptop

package main

import (
	"fmt"
	"os"
	"strings"

	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/hooks"
)

// agentHooks is `termhost hooks`: it prints what an agent's settings need, or changes them.
func agentHooks(c *call) int {
	fs := c.flags()
	install := fs.Bool("install", false, "")
	remove := fs.Bool("remove", false, "")
	if len(c.args) > 0 && !strings.HasPrefix(c.args[0], "-") { // the agent comes first
		c.args = append(c.args[1:len(c.args):len(c.args)], c.args[0])
	}
	if code, ok := c.parse(fs, 1); !ok {
		return code
	}
	agent, known := hooks.Named(fs.Arg(0))
	switch {
	case fs.NArg() == 0:
		return c.badUsage("no agent is named")
	case !known:
		return c.badUsage(fmt.Sprintf("the hooks of %q are not known", fs.Arg(0)))
	case *install && *remove:
		return c.badUsage("either --install or --remove")
	}
	home, err := config.Home()
	if err != nil {
		return fail(c.std, exitFailure, err.Error(), "")
	}
	exe, err := os.Executable()
	if err != nil {
		return fail(c.std, exitFailure, err.Error(), "")
	}
	if !*install && !*remove {
		fmt.Fprint(c.std.out, agent.Settings(exe, home))
		return exitOK
	}
	change, note := agent.Install, agent.Note
	if *remove {
		change, note = agent.Remove, ""
	}
	changed, err := change(exe, home)
	for _, path := range changed {
		fmt.Fprintf(c.std.err, "termhost: %s has changed\n", path)
	}
	switch {
	case err != nil:
		return fail(c.std, exitFailure, err.Error(), "")
	case len(changed) == 0:
		fmt.Fprintf(c.std.err, "termhost: nothing had to change\n")
	case note != "":
		fmt.Fprintf(c.std.err, "termhost: %s\n", note)
	}
	return exitOK
}
