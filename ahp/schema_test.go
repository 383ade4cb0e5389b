package ahp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"termhost/ahp"
)

// loadSchemas compiles AHP 0.5's generated schemas. Their generator left
// references to enums without definitions, and holes in unions; repair closes
// them, more strictly where that can be said.
func loadSchemas(t *testing.T, file string) func(name string) *jsonschema.Schema {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(shared(t, "schema"), file+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defs := doc.(map[string]any)["$defs"].(map[string]any)
	repair(doc, defs)
	// An envelope without an origin is right: AHP's round-trip fixture 025.
	if e, ok := defs["ActionEnvelope"].(map[string]any); ok {
		e["required"] = []any{"channel", "action", "serverSeq"}
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("ahp.json", doc); err != nil {
		t.Fatal(err)
	}
	return func(name string) *jsonschema.Schema {
		t.Helper()
		s, err := c.Compile("ahp.json#/$defs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

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

func validate(t *testing.T, s *jsonschema.Schema, raw []byte) {
	t.Helper()
	if err := invalid(t, s, raw); err != nil {
		t.Errorf("%s\n%v", raw, err)
	}
}

func invalid(t *testing.T, s *jsonschema.Schema, raw []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return s.Validate(doc)
}

func TestActionsFollowAHPsSchema(t *testing.T) {
	schema := loadSchemas(t, "actions")("ActionEnvelope")
	origin := &ahp.Origin{ClientID: "c1", ClientSeq: 7}
	for _, a := range sampleActions() {
		if a.Type() == "terminal/output" {
			continue // a client-executed terminal's own, which AHP 0.5 does not have
		}
		validate(t, schema, envelope("ahp-terminal:/a", a, nil, "", 1<<40, ahp.ShapeExitCode))
		validate(t, schema, envelope("ahp-terminal:/a", a, origin, "no", 1<<40, ahp.ShapeExitCode))
	}
	for _, wrong := range []string{
		`{"channel":"x","serverSeq":1,"action":{"type":"terminal/data"}}`,
		`{"channel":"x","serverSeq":1,"action":{"type":"terminal/none","data":""}}`,
		`{"channel":"x","serverSeq":1,"action":{"type":"terminal/claimed","claim":{"kind":"client"}}}`,
		`{"channel":"x","serverSeq":1,"action":{"type":"root/terminalsChanged","terminals":null}}`,
		`{"channel":"x","action":{"type":"terminal/cleared"}}`,
	} {
		if invalid(t, schema, []byte(wrong)) == nil {
			t.Errorf("the repaired schema takes %s", wrong)
		}
	}
}

func TestStatesFollowAHPsSchema(t *testing.T) {
	schema := loadSchemas(t, "state")
	snapshot := func(raw []byte) []byte {
		b, err := json.Marshal(ahp.Snapshot{Resource: "ahp-terminal:/a", State: raw, FromSeq: 9})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, st := range sampleTerminals() {
		raw := st.AppendJSON(nil, ahp.ShapeExitCode)
		validate(t, schema("TerminalState"), raw)
		validate(t, schema("Snapshot"), snapshot(raw))
	}
	for _, st := range sampleRoots() {
		raw := st.AppendJSON(nil, ahp.ShapeExitCode)
		validate(t, schema("RootState"), raw)
		validate(t, schema("Snapshot"), snapshot(raw))
	}
	if invalid(t, schema("TerminalState"), []byte(`{"title":"t","content":[{"type":"command"}],"claim":{"kind":"client","clientId":"c"}}`)) == nil {
		t.Error("the repaired schema takes half a command")
	}
}

func TestMessagesFollowAHPsSchema(t *testing.T) {
	schema := loadSchemas(t, "commands")
	claim := ahp.ClientClaim("c1")
	snapshot := ahp.Snapshot{Resource: ahp.RootURI, State: (&ahp.RootState{}).AppendJSON(nil, ahp.ShapeExitCode), FromSeq: 3}
	action := ahp.Envelope{Channel: "ahp-terminal:/a", Action: json.RawMessage(`{"type":"terminal/cleared"}`), ServerSeq: 4}
	for name, v := range map[string]any{
		"InitializeParams": ahp.InitializeParams{Channel: ahp.RootURI, ProtocolVersions: []string{"0.5.0"}, ClientID: "c1",
			InitialSubscriptions: []ahp.SubscriptionRef{ahp.RootURI}},
		"InitializeResult": ahp.InitializeResult{ProtocolVersion: "0.5.0", ServerSeq: 3, Snapshots: []ahp.Snapshot{snapshot},
			ServerInfo: ahp.ServerInfo{Name: "termhost", Version: "1"}, DefaultDirectory: "file:///"},
		"ReconnectParams":       ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: "c1", LastSeenServerSeq: 1 << 50},
		"ReconnectReplayResult": ahp.ReconnectResult{Type: "replay", Actions: []ahp.Envelope{action}},
		"CreateTerminalParams": ahp.CreateTerminalParams{Channel: "ahp-terminal:/a", Claim: &claim, Name: "a", Cwd: "file:///",
			Cols: ptr(80), Rows: ptr(24)},
		"DispatchActionParams": ahp.DispatchParams{Channel: "ahp-terminal:/a", ClientSeq: 1, Action: json.RawMessage(`{"type":"terminal/input","data":"x"}`)},
		"SubscribeResult": struct {
			Snapshot ahp.Snapshot `json:"snapshot"`
		}{snapshot},
	} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { validate(t, schema(name), raw) })
	}
	if invalid(t, schema("ReconnectReplayResult"), []byte(`{"type":"replay","actions":null,"missing":[]}`)) == nil {
		t.Error("the repaired schema takes null for a list")
	}
}
