//go:build !linux || laptop

// With the tag laptop the program is on Linux what it is where no host runs, so that this can be
// tried there.

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"termhost/cmd/termhost/bench"
	"termhost/cmd/termhost/sshconfig"
	"termhost/sshd/verbs/completion"
	"termhost/sshd/verbs/helptext"
)

// The commands that need a host on this machine. No host runs on this system.
var serve, runKeeper, explainConfig, stop, sayStatus, fleetCommand, agentHooks,
	sftpServer func(*call) int

const (
	// usageWay is how usages name a host.
	usageWay = "[ssh options] DEST"
	// usageBlock is which host ssh-config is about.
	usageBlock = usageWay
	aboutBlock = "the host of DEST"
	// usageBench is what `termhost bench` measures.
	usageBench = "--ssh DEST"
	// hintUnknown is the hint for an unknown command.
	hintUnknown = "termhost help lists the commands; a host's verbs are behind ssh HOST, and are " +
		"commands on Linux only"
	// aboutVerbs stands where help has the verbs.
	aboutVerbs = "A host's verbs are behind ssh: ssh HOST help lists them. " +
		"One of them is here, too, as it\n" +
		"comes back by itself when the connection is lost:\n\n"
)

// verbTable returns the verbs of a host that are commands here.
func verbTable() []helptext.Verb { return []helptext.Verb{helptext.Attach()} }

// hostVerbs returns these as commands of this program.
func hostVerbs() []command {
	about := helptext.Attach()
	usage := "--ssh DEST [--retry D] [--predict HOW] " + about.Usage
	return []command{{about.Name, usage, about.Help, attachTerminal}}
}

// completionOf returns what a shell completes of attach. The NAMEs are on a host elsewhere.
func completionOf(v helptext.Verb) completion.Command {
	c := completion.Of(v)
	c.Names = false
	for _, f := range attachFlags() {
		c.Flags = append(c.Flags, f.Shape)
	}
	return c
}

// explainVerb explains the command, which is the host's verb attach.
func (c *call) explainVerb(v helptext.Verb) {
	here := strings.NewReplacer("ssh -t HOST attach", "termhost attach --ssh HOST",
		"ssh HOST attach [--ssh DEST]", "termhost attach --ssh DEST")
	fmt.Fprint(c.std.out, v.Explain(here.Replace, attachFlags()...))
}

func fleetCommands() []string { return nil }

func formats() hostFormats { return hostFormats{} }

func ownBlock(string) (b sshconfig.Block, code int, err error) {
	return b, exitUsage, &linuxOnlyError{"termhost ssh-config without DEST"}
}

func hintNoBlock(error) string { return "" }

func personsHome() (string, error) { return os.UserHomeDir() }

// errLocal refuses --local.
var errLocal = &linuxOnlyError{"--local"}

func localWay(string) (hostWay, error) { return hostWay{}, errLocal }

func benchHere(context.Context, bench.Options) (*bench.Report, error) {
	return nil, &linuxOnlyError{"termhost bench without --ssh DEST"}
}

func attachHere(string) (*attachWay, error) {
	return nil, &linuxOnlyError{"termhost attach without --ssh DEST"}
}

func (a pageArgs) openLocal(std stdio) int { return fail(std, exitUsage, errLocal.Error(), "") }

func (a mcpArgs) localDial(io.Writer) (
	func(context.Context) (io.ReadWriteCloser, error), error,
) {
	return nil, errLocal
}
