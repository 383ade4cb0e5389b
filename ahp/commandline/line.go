package commandline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxLine is how much of a command line is parsed, in bytes. It bounds how deep the parser recurses
// into a line that is made to exhaust the stack.
const maxLine = 4 << 10

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox":
		return true
	}
	return false
}

// shellLine returns the command line among a shell's arguments, which is that of -c; "" if there is
// none.
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
			i++ // the name of a shell option
		}
	}
	return ""
}

// mainCommand returns the words of the command that a line of shell is about: the first one that
// does more than prepare the others, or else the first one; nil if there is none.
func mainCommand(line string) []string {
	var first, main []string
	visit := func(n syntax.Node) bool {
		if main != nil {
			return false
		}
		var words []string
		switch n := n.(type) {
		case *syntax.CallExpr:
			words = wordsOf(n.Args)
		case *syntax.DeclClause: // export, local ...
			words = []string{n.Variant.Value}
		case *syntax.Word, *syntax.Redirect, *syntax.FuncDecl:
			return false // the commands in these only serve others
		}
		if len(words) == 0 {
			return true
		}
		if first == nil {
			first = words
		}
		if !prepares(words[0]) {
			main = words
		}
		return main == nil
	}
	line = line[:min(len(line), maxLine)]
	parsed, err := statements(line)
	for _, stmt := range parsed {
		syntax.Walk(stmt, visit)
	}
	var wrong syntax.ParseError
	if main == nil && errors.As(err, &wrong) {
		// What comes before the error, such as a here-document that has been cut off, may do.
		parsed, _ = statements(line[:min(int(wrong.Pos.Offset()), len(line))])
		for _, stmt := range parsed {
			syntax.Walk(stmt, visit)
		}
	}
	if main == nil {
		return first
	}
	return main
}

// statements returns what a line of shell consists of, as far as it can be parsed, and the first
// thing that is wrong with it. The line may be any peer's, and v3.14.1 of the parser panics on some
// that have a mistake (A=$((0 A is one): that counts as an error like another.
func statements(line string) (parsed []*syntax.Stmt, failure error) {
	defer func() {
		if p := recover(); p != nil {
			failure = fmt.Errorf("the parser failed: %v", p)
		}
	}()
	parser := syntax.NewParser(syntax.RecoverErrors(8)) // of another shell's syntax, for example
	// The loop has no break: the iterator of v3.14.1 may continue after one, and panic.
	for stmt, err := range parser.StmtsSeq(strings.NewReader(line)) {
		if err != nil {
			failure = err
			continue
		}
		parsed = append(parsed, stmt)
	}
	return parsed, failure
}

// unknown replaces what a shell expands, in a word.
const unknown = "$"

// wordsOf returns the words of a command without their quotes; nil if expansion decides which
// program it is.
func wordsOf(args []*syntax.Word) []string {
	words := make([]string, len(args))
	for i, w := range args {
		words[i] = unquoted(w.Parts)
	}
	if len(words) == 0 || words[0] == "" || strings.HasPrefix(words[0], unknown) {
		return nil
	}
	return words
}

func unquoted(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			escaped := false
			for _, c := range []byte(part.Value) {
				if escaped = c == '\\' && !escaped; !escaped {
					b.WriteByte(c)
				}
			}
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			b.WriteString(unquoted(part.Parts))
		default:
			b.WriteString(unknown)
		}
	}
	return b.String()
}

// prepares reports whether a command of this name, as a rule, only prepares what comes after it.
func prepares(name string) bool {
	return slices.Contains([]string{
		"cd", "pushd", "popd", "set", "unset", "export", "declare", "local", "readonly", "typeset",
		"source", ".", "shopt", "setopt", "ulimit", "umask", "trap", "alias", "eval", "test", "[",
		"true", ":", "false", "read", "wait", "return", "exit",
		"begin", "end", // fish's
	}, name)
}
