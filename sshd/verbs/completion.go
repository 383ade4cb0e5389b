package verbs

import (
	_ "embed"
	"flag"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/template"
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

// Command returns what completion offers of the verb.
func (v Verb) Command() Command {
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

// Shells are the shells that WriteCompletion knows.
func Shells() []string { return []string{"bash", "fish", "zsh"} }

//go:embed completion.tmpl
var completionText string

// completion is the data of the template.
type completion struct {
	Commands []Command
	Aliases  []string // what ssh calls the host; none: it is the program termhost
}

// WriteCompletion writes a script with which a shell, one of Shells, completes the commands of the
// program termhost or, if there are aliases, the verbs behind `ssh ALIAS`. The script fetches names
// of terminals when it needs them. It never evaluates a host's answer: NAMEs with other than plain
// characters are left out.
func WriteCompletion(w io.Writer, shell string, commands []Command, aliases []string) error {
	t, err := template.New("").Funcs(template.FuncMap{
		"join":  strings.Join,
		"quote": func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
		"fish":  func(s string) string { return "'" + fishEscapes.Replace(s) + "'" },
		"described": func(c Command) string { // zsh's _describe ends the name at a colon
			return "'" + strings.ReplaceAll(c.Name+":"+c.Help, "'", `'\''`) + "'"
		},
	}).Parse(completionText)
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(w, shell, completion{commands, aliases})
}

var fishEscapes = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

// Names returns the names of all commands, or of those with names of terminals as operands.
func (c completion) Names(ofTerminals bool) string {
	return c.namesOf(func(d Command) bool { return !ofTerminals || d.Names })
}

// OfHosts returns the names of the commands with hosts as operands.
func (c completion) OfHosts() string {
	return c.namesOf(func(d Command) bool { return d.Hosts })
}

// Choosing returns the names of the commands with the flag --on, whose value may be a host.
func (c completion) Choosing() string {
	return c.namesOf(func(d Command) bool { return slices.Contains(d.Flags, "--on") })
}

func (c completion) namesOf(is func(Command) bool) string {
	var names []string
	for _, d := range c.Commands {
		if is(d) {
			names = append(names, d.Name)
		}
	}
	return strings.Join(names, " ")
}

// aliasForm matches what may be a host's alias in the scripts.
var aliasForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@:-]*$`)

func defineCompletion(*flag.FlagSet) func(*invocation) int { return (*invocation).complete }

// complete prints a completion for the host's aliases.
func (v *invocation) complete() int {
	shell, aliases := v.args[0], v.args[1:]
	if !slices.Contains(Shells(), shell) {
		return v.misused("there is no completion for %q, only for %s", shell,
			strings.Join(Shells(), ", "))
	}
	if len(aliases) == 0 {
		aliases = []string{"th"}
	}
	for _, a := range aliases {
		if !aliasForm.MatchString(a) {
			return v.misused("%q is not a host's name", a)
		}
	}
	var commands []Command
	for _, c := range Verbs() {
		commands = append(commands, c.Command())
	}
	var b strings.Builder
	if err := WriteCompletion(&b, shell, commands, aliases); err != nil {
		return v.failed(err)
	}
	return v.printed(v.stdout, nil, []byte(b.String()))
}
