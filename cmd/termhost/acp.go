package main

import (
	"errors"
	"os"
	"slices"
	"time"

	"termhost/ahp/client"
	"termhost/cmd/termhost/acpproxy"
	"termhost/cmd/termhost/sshcmd"
)

// proxyACP is `termhost acp`: it runs an agent, and is a proxy between the agent and the editor,
// which is on the standard streams.
func proxyACP(c *call) int {
	cut := slices.Index(c.args, "--")
	switch {
	case len(c.args) > 0 && isHelp(c.args[0]):
		return c.printUsage()
	case cut < 0 || cut == len(c.args)-1:
		return c.badUsage("no agent is named")
	}
	way, err := parseWay(c.args[:cut], c.std)
	if err != nil {
		return c.badUsage(err.Error())
	}
	return runAgent(way, c.args[cut+1:], c.std)
}

// hostWay is how a host is reached.
type hostWay struct {
	dial   client.Dialer
	attach func(uri string) []string // the command that shows a terminal on this machine
	local  bool                      // the host is on this machine

	keepalive time.Duration // acpproxy.Keepalive, or less in a test
	away      time.Duration // acpproxy.Away, or less in a test
}

// parseWay returns the way that the arguments before "--" name.
func parseWay(args []string, std stdio) (hostWay, error) {
	if len(args) > 0 && args[0] == "--local" {
		switch args = args[1:]; {
		case len(args) == 0:
			return localWay("")
		case len(args) == 2 && args[0] == "-c":
			return localWay(args[1])
		}
		return hostWay{}, errors.New("--local takes no host, only -c FILE")
	}
	target, err := sshcmd.Parse(args)
	if err != nil {
		return hostWay{}, err
	}
	dialer := &sshcmd.Dialer{Target: target, Words: sshcmd.AHP(), Stderr: std.err}
	return hostWay{
		dial:      client.Lines(dialer.Dial),
		attach:    target.Attach,
		keepalive: acpproxy.Keepalive,
		away:      acpproxy.Away,
	}, nil
}

// hint says what to do when the host cannot be reached.
func (w hostWay) hint() string {
	if w.local {
		return "start it with: termhost serve"
	}
	return hintRemote
}

// runAgent runs the agent between the standard streams and the host, and returns the agent's exit
// status.
func runAgent(way hostWay, argv []string, std stdio) int {
	status, err := acpproxy.Run(acpproxy.Agent{
		Argv: argv, Dir: workingDirectory(), Env: way.environment(),
		In: std.in, Out: std.out, Err: std.err,
		Dial: way.dial, Attach: way.attach, Keepalive: way.keepalive, Away: way.away,
	})
	var notStarted *acpproxy.StartError
	switch {
	case errors.As(err, &notStarted):
		return fail(std, startStatus(err), err.Error(), "")
	case err != nil:
		return fail(std, exitFailure, err.Error(), way.hint())
	}
	return status
}

// workingDirectory returns this process's working directory; "": unknown.
func workingDirectory() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// environment returns the variables of this process that the agent's commands get. On the same
// machine they should find the programs that the agent finds.
func (w hostWay) environment() []string {
	if path := os.Getenv("PATH"); w.local && path != "" {
		return []string{"PATH=" + path}
	}
	return nil
}
