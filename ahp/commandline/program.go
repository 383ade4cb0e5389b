// Package commandline reads commands, as words or as a line of shell, and guesses which program
// they are about. It also writes words as a line of shell. It runs nothing.
package commandline

import (
	"path"
	"strings"
)

// Program returns the name of the program that a command, which has one word at least, is most
// likely about. Agents send "bash -lc 'cd x && FOO=1 timeout 60 npm test'" and mean npm. It is what
// a terminal is named after: for people, so a guess is good enough.
func Program(argv []string) string {
	const deep = 8 // launchers in launchers
	base := path.Base(argv[0])
	for range deep {
		argv = launched(argv)
		if len(argv) == 0 {
			break
		}
		base = path.Base(argv[0])
	}
	return base
}

// ProgramOf returns the name of the program that a line of shell is most likely about; "sh": there
// is none to tell.
func ProgramOf(line string) string { return Program([]string{"sh", "-c", line}) }

// OfShell returns the line that a command runs with a shell's -c. ok is false if it does not.
func OfShell(argv []string) (line string, ok bool) {
	if len(argv) < 3 || !isShell(path.Base(argv[0])) {
		return "", false
	}
	line = shellLine(argv[1:])
	return line, line != ""
}

// launched returns the command that argv only launches; nil if it does not launch one.
func launched(argv []string) []string {
	name := path.Base(argv[0])
	if isShell(name) {
		return mainCommand(shellLine(argv[1:]))
	}
	if l, ok := launcherOf(name); ok {
		return l.command(argv[1:])
	}
	return nil
}

// launcher is how a program is called that runs another one.
type launcher struct {
	valued   string // the one-letter options whose value may be the next word
	operands int    // how many words stand between the options and the command
}

// launcherOf returns the launcher of a name; ok is false if it is none.
func launcherOf(name string) (l launcher, ok bool) {
	switch name {
	case "env":
		l.valued = "uCa"
	case "timeout", "gtimeout":
		l = launcher{"ks", 1}
	case "nice":
		l.valued = "n"
	case "ionice":
		l.valued = "cnpPu"
	case "sudo":
		l.valued = "ugpCcDRrtThU"
	case "doas":
		l.valued = "uC"
	case "stdbuf":
		l.valued = "ioe"
	case "exec":
		l.valued = "a"
	case "time":
		l.valued = "fo"
	case "nohup", "setsid", "command", "builtin", "chronic", "unbuffer", "noglob":
	case "and", "or", "not": // fish's
	default:
		return l, false
	}
	return l, true
}

// command returns the command that follows a launcher's options, variables and operands; nil if
// there is none.
func (l launcher) command(args []string) []string {
	operands := l.operands
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case strings.HasPrefix(w, "--"), isAssignment(w):
		case len(w) > 1 && w[0] == '-':
			if strings.IndexAny(w, l.valued) == len(w)-1 { // else the value is in the same word
				i++
			}
		case operands > 0:
			operands--
		case w != unknown:
			return args[i:]
		}
	}
	return nil
}

// isAssignment reports whether a word sets a variable.
func isAssignment(w string) bool {
	name, _, found := strings.Cut(w, "=")
	if !found || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+"
	return strings.Trim(name, letters) == ""
}
