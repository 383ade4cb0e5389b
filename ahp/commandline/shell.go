package commandline

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// InteractiveShell reports whether a command is nothing but an interactive shell, such as zsh or
// "bash -l", and whether that is a login shell.
func InteractiveShell(argv []string) (login, ok bool) {
	if len(argv) == 0 || !isShell(path.Base(argv[0])) {
		return false, false
	}
	for _, option := range argv[1:] {
		switch option {
		case "-l", "--login":
			login = true
		case "-i", "--interactive":
		case "-il", "-li":
			login = true
		default:
			return false, false
		}
	}
	return login, true
}

// Words returns the words of a line of shell that is one simple command without anything that the
// shell would expand; nil if it is not.
func Words(line string) []string {
	if len(line) > maxLine {
		return nil
	}
	parsed, err := statements(line)
	if err != nil || len(parsed) != 1 {
		return nil
	}
	stmt := parsed[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(stmt.Redirs) > 0 || stmt.Background || stmt.Negated {
		return nil
	}
	words := make([]string, len(call.Args))
	for i, w := range call.Args {
		// One without quotes and without what a shell may expand.
		words[i] = w.Lit()
		if words[i] == "" || strings.ContainsAny(words[i], "\\~*?[{$") {
			return nil
		}
	}
	return words
}

// Quote returns a word that a POSIX shell reads as s.
func Quote(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Join returns a line that a POSIX shell splits into these words.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}
