package helptext

import (
	"flag"
	"fmt"
	"slices"
	"strings"
)

// FlagsOf describes the flags of a set, in the order of their names.
func FlagsOf(fs *flag.FlagSet) (list []Flag) {
	fs.VisitAll(func(f *flag.Flag) {
		value, help := flag.UnquoteUsage(f)
		list = append(list, Flag{Shape: Dashed(f.Name), Value: value, Help: help})
	})
	return list
}

// flagColumn is the width of the flags' column, in cells: the longest flag's.
const flagColumn = len("--match REGEX")

// Synopsis is the command line behind ssh.
func (v Verb) Synopsis() string { return strings.TrimSpace("ssh HOST " + v.Name + " " + v.Usage) }

// Explain returns the verb's usage, flags and examples, in lines that told has adapted to their
// reader. own are flags that the reader's program adds.
func (v Verb) Explain(told func(string) string, own ...Flag) string {
	for _, f := range own {
		v.Usage = "[" + f.Shapes() + "] " + v.Usage
	}
	var b strings.Builder
	b.WriteString(Usage("usage: ", told(v.Synopsis())))
	b.WriteString(Text("", "", told(v.Help)))
	for _, f := range slices.Concat(own, v.Flags) {
		first := fmt.Sprintf("  %-*s  ", flagColumn, f.Shapes())
		b.WriteString(Text(first, strings.Repeat(" ", len(first)), told(f.Help)))
	}
	if v.Roles != "" {
		fmt.Fprintf(&b, "for %s\n", v.Roles)
	}
	b.WriteString("for example:\n")
	for _, e := range v.Examples {
		fmt.Fprintf(&b, "  %s\n", told(e))
	}
	return b.String()
}
