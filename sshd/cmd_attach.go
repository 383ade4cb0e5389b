package sshd

import (
	"errors"

	"termhost/ahp/host"
)

// runAttach shows a terminal that exists, or with -A makes it.
func runAttach(v *invocation) int {
	fs := v.flags()
	readOnly := fs.Bool("r", false, "")
	create := fs.Bool("A", false, "")
	args, status, done := v.parse(fs, 0, 1)
	switch {
	case done:
		return status
	case v.s.pty == nil && !*readOnly:
		return v.needsPty("or use -r to see it as a plain stream")
	case *create && len(args) == 0:
		return v.misused("-A needs a name")
	}
	t, err := v.which(args)
	var missing *host.NotFoundError
	if *create && errors.As(err, &missing) && len(missing.Candidates) == 0 {
		o := v.s.createOptions()
		o.Name = args[0]
		return v.create(o, nil)
	}
	if err != nil {
		return v.failed(err)
	}
	o := v.s.attachOptions()
	o.ReadOnly = *readOnly
	a, first, err := v.conn().Attach(t, o)
	if err != nil {
		return v.failed(err)
	}
	return v.show(a, first, func(t *typist) {
		t.deaf = *readOnly && v.s.pty == nil
	})
}

var errNoTerminal = errors.New("there is no terminal to attach to; `ssh HOST` makes one")

// which returns the terminal of a NAME, or the last used one.
func (v *invocation) which(args []string) (*host.Terminal, error) {
	if len(args) > 0 {
		return v.host().Find(v.principal(), args[0])
	}
	if t := v.host().LastUsed(v.principal()); t != nil {
		return t, nil
	}
	return nil, errNoTerminal
}
