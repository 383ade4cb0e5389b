package main

import (
	"errors"
	"slices"

	"termhost/ahp/commandline"
	"termhost/cmd/termhost/local"
	"termhost/sshd/verbs/helptext"
)

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
