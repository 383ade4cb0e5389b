package share

import (
	"encoding/json"
	"os"
	"strings"

	"termhost/ahp"
)

// Within returns the name of the terminal that `attach NAME` would show, if this process runs in
// that very terminal: shown inside itself, it would never stop printing. It returns "" if this
// process does not, or if that is unknown. Share detects the remaining cases, such as ssh to the
// host, when they happen: see selfView. The function ls returns what the host prints for
// `ls --json`; it is called only by a process that runs in a shared terminal.
func Within(ls func() ([]byte, error), name string) string {
	owner := os.Getenv(Variable)
	if owner == "" || name == "" {
		return ""
	}
	out, err := ls()
	if err != nil {
		return ""
	}
	var list []struct {
		Name     string
		URI      string
		Executor string
		Claim    struct{ ClientID string }
	}
	if json.Unmarshal(out, &list) != nil {
		return ""
	}
	uri, _ := ahp.NormalizeChannel(name) // unlike a name, a URI is never abbreviated
	found, prefixed := "", 0
	for _, t := range list {
		own := t.Executor == ahp.ExecutorClient && t.Claim.ClientID == owner
		switch {
		case (t.Name == name || t.URI == uri) && own:
			return t.Name
		case t.Name == name:
			return ""
		case !strings.HasPrefix(t.Name, name):
		case own:
			found = t.Name
			fallthrough
		default:
			prefixed++
		}
	}
	if prefixed > 1 {
		return "" // ambiguous: the host refuses it
	}
	return found
}
