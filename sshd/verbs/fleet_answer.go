package verbs

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"termhost/ahp/host"
)

// What another host answers is bounded, and not believed where it would speak as another one, or
// control the peer's terminal: the host may be broken into.

// MaxAnswer bounds what a host may print where all of it is kept, in bytes: the list of as many
// terminals as a host has at most.
const MaxAnswer = 16 << 20

// ErrAnswer refuses a host that prints more than MaxAnswer.
var ErrAnswer = errors.New("it answers with more than 16 MiB")

// Answer keeps what a host prints. Its zero value is ready. It must not be used concurrently.
type Answer struct{ buf bytes.Buffer }

// Write adds p, or returns ErrAnswer.
func (a *Answer) Write(p []byte) (int, error) {
	if a.buf.Len()+len(p) > MaxAnswer {
		return 0, ErrAnswer
	}
	return a.buf.Write(p)
}

// Bytes returns what was printed.
func (a *Answer) Bytes() []byte { return a.buf.Bytes() }

// maxListed bounds the elements of a list: a host has no more terminals.
const maxListed = 20_000

// elements returns the first maxListed elements of a JSON array; ok is false if it is none.
func elements(text []byte) (list []json.RawMessage, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, false
	}
	for d.More() && len(list) < maxListed {
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return nil, false
		}
		list = append(list, raw)
	}
	return list, true
}

// saysHost returns which host a JSON object is about, by its own account; ok is false if it is no
// object.
func saysHost(object []byte) (name string, ok bool) {
	var members map[string]json.RawMessage // whose keys are exact, and the last one of each
	if json.Unmarshal(object, &members) != nil || members == nil {
		return "", false
	}
	_ = json.Unmarshal(members["host"], &name) // "": it does not say, or not that
	return name, true
}

// printableLines returns lines of text without what controls a terminal, but for tabs.
func printableLines(text []byte) []byte {
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		line, ended := strings.CutSuffix(line, "\n")
		cells := strings.Split(line, "\t")
		for k := range cells {
			cells[k] = host.Printable(cells[k])
		}
		lines[i] = strings.Join(cells, "\t")
		if ended {
			lines[i] += "\n"
		}
	}
	return []byte(strings.Join(lines, ""))
}
