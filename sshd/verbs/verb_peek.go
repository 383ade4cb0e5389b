package verbs

import "flag"

// definePeek prints a terminal's screen.
func definePeek(fs *flag.FlagSet) func(*invocation) int {
	ansi := fs.Bool("ansi", false, "with its colours and attributes")
	return func(v *invocation) int { return v.peek(*ansi) }
}

func (v *invocation) peek(ansi bool) int {
	t, err := v.find(v.args[0])
	if err != nil {
		return v.failed(err)
	}
	screen, err := v.Conn.Peek(t, ansi)
	return v.printed(v.stdout, err, screen)
}
