package sshd

import (
	"fmt"
)

// runNew makes a terminal that stays when its program has exited.
func runNew(v *invocation) int {
	fs := v.flags()
	name := fs.String("n", "", "")
	dir := fs.String("C", "", "")
	detached := fs.Bool("d", false, "")
	args, status, done := v.parseFlags(fs)
	if !done {
		_, status, done = v.counted(args, 0, 0)
	}
	if done {
		return status
	}
	if v.tail && v.rest == "" {
		return v.misused("say what to run after --, or leave it out")
	}
	o := v.s.createOptions()
	o.Name, o.Dir, o.Line = *name, *dir, v.rest
	if *detached {
		t, err := v.host().Create(v.principal(), o)
		if err != nil {
			return v.notStarted(err)
		}
		fmt.Fprintln(v.stdout, t.Name())
		return statusOK
	}
	if v.s.pty == nil {
		return v.needsPty("or use -d to make the terminal without attaching")
	}
	return v.create(o, nil)
}

// needsPty refuses what makes no sense without a terminal at the peer's end.
func (v *invocation) needsPty(instead string) int {
	fmt.Fprintf(v.stderr, "termhost: error: %s needs a terminal at your end\n", v.cmd.name)
	how := "ssh -t HOST " + v.cmd.name + " ..."
	if v.s.c.known != nil {
		how = "run `termhost " + v.cmd.name + "` in one"
	}
	fmt.Fprintf(v.stderr, "hint: %s, %s\n", how, instead)
	return statusUsage
}
