package sshd

import (
	"fmt"

	"termhost/ahp"
)

// runLog prints what a terminal has printed, as far as it is retained.
func runLog(v *invocation) int {
	fs := v.flags()
	asJSON := fs.Bool("json", false, "")
	fs.Bool("raw", true, "")
	args, status, done := v.parse(fs, 1, 1)
	if done {
		return status
	}
	t, err := v.host().Find(v.principal(), args[0])
	if err != nil {
		return v.failed(err)
	}
	st, err := v.host().Read(v.principal(), t)
	if err != nil {
		return v.failed(err)
	}
	if *asJSON {
		_, err = v.stdout.Write(append(st.AppendJSON(nil, ahp.ShapeLifecycle), '\n'))
	} else {
		err = v.writeContent(st.Content)
	}
	if err != nil {
		return statusFailed
	}
	return statusOK
}

// writeContent writes the output as the program wrote it.
func (v *invocation) writeContent(parts []ahp.Part) error {
	out := v.s.newOutlet(v.s.ch)
	for i := range parts {
		for _, chunk := range parts[i].Text.Chunks() {
			if _, err := out.Write(chunk); err != nil {
				return err
			}
		}
	}
	return nil
}

// runPeek prints a terminal's screen.
func runPeek(v *invocation) int {
	fs := v.flags()
	ansi := fs.Bool("ansi", false, "")
	args, status, done := v.parse(fs, 1, 1)
	if done {
		return status
	}
	t, err := v.host().Find(v.principal(), args[0])
	if err != nil {
		return v.failed(err)
	}
	screen, err := v.host().Peek(v.principal(), t, *ansi)
	if err != nil {
		return v.failed(err)
	}
	fmt.Fprintf(v.stdout, "%s", screen)
	return statusOK
}
