//go:build !linux

package main

import (
	"context"
	"io"

	"termhost/sshd/verbs/helptext"
)

// The commands that need a host on this machine. No host runs on this system.
var serve, runKeeper, explainConfig, printSSHConfig, stop, sayStatus, fleetCommand, agentHooks,
	sftpServer, benchmark func(*call) int

const (
	// hintUnknown is the hint for an unknown command.
	hintUnknown = "termhost help lists the commands; a host's verbs are behind ssh HOST"
	// aboutVerbs stands where help has the verbs.
	aboutVerbs = "A host's verbs are behind ssh: ssh HOST help lists them.\n"
)

func verbTable() []helptext.Verb { return nil }

func hostVerbs() []command { return nil }

func ownFlags(string) []helptext.Flag { return nil }

func fleetCommands() []string { return nil }

func formats() hostFormats { return hostFormats{} }

// errLocal refuses --local.
var errLocal = &linuxOnlyError{"--local"}

func localWay(string) (hostWay, error) { return hostWay{}, errLocal }

func (a pageArgs) openLocal(std stdio) int { return fail(std, exitUsage, errLocal.Error(), "") }

func (a mcpArgs) localDial(io.Writer) (
	func(context.Context) (io.ReadWriteCloser, error), error,
) {
	return nil, errLocal
}
