package verbs

import "flag"

// defineRun runs a command to its end. The command begins behind "--", or with the first word that
// is no flag.
func defineRun(fs *flag.FlagSet) func(*invocation) int {
	name := fs.String("n", "", "the `NAME` of its terminal; otherwise the host chooses one")
	dir := fs.String("C", "", "the folder `DIR` that it starts in")
	keep := fs.Bool("keep", false,
		"let it go on when the connection ends; its NAME is printed on stderr")
	recorded := fs.Bool("record", false, recordHelp)
	on := onFlag(fs)
	return func(v *invocation) int {
		if *on != "" {
			if status, done := v.runOn(*on, v.flagWords); done {
				return status
			}
		}
		return v.runCommand(*name, *dir, *keep, *recorded)
	}
}

// parseRun reads the flags and finds where the command begins.
func (v *invocation) parseRun() (status int, done bool) {
	args, status, done := v.flagsAtHead(v.words)
	if done {
		return status, true
	}
	text := v.rest
	if v.flagWords = len(v.words) - len(args); v.flagWords < len(v.words) {
		text = v.from[v.flagWords]
	}
	var err error
	switch v.run, err = v.program(text); {
	case err != nil:
		return v.misused("%v", err), true
	case v.run.empty():
		return v.misused("say what to run after --"), true
	}
	return StatusOK, false
}

func (v *invocation) runCommand(name, dir string, keep, recorded bool) int {
	o := v.createOptions()
	o.Name, o.Dir, o.Line, o.Argv = name, v.folder(dir), v.run.line, v.run.argv
	o.Record = recorded
	return v.runToEnd(o, keep)
}
