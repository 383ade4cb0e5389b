package acp

import (
	"path"
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

// baseOf returns what a terminal's NAME begins with: the program, or where that
// is a shell with -c, the first program of its line.
func baseOf(command string, args []string) string {
	base := path.Base(command)
	if len(args) >= 2 && isShell(base) && strings.HasPrefix(args[0], "-") && strings.HasSuffix(args[0], "c") {
		if word := firstProgram(args[1]); word != "" {
			return word
		}
	}
	return base
}

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "fish", "ksh":
		return true
	}
	return false
}

// firstProgram returns the program that a command line most likely is about:
// its first word that neither sets a variable nor is the change of directory
// before it.
func firstProgram(line string) string {
	words := strings.Fields(line)
	for i := 0; i < len(words); i++ {
		w := strings.Trim(words[i], `"'(){};&|`)
		switch {
		case w == "" || strings.Contains(w, "="):
		case w == "cd" && i+2 < len(words):
			i++ // and its operand
		default:
			return path.Base(w)
		}
	}
	return ""
}
