package ahp

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// unmarshal reads JSON that has been checked as a whole: see package rpc for what comes from a
// peer. Keys are matched exactly. Half of a surrogate pair becomes U+FFFD: see [Surrogates].
func unmarshal(raw []byte, v any) error {
	return json.Unmarshal(raw, v, jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
}

// wrongField returns the path of the field whose value has the wrong type, such as
// "delivery.maxLatencyMs", without the indices of arrays; "": that is not what err says.
func wrongField(err error) string {
	var se *json.SemanticError
	if !errors.As(err, &se) {
		return ""
	}
	var path []string
	for name := range se.JSONPointer.Tokens() {
		if strings.Trim(name, "0123456789") != "" {
			path = append(path, name)
		}
	}
	return strings.Join(path, ".")
}

// EachMember calls member with the names and values of a JSON object, until one value is no JSON.
// The values are parts of raw, without space around them. It reports whether raw is an object, and
// ignores what follows that.
func EachMember(raw []byte, member func(name string, value []byte)) bool {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() != '{' {
		return false
	}
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return false
		}
		text := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return false
		}
		end := d.InputOffset()
		member(text, raw[end-int64(len(value)):end])
	}
	_, err := d.ReadToken()
	return err == nil
}
