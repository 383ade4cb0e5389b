// Package completion writes the scripts by which shells complete commands.
package completion

import (
	_ "embed"
	"io"
	"slices"
	"strings"
	"text/template"

	"termhost/sshd/verbs/helptext"
)

// Command is what a shell's completion offers.
type Command struct {
	Name, Help string
	Flags      []string // with their dashes
	Names      bool     // its operands are NAMEs of terminals
	Hosts      bool     // its operands are hosts of the fleet
	First      []string // what its first operand may be; none: anything
	// HostsAfter is the first operand behind which the others are hosts; "": there is none.
	HostsAfter string
}

// Of returns what completion offers of a verb.
func Of(v helptext.Verb) Command {
	c := Command{Name: v.Name, Help: v.Help, Names: takes(v.Usage, "NAME"),
		Hosts: takes(v.Usage, "BOX")}
	for _, f := range v.Flags {
		c.Flags = append(c.Flags, f.Shape)
	}
	return c
}

// takes reports whether a usage has an operand, not only as the value of a flag.
func takes(usage, operand string) bool {
	before := ""
	for word := range strings.FieldsSeq(usage) {
		isValue := strings.HasPrefix(before, "-") && !strings.HasSuffix(before, "]")
		first, _, _ := strings.Cut(strings.Trim(word, "[].|"), "|")
		if first == operand && !isValue {
			return true
		}
		before = strings.TrimLeft(word, "[")
	}
	return false
}

// Shells are the shells that Write knows.
func Shells() []string { return []string{"bash", "fish", "zsh"} }

//go:embed completion.tmpl
var text string

// script is the data of the template.
type script struct {
	Commands []Command
	Aliases  []string // what ssh calls the host; none: it is the program termhost
}

// Write writes a script with which a shell, one of Shells, completes the commands of the
// program termhost or, if there are aliases, the verbs behind `ssh ALIAS`. The script fetches names
// of terminals when it needs them. It never evaluates a host's answer: NAMEs with other than plain
// characters are left out.
func Write(w io.Writer, shell string, commands []Command, aliases []string) error {
	t, err := template.New("").Funcs(template.FuncMap{
		"join":  strings.Join,
		"quote": func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
		"fish":  func(s string) string { return "'" + fishEscapes.Replace(s) + "'" },
		"described": func(c Command) string { // zsh's _describe ends the name at a colon
			return "'" + strings.ReplaceAll(c.Name+":"+c.Help, "'", `'\''`) + "'"
		},
	}).Parse(text)
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(w, shell, script{commands, aliases})
}

var fishEscapes = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

// Names returns the names of all commands, or of those with names of terminals as operands.
func (s script) Names(ofTerminals bool) string {
	return s.namesOf(func(d Command) bool { return !ofTerminals || d.Names })
}

// OfHosts returns the names of the commands with hosts as operands.
func (s script) OfHosts() string {
	return s.namesOf(func(d Command) bool { return d.Hosts })
}

// Choosing returns the names of the commands with the flag --on, whose value may be a host.
func (s script) Choosing() string {
	return s.namesOf(func(d Command) bool { return slices.Contains(d.Flags, "--on") })
}

func (s script) namesOf(is func(Command) bool) string {
	var names []string
	for _, d := range s.Commands {
		if is(d) {
			names = append(names, d.Name)
		}
	}
	return strings.Join(names, " ")
}
