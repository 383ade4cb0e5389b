package config

import (
	"encoding"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"termhost/ahp/spelling"
)

// maxKeyHint bounds the length, in bytes, of an unknown key that gets a hint. It is twice the
// length of the longest key; looking for one like a huge key would take long.
const maxKeyHint = 64

// decode applies the TOML text to c, which holds the defaults. The TOML library only parses: when
// it decodes into a struct it stops at the first value of a wrong type and ignores the case of
// keys. Walking through the parsed tables here reports every problem, with its line. decode
// returns false when the text is not TOML at all.
func decode(text []byte, c *Config, r *report) bool {
	doc := map[string]any{}
	if _, err := toml.Decode(string(text), &doc); err != nil {
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			r.addLine(syntax.Position.Line, "not valid TOML: "+syntax.Message)
		} else {
			r.addLine(0, "not valid TOML: "+err.Error())
		}
		return false
	}
	r.lines = indexLines(string(text))
	r.olderKeys(doc)
	r.table("", doc, reflect.ValueOf(c).Elem())
	return true
}

// olderKeys gives an older file's settings their present keys: login was once true or false, for
// whether shells are login shells.
func (r *report) olderKeys(doc map[string]any) {
	const older, present = "terminal.login", "terminal.login_shell"
	terminal, _ := doc["terminal"].(map[string]any)
	value, isBool := terminal["login"].(bool)
	if !isBool {
		return
	}
	if _, both := terminal["login_shell"]; both {
		r.add(older, "must be \"new\" or \"last\" beside login_shell, which says whether "+
			"the shell is a login shell")
	} else {
		terminal["login_shell"], r.lines[present] = value, r.lines[older]
	}
	delete(terminal, "login")
	delete(r.lines, older)
}

// table stores the keys of data in the fields of the struct v.
func (r *report) table(path string, data map[string]any, v reflect.Value) {
	for _, key := range slices.Sorted(maps.Keys(data)) {
		at := joinKey(path, key)
		if i := slices.Index(tableKeys(v.Type()), key); i >= 0 {
			r.value(at, data[key], v.Field(i))
		} else {
			r.add(at, "unknown key%s", unknownKeyHint(key, v.Type()))
		}
	}
}

// tableKeys returns the key of each field of a configuration struct.
func tableKeys(t reflect.Type) []string {
	keys := make([]string, t.NumField())
	for i := range keys {
		keys[i] = t.Field(i).Tag.Get("toml")
	}
	return keys
}

// unknownKeyHint returns, in parentheses, what the author may have meant by a key that the struct
// type t does not have, or "".
func unknownKeyHint(key string, t reflect.Type) string {
	if len(key) > maxKeyHint {
		return ""
	}
	var tables []string
	root := reflect.TypeFor[Config]()
	for f := range root.Fields() {
		if isTable(f.Type) && slices.Contains(tableKeys(f.Type), key) {
			tables = append(tables, "["+f.Tag.Get("toml")+"]")
		}
	}
	if t != root && slices.Contains(tableKeys(root), key) {
		return " (it belongs at the top of the file, before the first [table])"
	}
	if len(tables) > 0 {
		return " (it belongs in " + joinOr(tables) + ")"
	}
	if near := spelling.Nearest(key, tableKeys(t)); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

// value stores data in v. If data does not fit, v keeps its default.
func (r *report) value(at string, data any, v reflect.Value) {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		r.text(at, data, u)
		return
	}
	wrong := func(want string) { r.add(at, "must be %s, not %s", want, tomlType(data)) }
	switch v.Kind() {
	case reflect.Struct:
		if table, ok := data.(map[string]any); ok {
			r.table(at, table, v)
		} else {
			wrong("a table")
		}
	case reflect.Slice:
		if items := reflect.ValueOf(data); items.Kind() == reflect.Slice {
			r.list(at, items, v)
		} else if v.Type().Elem().Kind() == reflect.Struct {
			wrong("an array of tables ([[" + at + "]], in double brackets)")
		} else {
			wrong("an array")
		}
	case reflect.Map:
		if table, ok := data.(map[string]any); ok {
			r.stringMap(at, table, v)
		} else {
			wrong("a table")
		}
	case reflect.String:
		if s, ok := data.(string); ok {
			v.SetString(s)
		} else {
			wrong("a string")
		}
	case reflect.Bool:
		if b, ok := data.(bool); ok {
			v.SetBool(b)
		} else {
			wrong("true or false")
		}
	case reflect.Int:
		if n, ok := data.(int64); !ok {
			wrong("a whole number")
		} else if v.OverflowInt(n) {
			r.add(at, "%d is too large", n)
		} else {
			v.SetInt(n)
		}
	default:
		panic("config: a field has an unsupported type: " + v.Type().String())
	}
}

// text has u decode a string. A number is passed on as well, because u can tell the author what
// is missing, such as a unit.
func (r *report) text(at string, data any, u encoding.TextUnmarshaler) {
	switch data.(type) {
	case string, int64, float64:
		if err := u.UnmarshalText(fmt.Append(nil, data)); err != nil {
			r.add(at, "%v", err)
		}
	default:
		r.add(at, "must be a string, not %s", tomlType(data))
	}
}

// list replaces the slice v by items.
func (r *report) list(at string, items, v reflect.Value) {
	n := items.Len()
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	for i := range n {
		r.value(indexKey(at, i), items.Index(i).Interface(), v.Index(i))
	}
}

// stringMap replaces the map v, of strings, by data.
func (r *report) stringMap(at string, data map[string]any, v reflect.Value) {
	m := make(map[string]string, len(data))
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if s, ok := data[key].(string); ok {
			m[key] = s
		} else {
			r.add(joinKey(at, key), "must be a string, not %s", tomlType(data[key]))
		}
	}
	v.Set(reflect.ValueOf(m))
}

// tomlType names the TOML type of a decoded value, with its article.
func tomlType(data any) string {
	switch data.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a float"
	case bool:
		return "a boolean"
	case map[string]any:
		return "a table"
	}
	if strings.HasPrefix(reflect.TypeOf(data).String(), "[]") {
		return "an array"
	}
	return "a date or time"
}
