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
			return v.printed(v.stdout, nil, []byte(v.told(c.explained())))
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

func (v *invocation) help() int {
	var b strings.Builder
	fmt.Fprintf(&b, "termhost %s: terminals that outlive the connection\n\n",
		host.Printable(v.Version))
	b.WriteString("  ssh HOST\n      a new terminal with your shell, attached\n")
	for _, c := range table() {
		shape := c.synopsis()
		if c.terminal {
			shape = strings.Replace(shape, "ssh ", "ssh -t ", 1)
		}
		fmt.Fprintf(&b, "  %s\n      %s\n", shape, c.help)
	}
	b.WriteString("  ssh HOST -s ahp\n" +
		"      the Agent Host Protocol, one JSON-RPC message per line\n" +
		"  ssh -N -L SOCKET:ahp:80 HOST\n" +
		"      a local socket that is the HTTP and WebSocket door\n" +
		"  sftp HOST, scp, ssh -L, -D and -R\n" +
		"      as with sshd, for admins and operators, where the configuration permits\n")
	if v.Prefix != 0 {
		fmt.Fprintf(&b, "\nWhile attached, %s and then ? shows the keys; then d detaches.\n",
			keyboard.ControlName(v.Prefix))
	}
	return v.printed(v.stdout, nil, []byte(v.told(b.String())))
}

// explained returns what there is to know about the verb: its usage, flags and examples.
func (c verb) explained() string {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	c.define(flags)
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s\n%s\n", c.synopsis(), c.help)
	flags.VisitAll(func(f *flag.Flag) {
		value, help := flag.UnquoteUsage(f)
		shape := strings.TrimSpace(dashed(f.Name) + " " + value)
		fmt.Fprintf(&b, "  %-*s  %s\n", flagColumn, shape, help)
	})
	if who := c.who(); who != "" {
		fmt.Fprintf(&b, "for %s\n", who)
	}
	b.WriteString("for example:\n")
	for _, e := range c.examples {
		fmt.Fprintf(&b, "  %s\n", e)
	}
	return b.String()
}

// flagColumn is how wide the column of the flags is, in cells: as the longest one.
const flagColumn = len("--match REGEX")

// dashed writes a flag as people do: -n, --json.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
