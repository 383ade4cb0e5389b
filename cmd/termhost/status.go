//go:build linux && !laptop

package main

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"termhost/ahp/commandline"
	"termhost/ahp/host"
	"termhost/cmd/termhost/hooks"
	"termhost/cmd/termhost/local"
	"termhost/sshd/verbs/helptext"
)

// sayStatus is `termhost status`: the verb of that name and, without a NAME inside a terminal, what
// the terminal's program says of itself.
func sayStatus(c *call) int {
	i := slices.IndexFunc(verbTable(), func(v helptext.Verb) bool { return v.Name == c.name })
	verb := verbTable()[i]
	if len(c.args) > 0 && isHelp(c.args[0]) {
		return c.printUsage()
	}
	if len(c.args) > 1 && c.args[0] == "--from" {
		return sayForAgent(c.std, c.args[1], c.args[2:])
	}
	if len(c.args) == 0 || !slices.Contains(host.States(), host.State(c.args[0])) {
		return c.runVerb(verb)
	}
	said := host.Said{State: host.State(c.args[0]), Text: strings.Join(c.args[1:], " ")}
	status, err := sayOwn(c.std, said)
	if err != nil {
		return fail(c.std, exitFailure, err.Error(), "elsewhere: termhost status NAME STATE [TEXT]")
	}
	return status
}

// sayForAgent is what the settings of `termhost hooks` call. Outside of a terminal, or if the agent
// says nothing of interest, it does nothing. It neither prints nor fails: agents would take that
// for an answer.
func sayForAgent(std stdio, agent string, args []string) int {
	if said, ok := hooks.Said(agent, args, std.in); ok {
		_, _ = sayOwn(stdio{strings.NewReader(""), io.Discard, io.Discard}, said)
	}
	return exitOK
}

// errOutside says that this process is in no terminal of a host.
var errOutside = errors.New("this is not inside a terminal of a host")

// sayOwn tells the host of the terminal that this process is in how its program stands, and returns
// the exit status.
func sayOwn(std stdio, said host.Said) (status int, err error) {
	uri, socket := os.Getenv(host.URIVariable), os.Getenv(host.SocketVariable)
	if uri == "" || socket == "" {
		return 0, errOutside
	}
	client, err := local.Dial(socket)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	words := []string{"status"}
	if said.About != "" {
		words = append(words, "--about="+said.About)
	}
	if said.Program {
		words = append(words, "--program")
	}
	words = append(words, "--", uri, string(said.State), said.Text)
	return client.Run(local.Command{
		Line: commandline.Join(words),
		In:   std.in, Out: std.out, Err: std.err,
	})
}
