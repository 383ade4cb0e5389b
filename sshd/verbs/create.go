package verbs

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/sshd/viewer"
)

// forced runs the only command that the key may run. As with sshd, SSH_ORIGINAL_COMMAND has the one
// that the peer asked for.
func (v *invocation) forced(original string) int {
	o := v.createOptions()
	o.Line = v.principal().Command
	o.Forced = true
	if original != "" {
		o.Env = append(o.Env, "SSH_ORIGINAL_COMMAND="+original)
	}
	if v.ordinaryToo() {
		return v.ordinary(o)
	}
	return v.runToEnd(o, false)
}

// runToEnd runs a program for a peer that waits for its end: on a terminal if the peer has one,
// else on pipes. keep: it does not end with the peer.
func (v *invocation) runToEnd(o host.CreateOptions, keep bool) int {
	o.Transient = true
	if v.onTerminal() {
		return v.create(o, viewer.Options{})
	}
	return v.stream(o, keep)
}

// createOptions returns the options of a new terminal from the peer's terminal and environment. As
// with sshd, SSH_CONNECTION and SSH_CLIENT have the peer's address; bash reads .bashrc for a
// command that finds the latter.
func (v *invocation) createOptions() host.CreateOptions {
	o := host.CreateOptions{ClientEnv: v.programEnv(), Held: v.startHeld,
		ForwardsAgent: v.ForwardsAgent}
	if ends := strings.Fields(v.Endpoints); len(ends) == 4 {
		client := strings.Join([]string{ends[0], ends[1], ends[3]}, " ")
		o.DoorEnv = append(o.DoorEnv, "SSH_CONNECTION="+v.Endpoints, "SSH_CLIENT="+client)
	}
	if term, ok := v.Terminal(); ok {
		o.Term, o.TTYVar = cmp.Or(term, "dumb"), "SSH_TTY"
		size := v.Window()
		o.Cols, o.Rows, o.Pixels = size.Cols, size.Rows, size.Pixels
		o.Modes = v.Modes()
	}
	return o
}

// startHeld tells the peer, an agent, that what it starts waits for a person's approval. It is
// withdrawn when the peer leaves.
func (v *invocation) startHeld(s *host.Starting) {
	name := v.shown(s.Terminal().Name())
	fmt.Fprintf(v.stderr, "termhost: %s waits for a person's approval before it starts\n", name)
	context.AfterFunc(v.ctx, func() { s.Withdraw(context.Cause(v.ctx)) })
}

// folder returns the folder that -C names, relative to the peer's if that is on this machine.
func (c *Caller) folder(dir string) string {
	if c.Dir == "" || dir == "~" || strings.HasPrefix(dir, "~/") || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(c.Dir, dir)
}

// create makes a terminal and shows it to its end.
func (v *invocation) create(o host.CreateOptions, shown viewer.Options) int {
	as := v.attachOptions()
	o.Attach = &as
	if as.Below > 0 {
		o.Rows, o.Pixels = as.Rows, as.Pixels
	}
	made, err := v.Conn.Create(o)
	if err != nil {
		return v.notStarted(err)
	}
	return v.show(made.Attach, made.First, shown)
}

// maxDetached bounds the detached terminals that are named: as many as fit into a line.
const maxDetached = 5

// namesDetached names, in a sentence, the peer's running terminals that nobody is attached to; "":
// there are none.
func (v *invocation) namesDetached() string {
	list, err := v.Conn.List()
	if err != nil {
		return ""
	}
	var names []string
	for _, t := range list {
		running := t.State == host.StateRunning && t.Executor == ahp.ExecutorServer
		if t.Mine && running && t.Viewers == 0 {
			names = append(names, t.Name)
		}
	}
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return fmt.Sprintf("1 terminal is running: %s; `%s` shows it", names[0],
			v.comeBack(names[0]))
	case n > maxDetached:
		return fmt.Sprintf(v.told("%d terminals are running: %s, ...; `ssh HOST ls` lists them"), n,
			strings.Join(names[:maxDetached], ", "))
	default:
		return fmt.Sprintf(v.told("%d terminals are running: %s;"+
			" `ssh -t HOST attach NAME` shows one"), n, strings.Join(names, ", "))
	}
}
