package helptext

import (
	"slices"
	"strings"
)

// Verb describes a verb to a program on the host's own machine, which has the host run it.
type Verb struct {
	Name  string
	Usage string // what follows the name
	Help  string // one line
	// Terminal: it is of most use at a terminal. Input: it reads standard input.
	Terminal, Input bool
	Flags           []Flag
	Roles           string   // the roles that may use it; "": any
	Examples        []string // of the whole command line, behind "ssh HOST"
}

// Flag is one flag of a Verb.
type Flag struct {
	Shape string // as it is typed: "-n", "--json"
	Value string // what its value is called; "": it has none
	Help  string
}

// Shapes is how the flag is typed, with its value.
func (f Flag) Shapes() string { return strings.TrimSpace(f.Shape + " " + f.Value) }

// UsesTerminal reports whether the verb uses its user's terminal, if there is one, when it has
// these arguments. The program of `run` may need one, even though run itself does not.
func (v Verb) UsesTerminal(args []string) bool {
	return v.Terminal || v.Name == "run" || Looks(v.Name, args)
}

// Looks reports whether a verb with these arguments is a reader, unlike the same one without.
func Looks(name string, args []string) bool {
	return name == "log" && (slices.Contains(args, "--look") || slices.Contains(args, "-look"))
}

// ReadsInput reports whether the verb reads standard input when it has these arguments. `send` and
// `invite` do only if an argument names it.
func (v Verb) ReadsInput(args []string) bool {
	if Looks(v.Name, args) {
		return true
	}
	if v.Name != "send" && v.Name != "invite" {
		return v.Input
	}
	return slices.ContainsFunc(args, func(a string) bool { return a == "-" || a == "--key=-" })
}
