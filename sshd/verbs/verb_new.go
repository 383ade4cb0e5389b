package verbs

import (
	"flag"
	"fmt"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/sshd/viewer"
)

// recordHelp explains --record.
const recordHelp = "record all that it shows, from the beginning on"

// defineNew makes a terminal that stays after its program's exit.
func defineNew(fs *flag.FlagSet) func(*invocation) int {
	name := fs.String("n", "", "its `NAME`; otherwise the host chooses one")
	dir := fs.String("C", "", "the folder `DIR` that its program starts in")
	detached := fs.Bool("d", false, "print its NAME instead of attaching to it")
	guarded := fs.Bool("guard", false, "what agents type into it waits for a person's approval")
	recorded := fs.Bool("record", false, recordHelp)
	on := onFlag(fs)
	var labels ahp.Labels
	labelsFlag(fs, &labels)
	return func(v *invocation) int {
		if *on != "" {
			if status, done := v.runOn(*on, len(v.words)); done {
				return status
			}
		}
		o := host.CreateOptions{Guarded: *guarded, Record: *recorded, Labels: labels}
		return v.makeNew(*name, *dir, *detached, o)
	}
}

// parseNew reads the flags; it does not parse what follows "--".
func (v *invocation) parseNew() (status int, done bool) {
	args, status, done := v.parseFlags()
	if done {
		return status, true
	}
	var err error
	if v.run, err = v.program(v.rest); err != nil {
		return v.misused("%v", err), true
	}
	return v.counted(args, 0, 0)
}

// makeNew makes a terminal; as has the remaining options.
func (v *invocation) makeNew(name, dir string, detached bool, as host.CreateOptions) int {
	if v.tail && v.run.empty() {
		return v.misused("say what to run after --, or leave it out")
	}
	o := v.createOptions()
	o.Name, o.Dir, o.Line, o.Argv = name, v.folder(dir), v.run.line, v.run.argv
	o.Guarded, o.Record, o.Labels = as.Guarded, as.Record, as.Labels
	if detached {
		made, err := v.Conn.Create(o)
		if err != nil {
			return v.notStarted(err)
		}
		fmt.Fprintln(v.stdout, v.shown(made.Terminal.Name()))
		return StatusOK
	}
	if !v.onTerminal() {
		return v.needsTerminal("or use -d to make the terminal without attaching")
	}
	return v.create(o, viewer.Options{})
}
