package acp

import (
	"path"
	"slices"
	"strings"
)

// baseOf returns what a terminal's NAME begins with: the program that a command is
// most likely about. Agents send "bash -lc 'cd x && FOO=1 timeout 60 npm test'" and
// mean npm. It is for people only, so that a guess is good enough.
func baseOf(argv []string) string {
	const deep = 8 // launchers in launchers
	base := path.Base(argv[0])
	for range deep {
		next := launched(argv)
		if len(next) == 0 {
			break
		}
		argv, base = next, path.Base(next[0])
	}
	return base
}

// launched returns the command that argv only launches; nil: it is one itself.
func launched(argv []string) []string {
	name := path.Base(argv[0])
	if isShell(name) {
		return aboutWhat(shellLine(argv[1:]))
	}
	l, is := launchers(name)
	if !is {
		return nil
	}
	return l.command(argv[1:])
}

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox":
		return true
	}
	return false
}

// shellLine returns the command line among a shell's arguments, that of -c; "":
// there is none.
func shellLine(args []string) string {
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case strings.HasPrefix(w, "--"), w == "sh": // a long option; busybox sh
		case len(w) < 2 || w[0] != '-' && w[0] != '+':
			return ""
		case w[0] == '-' && strings.Contains(w, "c"):
			if strings.HasSuffix(w, "o") { // -euco pipefail
				i++
			}
			if i+1 < len(args) {
				return args[i+1]
			}
			return ""
		case strings.HasSuffix(w, "o"), strings.HasSuffix(w, "O"):
			i++ // the option's name
		}
	}
	return ""
}

// launcher is a program that runs another one.
type launcher struct {
	valued   string // the options, of one letter, whose value may be the next word
	operands int    // that stand before the command
}

// launchers returns how a program that runs another one is called.
func launchers(name string) (l launcher, is bool) {
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
	default:
		return l, false
	}
	return l, true
}

// command returns the command behind a launcher's options, variables and
// operands; nil: there is none.
func (l launcher) command(args []string) []string {
	operands := l.operands
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w == "--", strings.HasPrefix(w, "--"), isAssignment(w):
		case len(w) > 1 && w[0] == '-':
			if strings.Contains(l.valued, w[len(w)-1:]) && strings.IndexAny(w, l.valued) == len(w)-1 {
				i++
			}
		case operands > 0:
			operands--
		default:
			return args[i:]
		}
	}
	return nil
}

// aboutWhat returns the command that a line of shell is about: its first one that
// does not only prepare others; if all do, the first of these.
func aboutWhat(line string) []string {
	var fallback []string
	for _, words := range simpleCommands(line) {
		words = skipKeywords(words)
		switch {
		case len(words) == 0:
		case !prepares(words[0]):
			return words
		case fallback == nil:
			fallback = words
		}
	}
	return fallback
}

// skipKeywords returns the words of a command behind reserved words and variables
// (POSIX.1-2024, Shell Command Language, 2.4 and 2.9.1); nil if they name no
// program.
func skipKeywords(words []string) []string {
	for i, w := range words {
		switch w {
		case "if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "(", ")", "time", "begin", "and", "or", "not":
			continue
		case "for", "select", "case", "function", "fi", "done", "esac", "end":
			return nil
		}
		if isAssignment(w) {
			continue
		}
		if w == "" || strings.HasPrefix(w, "$") || strings.HasPrefix(w, "`") {
			return nil // whatever that is
		}
		return words[i:]
	}
	return nil
}

// prepares reports whether a program, as a rule, only prepares what comes behind
// it.
func prepares(name string) bool {
	return slices.Contains([]string{"cd", "pushd", "popd", "set", "unset", "export", "declare", "local", "readonly", "typeset",
		"source", ".", "shopt", "setopt", "ulimit", "umask", "trap", "alias", "eval", "test", "[", "[[", "true", ":", "false",
		"read", "wait", "return", "exit"}, name)
}

// isAssignment reports whether a word sets a variable.
func isAssignment(w string) bool {
	name, _, is := strings.Cut(w, "=")
	if !is || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+") == ""
}
