package verbs

import (
	"errors"
	"flag"
	"fmt"

	"termhost/ahp/host"
	"termhost/authz"
	"termhost/sshd/verbs/helptext"
	"termhost/sshd/viewer"
)

// attachVerb shows an existing terminal, or with -A creates it.
func attachVerb() verb {
	about := helptext.Attach()
	return verb{
		name: about.Name, group: typeGroup, brief: "a terminal again",
		usage: about.Usage, help: about.Help, examples: about.Examples,
		terminal: about.Terminal, input: about.Input,
		names: namesFirst, needs: authz.AttachReadOnly, most: 1, define: defineAttach,
	}
}

// defineAttach leaves the prefix key to choosePrefix.
func defineAttach(fs *flag.FlagSet) func(*invocation) int {
	flags := new(helptext.AttachFlags)
	flags.Define(fs)
	return func(v *invocation) int { return v.attach(flags) }
}

func (v *invocation) attach(flags *helptext.AttachFlags) int {
	switch {
	case (!flags.ReadOnly || flags.Create) && !v.onTerminal():
		return v.needsTerminal("or use -r to see it as a plain stream")
	case flags.Create && len(v.args) == 0:
		return v.misused("-A needs a name")
	}
	t, err := v.which()
	var missing *host.NotFoundError
	if flags.Create && errors.As(err, &missing) && len(missing.Candidates) == 0 {
		o := v.createOptions()
		o.Name, o.Dir = v.args[0], v.folder("")
		return v.create(o, viewer.Options{})
	}
	if err != nil {
		return v.failed(err)
	}
	o := v.attachOptions()
	o.ReadOnly = flags.ReadOnly
	switch {
	case flags.History != helptext.HistoryUnasked:
		o.History, o.Later, o.Anew = flags.History, false, true
	case v.Arrives:
		o.History = viewer.SwitchHistory
	}
	_, over := t.Exit()
	a, first, err := v.Conn.Attach(t, o)
	if err != nil {
		return v.failed(err)
	}
	return v.show(a, first, viewer.Options{Greet: true, Came: true, Over: over, Again: v.again(),
		Away: v.Away, Arriving: v.Arriving, Listed: v.Listed})
}

var errNoTerminal = errors.New("there is no terminal to attach to")

// which returns the terminal of a NAME, or the last used one.
func (v *invocation) which() (*host.Terminal, error) {
	if len(v.args) > 0 {
		return v.Conn.FindBegun(v.args[0])
	}
	if t := v.Conn.LastUsed(); t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%w%s", errNoTerminal, v.howToMakeOne())
}
