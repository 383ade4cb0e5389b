package verbs

import (
	"flag"
	"io"
	"slices"
	"strings"
)

// Verb describes a verb to a program on the host's own machine, which has the host run it: see
// Caller.Local.
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

// shapes is how the flag is typed, with its value.
func (f Flag) shapes() string { return strings.TrimSpace(f.Shape + " " + f.Value) }

// Verbs returns all verbs, in the order of `help`.
func Verbs() []Verb {
	var all []Verb
	for _, c := range table() {
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.define(fs)
		all = append(all, Verb{c.name, c.usage, c.help, c.terminal, c.input, flagsOf(fs), c.who(),
			c.examples})
	}
	return all
}

// UsesTerminal reports whether the verb uses its user's terminal, if there is one, when it has
// these arguments. The program of `run` may need one, even though run itself does not.
func (v Verb) UsesTerminal(args []string) bool {
	return v.Terminal || v.Name == "run" || looks(v.Name, args)
}

// looks reports whether a verb with these arguments is a reader, unlike the same one without.
func looks(name string, args []string) bool {
	return name == "log" && (slices.Contains(args, "--look") || slices.Contains(args, "-look"))
}

// ReadsInput reports whether the verb reads standard input when it has these arguments. `send` and
// `invite` do only if an argument names it.
func (v Verb) ReadsInput(args []string) bool {
	if looks(v.Name, args) {
		return true
	}
	if v.Name != "send" && v.Name != "invite" {
		return v.Input
	}
	return slices.ContainsFunc(args, func(a string) bool { return a == "-" || a == "--key=-" })
}

func flagsOf(fs *flag.FlagSet) (list []Flag) {
	fs.VisitAll(func(f *flag.Flag) {
		value, help := flag.UnquoteUsage(f)
		list = append(list, Flag{dashed(f.Name), value, help})
	})
	return list
}

// WriteHelp explains a verb to a user on the host's own machine, without a host. It does nothing
// if there is no verb of that name. own are flags that the user's program adds.
func WriteHelp(w io.Writer, name string, own ...Flag) {
	local := Caller{Local: true}
	for _, c := range table() {
		if c.name == name {
			_, _ = io.WriteString(w, c.explained(local.told, own...))
		}
	}
}
