package verbs

import (
	"termhost/ahp/host"
	"termhost/ahp/visible"
)

// plainLines returns the lines of what an agent wants to type.
func plainLines(is host.HeldInput) []string {
	if is.Secret {
		return []string{"(a secret)"}
	}
	lines := make([]string, len(is.Lines))
	for i, line := range is.Lines {
		lines[i] = visible.Plain(line)
	}
	return lines
}
