package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Arguments are a tool call's. Models write "5" for 5, "true" for true, null for what they leave
// out, and all of the arguments as one JSON string: all this is accepted, and so are names that no
// tool has.
type Arguments map[string]json.RawMessage

// ArgumentError says what is wrong with an argument, and how it is right.
type ArgumentError struct{ Name, Wants string }

func (e *ArgumentError) Error() string { return fmt.Sprintf("%s %s", e.Name, e.Wants) }

// ParseArguments reads the arguments of a call; nil, null and "" are none. It returns an
// [*ArgumentError] if they are no object.
func ParseArguments(raw json.RawMessage) (Arguments, error) {
	raw = bytes.TrimSpace(raw)
	for range 2 {
		var text string
		if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
			break
		}
		raw = []byte(strings.TrimSpace(text))
	}
	if len(raw) == 0 || string(raw) == "null" {
		return Arguments{}, nil
	}
	var a Arguments
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, &ArgumentError{"arguments", "must be a JSON object"}
	}
	return a, nil
}

// given returns the value of an argument; nil: there is none.
func (a Arguments) given(name string) json.RawMessage {
	raw := bytes.TrimSpace(a[name])
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// Text returns a string; "": it was not given. A number or a bool is taken as it is written.
func (a Arguments) Text(name string) (string, error) {
	raw := a.given(name)
	if raw == nil {
		return "", nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	if raw[0] == '{' || raw[0] == '[' {
		return "", &ArgumentError{name, "must be a string"}
	}
	return string(raw), nil
}

// Required is [Arguments.Text] for a string that must be given.
func (a Arguments) Required(name, example string) (string, error) {
	text, err := a.Text(name)
	if err == nil && text == "" {
		err = &ArgumentError{name, "is missing: give it, such as " + example}
	}
	return text, err
}

// Integer returns a whole number, or what it is if it was not given.
func (a Arguments) Integer(name string, otherwise int64) (int64, error) {
	raw := a.given(name)
	if raw == nil {
		return otherwise, nil
	}
	text := strings.TrimSpace(strings.Trim(string(raw), `"`))
	if text == "" {
		return otherwise, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Trunc(f) != f || math.Abs(f) > 1<<53 {
		return 0, &ArgumentError{name, "must be a whole number"}
	}
	return int64(f), nil
}

// Bool returns a bool, or what it is if it was not given.
func (a Arguments) Bool(name string, otherwise bool) (bool, error) {
	raw := a.given(name)
	if raw == nil {
		return otherwise, nil
	}
	switch strings.ToLower(strings.TrimSpace(strings.Trim(string(raw), `"`))) {
	case "":
		return otherwise, nil
	case "true", "yes", "1":
		return true, nil
	case "false", "no", "0":
		return false, nil
	}
	return false, &ArgumentError{name, "must be true or false"}
}

// Texts returns a list of strings; one string is a list of one, or of the words that it has.
func (a Arguments) Texts(name string) ([]string, error) {
	raw := a.given(name)
	if raw == nil {
		return nil, nil
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return list, nil
	}
	text, err := a.Text(name)
	if err != nil {
		return nil, &ArgumentError{name, "must be a list of strings"}
	}
	if err := json.Unmarshal([]byte(text), &list); err == nil {
		return list, nil
	}
	return strings.Fields(text), nil
}
