package acp

import (
	"strings"

	"termhost/ahp/host"
)

// maxCommandTitle is how much of a command line is in a title, in bytes, so that
// the agent's name behind it has room within the host's 256.
const maxCommandTitle = 180

// titleOf returns the title of an agent's terminal: the command line, and who
// runs it.
func titleOf(command string, args []string, agent string) string {
	var b strings.Builder
	b.WriteString(command)
	for _, a := range args {
		b.WriteByte(' ')
		b.WriteString(quoted(a))
		if b.Len() > maxCommandTitle {
			break
		}
	}
	line := strings.Join(strings.Fields(b.String()), " ")
	if len(line) > maxCommandTitle {
		line = strings.ToValidUTF8(line[:maxCommandTitle], "") + "..."
	}
	return host.CleanTitle(line + " (" + agent + ")")
}

// quoted returns an argument as one would type it into a shell.
func quoted(arg string) string {
	if arg != "" && !strings.ContainsAny(arg, " \t\n\"'\\$`;&|<>()*?[]{}~#!") {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
