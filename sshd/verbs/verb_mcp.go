package verbs

import (
	"flag"

	"termhost/ahp"
)

// defineMCP speaks MCP with the peer.
func defineMCP(fs *flag.FlagSet) func(*invocation) int {
	as := fs.String("as", "", "the client's `NAME`, instead of the one that it gives itself")
	dir := fs.String("C", "", "the folder `DIR` that its programs start in")
	return func(v *invocation) int {
		switch {
		case *as != "" && !ahp.ValidName(*as), *as == "" && given(v.fs, "as"):
			return v.misused("%q is no NAME: use 1 to 64 letters, digits, dots, underscores and"+
				" dashes", *as)
		case v.onTerminal():
			return v.misused("mcp speaks lines of JSON with a program: connect without a terminal" +
				" (ssh without -t)")
		}
		return v.MCP(*as, *dir)
	}
}
