package verbs

import (
	"flag"
	"io"

	"termhost/sshd/verbs/helptext"
)

// Verbs returns all verbs, in the order of `help`.
func Verbs() []helptext.Verb {
	var all []helptext.Verb
	for _, c := range table() {
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.define(fs)
		all = append(all, helptext.Verb{Name: c.name, Usage: c.usage, Help: c.help,
			Terminal: c.terminal, Input: c.input, Flags: flagsOf(fs), Roles: c.who(),
			Examples: c.examples})
	}
	return all
}

func flagsOf(fs *flag.FlagSet) (list []helptext.Flag) {
	fs.VisitAll(func(f *flag.Flag) {
		value, help := flag.UnquoteUsage(f)
		list = append(list, helptext.Flag{Shape: helptext.Dashed(f.Name), Value: value, Help: help})
	})
	return list
}

// WriteHelp explains a verb to a user on the host's own machine, without a host. It does nothing
// if there is no verb of that name. own are flags that the user's program adds.
func WriteHelp(w io.Writer, name string, own ...helptext.Flag) {
	local := Caller{Local: true}
	for _, c := range table() {
		if c.name == name {
			_, _ = io.WriteString(w, c.explained(local.told, own...))
		}
	}
}
