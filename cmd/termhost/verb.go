package main

import (
	"errors"
	"slices"
	"strings"

	"termhost/ahp/commandline"
	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/local"
	"termhost/cmd/termhost/share"
	"termhost/sshd/verbs"
)

// hostVerbs returns, as commands of this program, the verbs that people type behind `ssh HOST`.
// What this program does itself is not among them.
func hostVerbs() []command {
	var all []command
	for _, v := range verbs.Verbs() {
		own := func(c command) bool { return c.name == v.Name }
		if !slices.ContainsFunc(ownCommands(), own) {
			run := func(c *call) int { return c.runVerb(v) }
			all = append(all, command{v.Name, v.Usage, v.Help, run})
		}
	}
	return all
}

// runVerb has a host on this machine run a verb, through its unix socket. That needs no key: only
// the user who runs the host can use the socket.
func (c *call) runVerb(verb verbs.Verb) int {
	if len(c.args) > 0 && isHelp(c.args[0]) {
		verbs.WriteHelp(c.std.out, verb.Name)
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
	if verb.Name == "attach" && len(args) > 0 {
		ls := func() ([]byte, error) { return client.Output("ls --json") }
		if name := share.Within(ls, args[len(args)-1]); name != "" {
			return fail(c.std, exitFailure,
				name+" is the terminal you are in, which would be shown inside itself",
				"attach to it from another window")
		}
	}
	status, err := client.Run(local.Command{
		Line:     commandline.Join(slices.Concat([]string{verb.Name}, args)),
		Terminal: verb.UsesTerminal(),
		Input:    verb.ReadsInput(args),
		Dir:      workingDirectory(),
		Config:   file,
		In:       c.std.in, Out: c.std.out, Err: c.std.err,
	})
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
