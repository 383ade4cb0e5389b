package acpproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// span is a place in a JSON text.
type span struct{ start, end int }

func (s span) of(raw []byte) []byte { return raw[s.start:s.end] }

// value is a JSON value and where it stands in a text, so that a message can be passed on byte for
// byte but for what has to change. The zero value stands for one that is not there.
type value struct {
	span
	members []member // of an object
}

// usualMembers is how many members most of the objects in ACP's messages have at most.
const usualMembers = 4

// member is a member of an object.
type member struct {
	name string
	value
}

func (v value) exists() bool { return v.end > 0 }

// isObject reports whether v, which stands in raw, is a JSON object.
func (v value) isObject(raw []byte) bool { return v.exists() && raw[v.start] == '{' }

// get returns the value that names lead to, from object to object. Of members of one name the last
// one counts, as in encoding/json.
func (v value) get(names ...string) value {
	for _, name := range names {
		i := len(v.members) - 1
		for i >= 0 && v.members[i].name != name {
			i--
		}
		if i < 0 {
			return value{}
		}
		v = v.members[i].value
	}
	return v
}

// locate finds the values in a JSON text: the whole, and the members of objects down to a depth, 1
// being those of the whole. It fails unless all of the text is one valid JSON value.
func locate(raw []byte, depth int) (value, error) {
	d := decoder(raw)
	v, err := read(d, depth)
	if err != nil {
		return value{}, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return value{}, errors.New("something follows the value")
	}
	return v, nil
}

// decoder returns a reader of a JSON text that accepts what encoding/json does: several members of
// one name, and strings that are not UTF-8.
func decoder(raw []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(raw),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// read reads the next value, with the members of objects down to a depth.
func read(d *jsontext.Decoder, depth int) (value, error) {
	if depth == 0 || d.PeekKind() != '{' {
		text, err := d.ReadValue()
		end := int(d.InputOffset())
		return value{span: span{end - len(text), end}}, err
	}
	if _, err := d.ReadToken(); err != nil {
		return value{}, err
	}
	v := value{members: make([]member, 0, usualMembers)}
	v.start = int(d.InputOffset()) - len("{")
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return value{}, err
		}
		m := member{name: name.String()}
		if m.value, err = read(d, depth-1); err != nil {
			return value{}, err
		}
		v.members = append(v.members, m)
	}
	_, err := d.ReadToken() // the brace, or what is wrong
	v.end = int(d.InputOffset())
	return v, err
}

// items returns the elements of an array, which is a part of a valid JSON text; ok is false if it
// is something else.
func items(array []byte) (elements []span, ok bool) {
	d := decoder(array)
	if d.PeekKind() != '[' {
		return nil, false
	}
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != ']' {
		var v value
		v, err = read(d, 0)
		elements = append(elements, v.span)
	}
	return elements, err == nil
}

// textOf returns the value of a JSON string; "" for anything else.
func textOf(raw []byte) string {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// edit is a change of a text: what replaces a place of it.
type edit struct {
	span
	text []byte
}

// apply returns raw with the edits, which are in order and do not overlap. raw is left as it is.
func apply(raw []byte, edits []edit) []byte {
	size := len(raw)
	for _, e := range edits {
		size += len(e.text)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, e := range edits {
		out = append(out, raw[at:e.start]...)
		out = append(out, e.text...)
		at = e.end
	}
	return append(out, raw[at:]...)
}

// insertMember returns the edit that makes a member the first one of an object.
func insertMember(object value, text string) edit {
	at := object.start + len("{")
	if len(object.members) > 0 {
		text += ","
	}
	return edit{span{at, at}, []byte(text)}
}
