package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"termhost/cmd/termhost/man"
)

// manual prints the manual page, or the text about a topic.
func manual(c *call) int {
	fs := c.flags()
	if code, ok := c.parse(fs, 1); !ok {
		return code
	}
	var list []man.Command
	for _, own := range ownCommands() {
		list = append(list, man.Command{Name: own.name, Usage: own.usage, Help: own.help})
	}
	text := man.Page(version(), list)
	if name := fs.Arg(0); name != "" {
		names, _ := man.Topics()
		if !slices.Contains(names, name) {
			return c.badUsage(fmt.Sprintf("there is no topic %q: there are %s", name,
				strings.Join(names, ", ")))
		}
		text = man.Topic(name)
	}
	if _, err := io.WriteString(c.std.out, text); err != nil {
		return exitFailure
	}
	return exitOK
}
