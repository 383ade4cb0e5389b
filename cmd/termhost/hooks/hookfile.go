package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// hookFile is a JSON file that has hooks in the form of Claude Code, which others have taken over:
// {"hooks": {EVENT: [{"hooks": [{"type": "command", "command": LINE, "timeout": N}]}]}}.
type hookFile struct {
	path, agent, exe string
	events           []string
	timeout          int // in the agent's unit
}

func (f *hookFile) file() string { return f.path }

func (f *hookFile) text() string {
	text, _ := f.with(nil) // which is no JSON that could be wrong
	return string(text)
}

// group is one of an event's groups of hooks.
type group struct {
	Hooks []hook `json:"hooks"`
}

type hook struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

func (f *hookFile) with(was []byte) ([]byte, error) {
	own := group{[]hook{{"command", command(f.exe, f.agent), f.timeout}}}
	text, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	now, err := f.edit(was, text)
	if err != nil {
		return nil, err
	}
	return now, nil
}

func (f *hookFile) without(was []byte) ([]byte, error) {
	if was == nil {
		return nil, nil
	}
	return f.edit(was, nil)
}

// edit takes our hooks out of the settings, and adds own to each event unless it is nil.
func (f *hookFile) edit(was []byte, own jsontext.Value) ([]byte, error) {
	if len(bytes.TrimSpace(was)) == 0 {
		was = []byte("{}")
	}
	settings, err := membersOf(was)
	if err != nil {
		return nil, err
	}
	hooks := object{}
	if old := settings.get("hooks"); old != nil {
		if hooks, err = membersOf(old); err != nil {
			return nil, err
		}
	}
	before := len(hooks.text())
	for i := range hooks {
		if hooks[i].value, err = f.notOurs(hooks[i].value); err != nil {
			return nil, err
		}
	}
	hooks = slices.DeleteFunc(hooks, func(m member) bool { return m.value == nil })
	if own == nil && len(hooks.text()) == before {
		return was, nil
	}
	for _, event := range f.events {
		if own != nil {
			groups, err := elementsOf(hooks.get(event))
			if err != nil {
				return nil, err
			}
			hooks.set(event, array(append(groups, own)))
		}
	}
	if len(hooks) > 0 {
		settings.set("hooks", hooks.text())
	} else {
		settings.remove("hooks")
	}
	if own == nil && len(settings) == 0 {
		return nil, nil
	}
	return settings.formattedLike(was)
}

// notOurs returns an event's groups without our hooks; nil: there were no others.
func (f *hookFile) notOurs(groups jsontext.Value) (jsontext.Value, error) {
	list, err := elementsOf(groups)
	if err != nil {
		return groups, nil // it is none of ours
	}
	var left []jsontext.Value
	ours := false
	for _, g := range list {
		members, err := membersOf(g)
		if err != nil || members.get("hooks") == nil {
			left = append(left, g)
			continue
		}
		hooks, err := elementsOf(members.get("hooks"))
		if err != nil {
			return nil, err
		}
		n := len(hooks)
		hooks = slices.DeleteFunc(hooks, f.isOurs)
		ours = ours || len(hooks) < n
		switch {
		case len(hooks) == n:
			left = append(left, g)
		case len(hooks) > 0:
			members.set("hooks", array(hooks))
			left = append(left, members.text())
		}
	}
	switch {
	case !ours:
		return groups, nil
	case len(left) == 0:
		return nil, nil
	}
	return array(left), nil
}

func (f *hookFile) isOurs(text jsontext.Value) bool {
	var h hook
	return json.Unmarshal(text, &h) == nil && strings.HasSuffix(h.Command, mark(f.agent))
}

// errSettings refuses what is no JSON, such as JSON with comments, which would be lost.
var errSettings = errors.New("it is not plain JSON, so it is left alone: add by hand what " +
	"`termhost hooks AGENT` prints")

// object is a JSON object, in its order.
type object []member

type member struct {
	name  string
	value jsontext.Value
}

// membersOf returns the members of a JSON object.
func membersOf(text []byte) (o object, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if d.PeekKind() != '{' {
		return nil, errSettings
	}
	for _, err = d.ReadToken(); err == nil && d.PeekKind() != '}'; {
		var name jsontext.Token
		if name, err = d.ReadToken(); err != nil {
			break
		}
		m := member{name: name.String()}
		m.value, err = d.ReadValue()
		m.value = slices.Clone(m.value)
		o = append(o, m)
	}
	if err != nil || !jsontext.Value(text).IsValid() {
		return nil, errSettings
	}
	return o, nil
}

// elementsOf returns the elements of a JSON array; nil has none.
func elementsOf(text jsontext.Value) (list []jsontext.Value, err error) {
	if text == nil {
		return nil, nil
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, errSettings
	}
	return list, nil
}

func (o object) get(name string) jsontext.Value {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func (o *object) set(name string, value jsontext.Value) {
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, member{name, value})
}

func (o *object) remove(name string) {
	*o = slices.DeleteFunc(*o, func(m member) bool { return m.name == name })
}

// text returns the object as JSON.
func (o object) text() jsontext.Value {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, m.name) // a name that was decoded is valid
		b = append(append(b, ':'), m.value...)
	}
	return append(b, '}')
}

// formattedLike returns the object as people write it, or was if that is the same.
func (o object) formattedLike(was []byte) ([]byte, error) {
	text, old := o.text(), jsontext.Value(slices.Clone(was))
	if err := errors.Join(text.Compact(), old.Compact()); err != nil {
		return nil, err
	}
	if bytes.Equal(text, old) {
		return was, nil
	}
	if err := text.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}

func array(list []jsontext.Value) jsontext.Value {
	return append(append([]byte{'['}, bytes.Join(asBytes(list), []byte{','})...), ']')
}

func asBytes(list []jsontext.Value) (all [][]byte) {
	for _, v := range list {
		all = append(all, v)
	}
	return all
}
