package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"termhost/cmd/termhost/man"
)

// manual shows the manual page, or the text about a topic, on a terminal, and otherwise prints its
// source.
func manual(c *call) int {
	fs := c.flags()
	if code, ok := c.parse(fs, 1); !ok {
		return code
	}
	var list []man.Command
	for _, own := range ownCommands() {
		list = append(list, man.Command{Name: own.name, Usage: own.usage, Help: own.explanation()})
	}
	page := man.Page(version(), list, verbTable())
	text := page
	read := func(style man.Style, cols int) string { return man.Read(page, style, cols) }
	if name := fs.Arg(0); name != "" {
		names, _ := man.Topics()
		if !slices.Contains(names, name) {
			return c.badUsage(fmt.Sprintf("there is no topic %q: the topics are %s", name,
				strings.Join(names, ", ")))
		}
		text = man.Topic(name)
		read = func(style man.Style, cols int) string { return man.ReadTopic(name, style, cols) }
	}
	if out, ok := c.std.out.(*os.File); ok && term.IsTerminal(int(out.Fd())) {
		return showPage(out, read)
	}
	return written(c.std.out, text)
}
