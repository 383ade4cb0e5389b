package verbs

import (
	"flag"
	"fmt"
	"strings"

	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
)

// defineHelp prints the verbs, or explains one.
func defineHelp(*flag.FlagSet) func(*invocation) int {
	return func(v *invocation) int {
		if len(v.args) == 0 {
			return v.help()
		}
		return v.helpOf(v.args[0])
	}
}

// helpOf explains a verb.
func (v *invocation) helpOf(name string) int {
	for _, c := range table() {
		if c.name == name {
			return v.printed(v.stdout, nil, []byte(c.described().Explain(v.told)))
		}
	}
	return v.unknown(name, name)
}

// defineVersion prints the version in the same words as `termhost version`.
func defineVersion(*flag.FlagSet) func(*invocation) int {
	return func(v *invocation) int {
		fmt.Fprintln(v.stdout, "termhost", host.Printable(v.Version))
		return StatusOK
	}
}

// The columns of the list of verbs, in cells: two verbs fit into 80.
const (
	groupColumn = len("agents  ")
	nameColumn  = len("completion ")
	briefColumn = (80 - groupColumn - 2*nameColumn - 2) / 2
)

// help lists the verbs by group, on a screen of 24 rows.
func (v *invocation) help() int {
	var b strings.Builder
	fmt.Fprintf(&b, "termhost %s: terminals that outlive the connection\n",
		host.Printable(v.Version))
	shell, other := "a new terminal with your shell", "your last one"
	if v.loginLast() {
		shell, other = "your last terminal, or a new one", "a new one"
	}
	fmt.Fprintf(&b, "  ssh HOST       %s; `ssh -t HOST -`: %s\n", shell, other)
	b.WriteString("" +
		"  ssh HOST VERB  one of these; `ssh HOST help VERB`: its flags, with examples\n")
	for _, g := range groups() {
		label := string(g)
		in := v.verbsOf(g)
		for len(in) > 0 {
			fmt.Fprintf(&b, "%-*s", groupColumn, label)
			row := in[:min(2, len(in))]
			for i, c := range row {
				width := briefColumn + 2
				if i == len(row)-1 {
					width = 0
				}
				fmt.Fprintf(&b, "%-*s%-*s", nameColumn, c.name, width, c.brief)
			}
			b.WriteByte('\n')
			label, in = "", in[len(row):]
		}
	}
	b.WriteString("sftp, scp, ssh -L, -D, -R: as with sshd")
	if prefix := v.prefix(); prefix != 0 {
		fmt.Fprintf(&b, ". While attached, %s ? shows the keys", keyboard.ControlName(prefix))
	}
	b.WriteByte('\n')
	return v.printed(v.stdout, nil, []byte(v.told(b.String())))
}

// verbsOf returns a group's verbs.
func (v *invocation) verbsOf(g group) (list []verb) {
	for _, c := range table() {
		if c.group == g {
			list = append(list, c)
		}
	}
	return list
}
