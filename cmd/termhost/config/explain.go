package config

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Explained is a checked configuration that knows where its values are from.
type Explained struct {
	Config
	Place
	lines     lineIndex
	stateHome bool // XDG_STATE_HOME is set
}

// Explain is [Load]; it also says where each value is from.
func Explain(path string) (Explained, error) {
	place, err := Find(path)
	if err != nil {
		return Explained{}, err
	}
	c, text, err := load(path)
	if err != nil {
		return Explained{}, err
	}
	env, err := currentEnvironment()
	var r report
	ignored := env.defaults()
	decode(text, &ignored, &r)
	return Explained{Config: c, Place: place, lines: r.lines, stateHome: env.stateHome != ""}, err
}

// The values of Value.From.
const (
	FromFile        = "file"
	FromDefault     = "default"
	FromEnvironment = "environment"
)

// Value is what counts for one key.
type Value struct {
	Key  string `json:"-"`     // with its table, such as "ssh.listen"
	At   any    `json:"value"` // a string, bool, int64, []any or map[string]any of these
	From string `json:"from"`
	Line int    `json:"line,omitempty"` // of the file
}

// Values returns all keys, in the order of config.example.toml. An array of tables, such as
// principal, is one key.
func (e *Explained) Values() (list []Value) {
	e.walk(func(v Value, _ reflect.Value) { list = append(list, v) })
	return list
}

// TOML returns the configuration as a file that Load would read as the same, with a comment behind
// each value that says where it is from.
func (e *Explained) TOML() string {
	var b strings.Builder
	if e.Path == "" {
		fmt.Fprintf(&b, "# There is no configuration file, so these are the defaults. "+
			"One would be read from\n# %s.\n",
			oneLine(strings.Join(e.Looked, ", or else ")))
	} else {
		fmt.Fprintf(&b, "# What counts with %s.\n"+
			"# A line is one of that file; what it does not say has its default.\n",
			oneLine(e.Path))
	}
	table := ""
	e.walk(func(v Value, field reflect.Value) {
		if field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct &&
			!isText(field.Type().Elem()) {
			e.writeTables(&b, v.Key, field)
			return
		}
		in, key, nested := strings.Cut(v.Key, ".")
		if !nested {
			in, key = "", v.Key
		}
		if in != table {
			table = in
			fmt.Fprintf(&b, "\n[%s]\n", in)
		}
		fmt.Fprintf(&b, "%s = %s # %s\n", key, tomlOf(v.At), v.origin())
	})
	return b.String()
}

// origin says where a value is from, for people.
func (v Value) origin() string {
	switch v.From {
	case FromFile:
		return "line " + strconv.Itoa(v.Line)
	case FromEnvironment:
		return "default, by XDG_STATE_HOME"
	}
	return v.From
}

// walk calls f with each key and its field.
func (e *Explained) walk(f func(Value, reflect.Value)) {
	c := e.Config
	if c.HTTP.Listen == "" {
		c.HTTP.Listen = "none"
	}
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		for i, key := range tableKeys(v.Type()) {
			at, field := joinKey(path, key), v.Field(i)
			if isTable(field.Type()) {
				walk(at, field)
				continue
			}
			value := Value{Key: at, At: plainOf(field), From: FromDefault, Line: e.lines[at]}
			switch {
			case value.Line > 0:
				value.From = FromFile
			case at == "state_dir" && e.stateHome:
				value.From = FromEnvironment
			}
			f(value, field)
		}
	}
	walk("", reflect.ValueOf(c))
}

// writeTables writes an array of tables, such as [[principal]], without the keys that are not set.
func (e *Explained) writeTables(b *strings.Builder, key string, list reflect.Value) {
	for i := range list.Len() {
		fmt.Fprintf(b, "\n[[%s]] # line %d\n", key, e.lines[indexKey(key, i)])
		entry := list.Index(i)
		for j, name := range tableKeys(entry.Type()) {
			if field := entry.Field(j); !field.IsZero() {
				fmt.Fprintf(b, "%s = %s\n", name, tomlOf(plainOf(field)))
			}
		}
	}
}

// isText reports whether a value of type t is a string in the file.
func isText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// plainOf returns a value as the file has it.
func plainOf(v reflect.Value) any {
	if k, ok := v.Interface().(Key); ok {
		if k.Line != "" {
			return k.Line
		}
		return k.Fingerprint
	}
	if isText(v.Type()) {
		return fmt.Sprint(v.Interface())
	}
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.Int:
		return v.Int()
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plainOf(v.Index(i))
		}
		return list
	case reflect.Map:
		table := map[string]any{}
		for _, key := range v.MapKeys() {
			table[key.String()] = plainOf(v.MapIndex(key))
		}
		return table
	case reflect.Struct:
		table := map[string]any{}
		for i, key := range tableKeys(v.Type()) {
			if !v.Field(i).IsZero() {
				table[key] = plainOf(v.Field(i))
			}
		}
		return table
	}
	return v.String()
}

// tomlOf writes a plain value.
func tomlOf(value any) string {
	switch value := value.(type) {
	case string:
		return tomlString(value)
	case []any:
		items := make([]string, len(value))
		for i, item := range value {
			items[i] = tomlOf(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		var items []string
		for _, key := range slices.Sorted(maps.Keys(value)) {
			name := key
			if key == "" || strings.Trim(key, bareKeyChars) != "" {
				name = tomlString(key)
			}
			items = append(items, name+" = "+tomlOf(value[key]))
		}
		if len(items) == 0 {
			return "{}"
		}
		return "{ " + strings.Join(items, ", ") + " }"
	}
	return fmt.Sprint(value)
}

// tomlString quotes a string (TOML 1.0, "String").
func tomlString(s string) string {
	if strings.Contains(s, `\`) && !strings.ContainsFunc(s, func(r rune) bool {
		return r == '\'' || r < ' ' || r == 0x7f
	}) {
		return "'" + s + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
