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
		all = append(all, c.described())
	}
	return all
}

// described describes the verb.
func (c verb) described() helptext.Verb {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	c.define(fs)
	return helptext.Verb{Name: c.name, Usage: c.usage, Help: c.help,
		Terminal: c.terminal, Input: c.input, Flags: helptext.FlagsOf(fs), Roles: c.who(),
		Examples: c.examples}
}

// WriteHelp explains a verb to a user on the host's own machine, without a host. It does nothing
// if there is no verb of that name. own are flags that the user's program adds.
func WriteHelp(w io.Writer, name string, own ...helptext.Flag) {
	local := Caller{Local: true}
	for _, c := range table() {
		if c.name == name {
			_, _ = io.WriteString(w, c.described().Explain(local.told, own...))
		}
	}
}
