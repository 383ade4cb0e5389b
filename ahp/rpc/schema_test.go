package rpc_test

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

// schemas are AHP 0.5's own, where they are beside the repository.
type schemas struct {
	mu       sync.Mutex // the compiler's
	compiler *jsonschema.Compiler
}

// loadSchemas returns nil where there are none.
func loadSchemas(t *testing.T) *schemas {
	t.Helper()
	s := &schemas{compiler: jsonschema.NewCompiler()}
	for _, file := range []string{"actions", "commands", "errors"} {
		b, err := os.ReadFile(filepath.Join("../../../shared/ahp/schema", file+".schema.json"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		defs := doc.(map[string]any)["$defs"].(map[string]any)
		repair(doc, defs)
		if d, ok := defs["ActionEnvelope"].(map[string]any); ok {
			// An envelope without an origin is right: AHP's round-trip fixture 025.
			d["required"] = []any{"channel", "action", "serverSeq"}
		}
		if err := s.compiler.AddResource(file+".json", doc); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// repair closes what the schemas' generator left open: references to enums that
// have no definition, and holes in unions.
func repair(v any, defs map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		if union, ok := v["oneOf"].([]any); ok {
			var kept []any
			for _, e := range union {
				if m, ok := e.(map[string]any); !ok || len(m) > 0 && m["$ref"] != "#/$defs/" {
					kept = append(kept, e)
				}
			}
			v["oneOf"] = kept
		}
		if ref, ok := v["$ref"].(string); ok && defs[strings.TrimPrefix(ref, "#/$defs/")] == nil {
			delete(v, "$ref")
			if value, ok := enumValue(strings.TrimPrefix(ref, "#/$defs/")); ok {
				v["const"] = value
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

// enumValue says what a member of an enum looks like on the wire:
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
	return strings.ToLower(member[:cut]) + "/" + strings.ToLower(member[cut:cut+1]) + member[cut+1:], true
}

// check reports what of a value is not as its type says.
func (s *schemas) check(t *testing.T, file, name string, raw []byte) {
	t.Helper()
	if s == nil {
		return
	}
	s.mu.Lock()
	schema, err := s.compiler.Compile(file + ".json#/$defs/" + name)
	s.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%s is no %s: %v", raw, name, err)
	}
}

// result checks the result of a method.
func (s *schemas) result(t *testing.T, method string, raw []byte) {
	t.Helper()
	switch method {
	case "initialize":
		s.check(t, "commands", "InitializeResult", raw)
	case "reconnect":
		s.check(t, "commands", "ReconnectReplayResult", raw)
	case "listSessions":
		s.check(t, "commands", "ListSessionsResult", raw)
	case "subscribe":
		s.check(t, "errors", "SubscribeResult", raw)
	case "ping", "createTerminal", "disposeTerminal", "unsubscribe", "dispatchAction":
		if string(raw) != "null" {
			t.Errorf("the result of %s is %s", method, raw)
		}
	}
}
