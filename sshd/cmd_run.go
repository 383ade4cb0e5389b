package sshd

// runRun runs a command to its end. Its terminal goes with it, unless the
// connection is lost before. The command begins behind "--", or with the first word
// that is no flag.
func runRun(v *invocation) int {
	fs := v.flags()
	name := fs.String("n", "", "")
	dir := fs.String("C", "", "")
	args, status, done := v.flagsAtHead(fs, v.words)
	if done {
		return status
	}
	command := v.rest
	if n := len(v.words) - len(args); n < len(v.words) {
		command = v.from[n]
	}
	if command == "" {
		return v.misused("say what to run after --")
	}
	o := v.s.createOptions()
	o.Name, o.Dir, o.Line, o.Transient = *name, *dir, command, true
	return v.create(o, nil)
}
