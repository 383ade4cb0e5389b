package main

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"termhost/sshd/verbs"
)

// manualText is what of the manual page is no table, in the language of man(7). Lines that begin
// with @ are replaced by the tables.
//
//go:embed termhost.1.in
var manualText string

// manual prints the manual page.
func manual(c *call) int {
	if code, ok := c.parse(c.flags(), 0); !ok {
		return code
	}
	w := new(strings.Builder)
	for line := range strings.Lines(manualText) {
		switch line {
		case "@COMMANDS\n":
			for _, own := range ownCommands() {
				entry(w, "termhost "+own.name, own.usage, own.help)
			}
		case "@VERBS\n":
			for _, v := range verbs.Verbs() {
				verbEntry(w, v)
			}
		default:
			w.WriteString(strings.ReplaceAll(line, "@VERSION", roff(version())))
		}
	}
	if _, err := io.WriteString(c.std.out, w.String()); err != nil {
		return exitFailure
	}
	return exitOK
}

// entry writes a command with what it does.
func entry(w io.Writer, name, usage, help string) {
	name = `\fB` + roff(name) + `\fR `
	fmt.Fprintf(w, ".TP\n%s\n%s\n", strings.TrimSpace(name+roff(usage)), roff(help))
}

// verbEntry writes a verb with its flags, roles and examples.
func verbEntry(w io.Writer, v verbs.Verb) {
	entry(w, v.Name, v.Usage, v.Help)
	if v.Roles != "" {
		fmt.Fprintf(w, "(for %s)\n", roff(v.Roles))
	}
	if len(v.Flags)+len(v.Examples) == 0 {
		return
	}
	io.WriteString(w, ".RS\n")
	for _, f := range v.Flags {
		entry(w, f.Shape, f.Value, f.Help)
	}
	if len(v.Examples) > 0 {
		io.WriteString(w, ".PP\n.EX\n")
		for _, e := range v.Examples {
			fmt.Fprintln(w, roff(e))
		}
		io.WriteString(w, ".EE\n")
	}
	io.WriteString(w, ".RE\n")
}

// roff writes text so that groff takes no part of it for its own.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
