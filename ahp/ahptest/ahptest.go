// Package ahptest gives tests AHP's own documents, the JSON schemas of AHP 0.5 and its fixtures,
// and the choices of tests that drive a state at random. The documents are not part of the project.
// A folder shared/ahp beside it may hold them; without it the tests check less.
package ahptest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Folder returns a folder of AHP's documents, or "" if it does not exist.
func Folder(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("the test does not run in a module")
		}
		dir = filepath.Dir(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "..", "shared", "ahp", name)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return folder
}

// Schemas are AHP's schemas. All methods may be called concurrently.
type Schemas struct {
	mu       sync.Mutex // guards compiler
	compiler *jsonschema.Compiler
}

// LoadSchemas returns AHP's schemas, or nil and a line in the test's log if they are
// not there.
func LoadSchemas(t testing.TB) *Schemas {
	t.Helper()
	dir := Folder(t, "schema")
	if dir == "" {
		t.Log("AHP's schemas are not beside the project: nothing is compared with them")
		return nil
	}
	s := &Schemas{compiler: jsonschema.NewCompiler()}
	for _, file := range []string{"actions", "commands", "errors", "state"} {
		b, err := os.ReadFile(filepath.Join(dir, file+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		defs := doc.(map[string]any)["$defs"].(map[string]any)
		repair(doc, defs)
		if e, ok := defs["ActionEnvelope"].(map[string]any); ok {
			// An envelope needs no origin: AHP's round-trip fixture 025 has none.
			e["required"] = []any{"channel", "action", "serverSeq"}
		}
		if err := s.compiler.AddResource(file+".json", doc); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Problem returns where a value differs from a type of a schema file; nil: nowhere.
func (s *Schemas) Problem(t testing.TB, file, name string, raw []byte) error {
	t.Helper()
	s.mu.Lock()
	schema, err := s.compiler.Compile(file + ".json#/$defs/" + name)
	s.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return schema.Validate(v)
}

// Check fails the test if a value differs from its type. Without schemas it does
// nothing.
func (s *Schemas) Check(t testing.TB, file, name string, raw []byte) {
	t.Helper()
	if s == nil {
		return
	}
	if err := s.Problem(t, file, name, raw); err != nil {
		t.Errorf("%s is no %s: %v", raw, name, err)
	}
}

// repair fixes what the generator of the schemas has left out: the definitions of
// enums, and members of unions.
func repair(v any, defs map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		if union, ok := v["oneOf"].([]any); ok {
			v["oneOf"] = withoutHoles(union)
		}
		if ref, ok := v["$ref"].(string); ok {
			name := strings.TrimPrefix(ref, "#/$defs/")
			if defs[name] == nil {
				delete(v, "$ref")
				if value, ok := enumValue(name); ok {
					v["const"] = value
				}
			}
		}
		for _, e := range v {
			repair(e, defs)
		}
	case []any:
		for _, e := range v {
			repair(e, defs)
		}
	}
}

// withoutHoles returns the members of a union, without the empty ones.
func withoutHoles(union []any) []any {
	var kept []any
	for _, e := range union {
		if m, ok := e.(map[string]any); ok && (len(m) == 0 || m["$ref"] == "#/$defs/") {
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// enumValue returns the form that a member of an enum has on the wire: that of
// ActionType.TerminalCwdChanged is "terminal/cwdChanged".
func enumValue(name string) (string, bool) {
	enum, member, ok := strings.Cut(name, ".")
	if !ok {
		return "", false
	}
	if enum != "ActionType" {
		return strings.ToLower(member), true
	}
	cut := 1 + strings.IndexFunc(member[1:], unicode.IsUpper)
	channel, verb := strings.ToLower(member[:cut]), member[cut:]
	return channel + "/" + strings.ToLower(verb[:1]) + verb[1:], true
}
