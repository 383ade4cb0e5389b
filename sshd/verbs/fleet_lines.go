package verbs

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"termhost/ahp"
)

// maxJoined bounds a line of another host, in bytes: what is beyond is dropped.
const maxJoined = 64 << 10

// mark makes sure that a line, without its end, says from which host it came. It returns nil for
// one that is left out.
type mark func(line []byte) []byte

// joined writes whole lines to w, among those of others that share mu.
type joined struct {
	mu   *sync.Mutex // a leaf, but for what w takes
	w    io.Writer
	mark mark // nil: the lines are this host's
	// Guarded by mu:
	rest []byte // a line without its end, at most maxJoined bytes of it
}

// Write writes p, which is not kept.
func (j *joined) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []byte
	for n := len(p); ; {
		line, after, ended := bytes.Cut(p, []byte("\n"))
		j.rest = append(j.rest, line[:min(len(line), maxJoined-len(j.rest))]...)
		if !ended {
			_, err := j.w.Write(out)
			return n, err
		}
		out = append(out, j.line()...)
		p = after
	}
}

// line returns the line that has ended, for the peer.
func (j *joined) line() []byte {
	line := printableLines(j.rest)
	j.rest = nil
	if j.mark != nil {
		if line = j.mark(line); line == nil {
			return nil
		}
	}
	return append(line, '\n')
}

// flush writes a last line that has no end.
func (j *joined) flush() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.rest) > 0 {
		_, _ = j.w.Write(bytes.TrimSuffix(j.line(), []byte("\n")))
	}
}

// complains marks a line with the host that prints it.
func complains(on string) mark {
	return func(line []byte) []byte { return slices.Concat([]byte(on+": "), line) }
}

// markFor returns what marks the lines that the verb prints on another host.
func (v *invocation) markFor(on string) mark {
	asJSON := slices.Contains(v.words, "--json") || slices.Contains(v.words, "-json")
	switch {
	case v.verb.name == "asks" && asJSON:
		return nil // it is an array: see asksOnSeveral
	case asJSON:
		return func(line []byte) []byte {
			marked, _ := hosted(on, line)
			return marked
		}
	case v.verb.name == "events":
		return says(on, afterTime)
	case v.verb.name == "asks":
		return rows(on)
	}
	return saysFirst(on)
}

// saysFirst is says for lines that begin with HOST/.
func saysFirst(on string) mark { return says(on, func(line string) string { return line }) }

// says lets lines through that have HOST/ where at says, and grep's "--". Others are marked, with
// the host before them.
func says(on string, at func(line string) string) mark {
	return func(line []byte) []byte {
		if text := string(line); text == "--" || strings.HasPrefix(at(text), on+"/") {
			return line
		}
		return complains(on)(line)
	}
}

// afterTime returns what follows the time of an event; "" if there is none.
func afterTime(line string) string {
	at, rest, _ := strings.Cut(line, " ")
	if _, err := time.Parse(time.RFC3339, at); err != nil {
		return ""
	}
	return rest
}

// rows is for a table whose first column has HOST/NAME, or nothing where a row goes on.
func rows(on string) mark {
	head, own := true, false
	return func(line []byte) []byte {
		text := string(line)
		names := strings.HasPrefix(text, on+"/")
		first, more := strings.HasPrefix(text, "NAME "), strings.HasPrefix(text, " ")
		if head && first || names || own && more {
			head, own = false, own || names
			return line
		}
		head = false
		return complains(on)(line)
	}
}

// hosted returns an object of JSON that says it is of a host, whatever it has said, with the URI
// of that host's terminal here; ok is false if it is no object.
func hosted(on string, object []byte) (marked []byte, ok bool) {
	return hostedAs(origin{on: on}, object)
}

// origin is the host that an object is of.
type origin struct {
	on      string
	away    time.Time // since when it is silent, and the object is what was seen last; zero: no
	refused bool      // it does not let the person in
}

// hostedAs is hosted for a host that may be silent, or refuse.
func hostedAs(o origin, object []byte) (marked []byte, ok bool) {
	if o.refused {
		o.away = time.Time{}
	}
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	head, err := json.Marshal(struct {
		Host    string    `json:"host"`
		Since   time.Time `json:"unreachableSince,omitzero"`
		Refused bool      `json:"refused,omitempty"`
	}{o.on, o.away, o.refused})
	if err != nil {
		return nil, false
	}
	marked = bytes.TrimSuffix(head, []byte{'}'})
	for d.More() {
		var value json.RawMessage
		key, err := d.Token()
		member, is := key.(string)
		if err != nil || !is || d.Decode(&value) != nil {
			return nil, false
		}
		switch strings.ToLower(member) {
		case "host", "unreachablesince", "refused":
			continue
		case "uri":
			if value = uriHere(o.on, value); value == nil {
				continue
			}
		}
		text, _ := json.Marshal(member)
		marked = slices.Concat(marked, []byte{','}, text, []byte{':'}, value)
	}
	if _, err := d.Token(); err != nil || len(bytes.TrimSpace(object[d.InputOffset():])) > 0 {
		return nil, false
	}
	return append(marked, '}'), true
}

// uriHere returns the URI, in JSON, by which a host's terminal is known here; nil: it is none.
func uriHere(on string, value []byte) []byte {
	var own string
	if json.Unmarshal(value, &own) != nil {
		return nil
	}
	uri, ok := ahp.FleetURI(on, own)
	if !ok {
		return nil
	}
	text, _ := json.Marshal(uri) // a string cannot fail
	return text
}
