package acp

import (
	"strings"

	"termhost/ahp/commandline"
	"termhost/ahp/host"
)

// maxCommandTitle is how much of a command line is in a title, in bytes, so that the agent's name
// behind it has room within the host's 256.
const maxCommandTitle = 180

// titleOf returns the title of an agent's terminal: the command line, which may be a shell's, and
// who runs it.
func titleOf(argv []string, agent string) string {
	line := argv[0]
	if shell, ok := commandline.OfShell(argv); ok && shell == argv[len(argv)-1] {
		line, argv = shell, nil
	}
	for i := 1; i < len(argv) && len(line) <= maxCommandTitle; i++ {
		line += " " + quoted(argv[i])
	}
	line = strings.Join(strings.Fields(line), " ")
	if len(line) > maxCommandTitle {
		line = strings.ToValidUTF8(line[:maxCommandTitle], "") + "..."
	}
	return host.CleanTitle(line + " (" + agent + ")")
}

// quoted returns an argument as a person would type it into a shell.
func quoted(arg string) string {
	if arg != "" && !strings.ContainsAny(arg, " \t\n\"'\\$`;&|<>()*?[]{}~#!") {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
