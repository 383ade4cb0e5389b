package acp

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// span is a place in a JSON text.
type span struct{ start, end int }

func (s span) of(raw []byte) []byte { return raw[s.start:s.end] }

// object finds the members of a JSON object, in the text itself, so that a
// message can be passed on byte for byte but for what has to change. Of a key
// that stands twice the last one counts, as in encoding/json. It is false for
// what is no object. What is between the members' braces is not validated
// further.
func object(raw []byte, at int) (members map[string]span, ok bool) {
	i := skipSpace(raw, at)
	if i >= len(raw) || raw[i] != '{' {
		return nil, false
	}
	members = map[string]span{}
	for i = skipSpace(raw, i+1); i < len(raw) && raw[i] == '"'; {
		end := skipString(raw, i)
		if end < 0 {
			return nil, false
		}
		key := keyOf(raw[i:end])
		if i = skipSpace(raw, end); i >= len(raw) || raw[i] != ':' {
			return nil, false
		}
		start := skipSpace(raw, i+1)
		if end = skipValue(raw, start); end < 0 {
			return nil, false
		}
		members[key] = span{start, end}
		if i = skipSpace(raw, end); i < len(raw) && raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	return members, i < len(raw) && raw[i] == '}'
}

// array finds the elements of a JSON array; it is false for what is none.
func array(raw []byte, at int) (elements []span, ok bool) {
	i := skipSpace(raw, at)
	if i >= len(raw) || raw[i] != '[' {
		return nil, false
	}
	for i = skipSpace(raw, i+1); i < len(raw) && raw[i] != ']'; {
		end := skipValue(raw, i)
		if end < 0 {
			return nil, false
		}
		elements = append(elements, span{i, end})
		if i = skipSpace(raw, end); i < len(raw) && raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	return elements, i < len(raw)
}

// keyOf returns a key without its quotes, as encoding/json reads it: what is no
// UTF-8 in it is U+FFFD.
func keyOf(quoted []byte) string {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	return textOf(quoted)
}

// textOf returns the value of a JSON string; "" for what is none.
func textOf(raw []byte) string {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\r' || raw[i] == '\n') {
		i++
	}
	return i
}

// skipString returns the place behind the string that begins at i; negative: it
// does not end.
func skipString(raw []byte, i int) int {
	for i++; i < len(raw); {
		n := bytes.IndexByte(raw[i:], '"')
		if n < 0 {
			return -1
		}
		end := i + n
		slashes := 0
		for j := end - 1; j >= i && raw[j] == '\\'; j-- {
			slashes++
		}
		i = end + 1
		if slashes%2 == 0 {
			return i
		}
	}
	return -1
}

// skipValue returns the place behind the value that begins at i; negative: it
// does not end.
func skipValue(raw []byte, i int) int {
	if i >= len(raw) {
		return -1
	}
	switch raw[i] {
	case '"':
		return skipString(raw, i)
	case '{', '[':
		return skipContainer(raw, i)
	}
	start := i
	for i < len(raw) && bytes.IndexByte([]byte(",]} \t\r\n"), raw[i]) < 0 {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

func skipContainer(raw []byte, i int) int {
	depth := 0
	for i < len(raw) {
		switch raw[i] {
		case '"':
			if i = skipString(raw, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// edit is a change of a text: what replaces a place of it.
type edit struct {
	span
	text []byte
}

// apply returns raw with the edits, which are in order and do not overlap. raw
// is left as it is.
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

// insertMember returns the edit that puts a member into the object at place,
// which has members or none.
func insertMember(raw []byte, place span, member string, empty bool) edit {
	at := skipSpace(raw, place.start) + 1 // behind the brace
	if !empty {
		member += ","
	}
	return edit{span{at, at}, []byte(member)}
}
