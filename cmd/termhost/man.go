package main

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"termhost/sshd/verbs"
)

// manualText is what of the manual page is no table, in the language of man(7). Lines that begin
// with @ are replaced by the tables.
//
//go:embed termhost.1.in
var manualText string

// topicTexts are what is told at length, a file for each topic. They are Markdown that reads well
// as it stands: README.md links to them, too.
//
//go:embed man/*.md
var topicTexts embed.FS

// topics returns the topics with their titles, in the order of the alphabet.
func topics() (names, titles []string) {
	files, err := topicTexts.ReadDir("man")
	if err != nil {
		panic(err) // it is part of the program
	}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".md")
		title, _, _ := strings.Cut(topic(name), "\n")
		names, titles = append(names, name), append(titles, strings.TrimPrefix(title, "# "))
	}
	return names, titles
}

// topic returns a topic's text; "": there is none.
func topic(name string) string {
	text, err := topicTexts.ReadFile("man/" + name + ".md")
	if err != nil {
		return ""
	}
	return string(text)
}

// manual prints the manual page, or the text about a topic.
func manual(c *call) int {
	fs := c.flags()
	if code, ok := c.parse(fs, 1); !ok {
		return code
	}
	text := manualPage()
	if name := fs.Arg(0); name != "" {
		names, _ := topics()
		if !slices.Contains(names, name) {
			return c.badUsage(fmt.Sprintf("there is no topic %q: there are %s", name,
				strings.Join(names, ", ")))
		}
		text = topic(name)
	}
	if _, err := io.WriteString(c.std.out, text); err != nil {
		return exitFailure
	}
	return exitOK
}

// manualPage returns the manual page, in the language of man(7).
func manualPage() string {
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
		case "@TOPICS\n":
			names, titles := topics()
			for i, name := range names {
				entry(w, "termhost man "+name, "", titles[i])
			}
		default:
			w.WriteString(strings.ReplaceAll(line, "@VERSION", roff(version())))
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
