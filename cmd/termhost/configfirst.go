package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// configBehind moves -c FILE of `termhost -c FILE COMMAND ...` to where the command expects it:
// behind --local for a command that has this flag, otherwise right behind the command's name.
func configBehind(args []string) ([]string, error) {
	if len(args) < 3 {
		return nil, errors.New("-c FILE stands before a command: termhost -c FILE COMMAND")
	}
	flag, name, rest := args[:2], args[2], args[3:]
	at := 0
	c, known := commandNamed(name)
	own := slices.ContainsFunc(ownCommands(), func(o command) bool { return o.name == name })
	switch {
	case !known, !own:
	case strings.Contains(c.usage, "--local"):
		at = slices.Index(rest, "--local") + 1
		if at == 0 {
			return nil, fmt.Errorf("-c FILE is for %s --local: another host has its own", name)
		}
	case !strings.Contains(c.usage, "-c FILE"):
		return nil, fmt.Errorf("%s uses no configuration", name)
	}
	return slices.Concat([]string{name}, rest[:at], flag, rest[at:]), nil
}
