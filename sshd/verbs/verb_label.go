package verbs

import (
	"flag"
	"fmt"
	"slices"

	"termhost/ahp"
	"termhost/ahp/host"
)

// defineLabel changes a terminal's labels, or prints them.
func defineLabel(*flag.FlagSet) func(*invocation) int { return (*invocation).label }

func (v *invocation) label() int {
	t, err := v.find(v.args[0])
	if err != nil {
		return v.failed(err)
	}
	if len(v.args) > 1 {
		if err := v.Conn.Label(t, v.args[1:]...); err != nil {
			return v.failed(err)
		}
		return StatusOK
	}
	if labels := t.Labels(); labels != "" {
		fmt.Fprintln(v.stdout, labels)
	}
	return StatusOK
}

// labelsFlag adds --label, which sets the labels of a new terminal.
func labelsFlag(fs *flag.FlagSet, labels *ahp.Labels) {
	fs.Func("label", "give it a label `K=V`; more than one may be given", func(text string) error {
		now, err := labels.Change(text)
		*labels = now
		return err
	})
}

// selectorFlag adds -l, which selects terminals by their labels. All that are given must hold.
func selectorFlag(fs *flag.FlagSet, s *ahp.Selector) {
	fs.Func("l", "only those with labels as `SEL` says: K=V, K!=V, K, !K, joined by commas",
		func(text string) error {
			more, err := ahp.ParseSelector(text)
			*s = append(*s, more...)
			return err
		})
}

// selected returns the terminals of NAMEs, each once, or without NAMEs all; and of these those that
// s selects. With s it is an error if there are none.
func (v *invocation) selected(names []string, s ahp.Selector) (list []*host.Terminal, err error) {
	if len(names) > 0 {
		list, err = v.findAll(names)
	} else {
		list, err = v.Conn.Terminals()
	}
	list = slices.DeleteFunc(list, func(t *host.Terminal) bool { return !s.Selects(t.Labels()) })
	if err == nil && len(list) == 0 && len(s) > 0 {
		err = errNoneSelected
	}
	return list, err
}

// selects is [ahp.Selector.Selects] for a terminal that is listed.
func selects(s ahp.Selector) func(host.Info) bool {
	return func(i host.Info) bool { return s.Selects(i.Labels) }
}

var errNoneSelected = fmt.Errorf("no terminal has labels as -l says")
