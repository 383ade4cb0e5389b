package verbs

import (
	"errors"
	"flag"
	"fmt"
	"strconv"

	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
	"termhost/sshd/viewer"
)

// defineAttach shows an existing terminal, or with -A creates it.
func defineAttach(fs *flag.FlagSet) func(*invocation) int {
	readOnly := fs.Bool("r", false, "show it only; without a terminal, as a plain stream")
	create := fs.Bool("A", false, "make it if there is none of that name")
	fs.Func(prefixFlag, "the `KEY` that begins a command, such as ctrl-a; none: no key does; "+
		"SetEnv "+keyboard.PrefixVariable+"=KEY has it so for all verbs",
		func(text string) error {
			_, err := keyboard.ParsePrefix(text)
			return err // see choosePrefix
		})
	history := unasked
	fs.Func("history", "`N` lines above the screen, or all; without it, as many as the line"+
		" carries in about 2 s that the window does not have from before",
		func(text string) (err error) {
			history, err = parseHistory(text)
			return err
		})
	return func(v *invocation) int { return v.attach(*readOnly, *create, history) }
}

// unasked is that nobody has said how many lines above the screen are to be shown.
const unasked = -1

func (v *invocation) attach(readOnly, create bool, history int) int {
	switch {
	case (!readOnly || create) && !v.onTerminal():
		return v.needsTerminal("or use -r to see it as a plain stream")
	case create && len(v.args) == 0:
		return v.misused("-A needs a name")
	}
	t, err := v.which()
	var missing *host.NotFoundError
	if create && errors.As(err, &missing) && len(missing.Candidates) == 0 {
		o := v.createOptions()
		o.Name, o.Dir = v.args[0], v.folder("")
		return v.create(o, viewer.Options{})
	}
	if err != nil {
		return v.failed(err)
	}
	o := v.attachOptions()
	o.ReadOnly = readOnly
	switch {
	case history != unasked:
		o.History, o.Later, o.Anew = history, false, true
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

// parseHistory returns how many lines above the screen are to be shown; 0: all.
func parseHistory(text string) (lines int, err error) {
	if text == "all" {
		return 0, nil
	}
	if lines, err = strconv.Atoi(text); err != nil || lines < 1 {
		return 0, errors.New("give a number of lines, or all")
	}
	return lines, nil
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
