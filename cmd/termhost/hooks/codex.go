package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// notifyLine is Codex's notify: a program that it runs when a turn is complete. It is one line at
// the head of the file, where the keys are that belong to no table.
type notifyLine struct{ path, exe string }

// lineMark ends our line.
const lineMark = " # by termhost hooks"

func (n *notifyLine) file() string { return n.path }

func (n *notifyLine) text() string {
	return fmt.Sprintf("notify = [%s, \"status\", \"--from\", \"codex\"]%s\n", tomlString(n.exe),
		lineMark)
}

// errNotify refuses to replace what the user has.
var errNotify = errors.New("it has a notify of its own, which can be only one: call `termhost " +
	"status --from codex \"$1\"` from that program, and add the rest by hand")

func (n *notifyLine) with(was []byte) ([]byte, error) {
	rest, err := n.without(was)
	if err != nil {
		return nil, err
	}
	var settings struct {
		Notify any `toml:"notify"`
	}
	if err := toml.Unmarshal(rest, &settings); err != nil {
		return nil, fmt.Errorf("it is not TOML: %w", err)
	}
	if settings.Notify != nil {
		return nil, errNotify
	}
	return append([]byte(n.text()), rest...), nil
}

func (n *notifyLine) without(was []byte) ([]byte, error) {
	if was == nil {
		return nil, nil
	}
	var rest []byte // nil, if nothing is left
	for line := range bytes.Lines(was) {
		if !bytes.HasSuffix(bytes.TrimRight(line, "\r\n"), []byte(lineMark)) {
			rest = append(rest, line...)
		}
	}
	return rest, nil
}

// tomlString returns a basic string of TOML.
func tomlString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
