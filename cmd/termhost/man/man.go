// Package man has the manual: the page for man(1), and texts about topics that are told at length.
package man

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"termhost/sshd/verbs/helptext"
)

// manualText is the manual page without its tables, in the language of man(7). Page replaces the
// lines that begin with @ by the tables.
//
//go:embed termhost.1.in
var manualText string

// topicTexts has a file for each topic. The files are Markdown that reads well as it stands:
// README.md links to them, too.
//
//go:embed *.md
var topicTexts embed.FS

// Topics returns the topics with their titles, in the order of the alphabet.
func Topics() (names, titles []string) {
	files, err := topicTexts.ReadDir(".")
	if err != nil {
		panic(err) // it is part of the program
	}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".md")
		title, _, _ := strings.Cut(Topic(name), "\n")
		names, titles = append(names, name), append(titles, strings.TrimPrefix(title, "# "))
	}
	return names, titles
}

// Topic returns a topic's text; "": there is none.
func Topic(name string) string {
	text, err := topicTexts.ReadFile(name + ".md")
	if err != nil {
		return ""
	}
	return string(text)
}

// Command is an entry of the page's list of commands.
type Command struct{ Name, Usage, Help string }

// Page returns the manual page, in the language of man(7). It lists commands, the verbs of a host
// and the topics. Unless help is among the verbs, it says where the others are explained.
func Page(version string, commands []Command, verbs []helptext.Verb) string {
	w := new(strings.Builder)
	for line := range strings.Lines(manualText) {
		switch line {
		case "@COMMANDS\n":
			for _, c := range commands {
				entry(w, "termhost "+c.Name, c.Usage, c.Help)
			}
		case "@VERBS\n":
			for _, v := range verbs {
				verbEntry(w, v)
			}
			help := func(v helptext.Verb) bool { return v.Name == "help" }
			if !slices.ContainsFunc(verbs, help) {
				entry(w, "ssh HOST help", "[VERB]", "lists what HOST can do, or explains a verb")
			}
		case "@TOPICS\n":
			names, titles := Topics()
			for i, name := range names {
				entry(w, "termhost man "+name, "", titles[i])
			}
		default:
			w.WriteString(strings.ReplaceAll(line, "@VERSION", roff(version)))
		}
	}
	return w.String()
}

// entry writes a command with what it does.
func entry(w io.Writer, name, usage, help string) {
	name = `\fB` + roff(name) + `\fR `
	fmt.Fprintf(w, ".TP\n%s\n%s\n", strings.TrimSpace(name+roff(usage)), roff(help))
}

// verbEntry writes a verb with its flags, roles and examples.
func verbEntry(w io.Writer, v helptext.Verb) {
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

// roff escapes text, so that groff takes no part of it for a request or an escape sequence.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
