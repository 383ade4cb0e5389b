package ahp_test

import (
	"encoding/json"
	"testing"

	"termhost/ahp"
	"termhost/ahp/ahptest"
)

// loadSchemas skips the test if there are no schemas.
func loadSchemas(t *testing.T) *ahptest.Schemas {
	t.Helper()
	s := ahptest.LoadSchemas(t)
	if s == nil {
		t.SkipNow()
	}
	return s
}

func TestActionsFollowAHPsSchema(t *testing.T) {
	schemas := loadSchemas(t)
	origin := &ahp.Origin{ClientID: "c1", ClientSeq: 7}
	for _, a := range sampleActions() {
		if a.Type() == "terminal/output" {
			continue // AHP 0.5 does not have it
		}
		for _, e := range []envelope{
			{channel: "ahp-terminal:/a", action: a, seq: 1 << 40},
			{channel: "ahp-terminal:/a", action: a, origin: origin, rejection: "no", seq: 1 << 40},
		} {
			schemas.Check(t, "actions", "ActionEnvelope", e.append(ahp.ShapeExitCode))
		}
	}
	for _, wrong := range []string{
		`{"channel":"x","serverSeq":1,"action":{"type":"terminal/data"}}`,
		`{"channel":"x","serverSeq":1,"action":{"type":"terminal/none","data":""}}`,
		`{"channel":"x","serverSeq":1,` +
			`"action":{"type":"terminal/claimed","claim":{"kind":"client"}}}`,
		`{"channel":"x","serverSeq":1,"action":{"type":"root/terminalsChanged","terminals":null}}`,
		`{"channel":"x","action":{"type":"terminal/cleared"}}`,
	} {
		if schemas.Problem(t, "actions", "ActionEnvelope", []byte(wrong)) == nil {
			t.Errorf("the repaired schema takes %s", wrong)
		}
	}
}

func TestStatesFollowAHPsSchema(t *testing.T) {
	schemas := loadSchemas(t)
	snapshot := func(raw []byte) []byte {
		b, err := json.Marshal(ahp.Snapshot{Resource: "ahp-terminal:/a", State: raw, FromSeq: 9})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, st := range sampleTerminals() {
		raw := st.AppendJSON(nil, ahp.ShapeExitCode)
		schemas.Check(t, "state", "TerminalState", raw)
		schemas.Check(t, "state", "Snapshot", snapshot(raw))
	}
	for _, st := range sampleRoots() {
		raw := st.AppendJSON(nil, ahp.ShapeExitCode)
		schemas.Check(t, "state", "RootState", raw)
		schemas.Check(t, "state", "Snapshot", snapshot(raw))
	}
	half := []byte(`{"title":"t","content":[{"type":"command"}],` +
		`"claim":{"kind":"client","clientId":"c"}}`)
	if schemas.Problem(t, "state", "TerminalState", half) == nil {
		t.Error("the repaired schema takes half a command")
	}
}

func TestMessagesFollowAHPsSchema(t *testing.T) {
	schemas := loadSchemas(t)
	claim := ahp.ClientClaim("c1")
	snapshot := ahp.Snapshot{Resource: ahp.RootURI, FromSeq: 3,
		State: (&ahp.RootState{}).AppendJSON(nil, ahp.ShapeExitCode)}
	action := ahp.Envelope{Channel: "ahp-terminal:/a", ServerSeq: 4,
		Action: json.RawMessage(`{"type":"terminal/cleared"}`)}
	var dispatch ahp.Message
	err := json.Unmarshal(ahp.AppendDispatch(nil, "ahp-terminal:/a", 1,
		ahp.TerminalInput{Data: []byte("x")}, ahp.ShapeLifecycle), &dispatch)
	if err != nil || dispatch.Version != "2.0" || dispatch.Method != ahp.MethodDispatchAction {
		t.Errorf("%+v %v", dispatch, err)
	}
	for name, v := range map[string]any{
		"InitializeParams": ahp.InitializeParams{Channel: ahp.RootURI, ClientID: "c1",
			ProtocolVersions:     []string{"0.5.0"},
			InitialSubscriptions: []ahp.SubscriptionRef{ahp.RootURI}},
		"InitializeResult": ahp.InitializeResult{ProtocolVersion: "0.5.0", ServerSeq: 3,
			Snapshots: []ahp.Snapshot{snapshot}, DefaultDirectory: "file:///",
			ServerInfo: ahp.ServerInfo{Name: "termhost", Version: "1"}},
		"ReconnectParams": ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: "c1",
			LastSeenServerSeq: 1 << 50},
		"ReconnectReplayResult": ahp.ReconnectResult{Type: "replay",
			Actions: []ahp.Envelope{action}},
		"CreateTerminalParams": ahp.CreateTerminalParams{Channel: "ahp-terminal:/a",
			Claim: &claim, Name: "a", Cwd: "file:///", Cols: ptr(80), Rows: ptr(24)},
		"DispatchActionParams": dispatch.Params,
		"SubscribeResult": struct {
			Snapshot ahp.Snapshot `json:"snapshot"`
		}{snapshot},
	} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { schemas.Check(t, "commands", name, raw) })
	}
	null := []byte(`{"type":"replay","actions":null,"missing":[]}`)
	if schemas.Problem(t, "commands", "ReconnectReplayResult", null) == nil {
		t.Error("the repaired schema takes null for a list")
	}
}
