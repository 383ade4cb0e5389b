package ahp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"termhost/ahp"
)

// keys returns the keys of a document, sorted, and those of the objects in it, such as
// "claim.kind".
func keys(t *testing.T, b []byte) string {
	t.Helper()
	var list []string
	var walk func(prefix string, v any)
	walk = func(prefix string, v any) {
		if v == nil {
			t.Errorf("%q is null in %s", prefix, b)
		}
		m, _ := v.(map[string]any)
		for _, k := range slices.Sorted(maps.Keys(m)) {
			list = append(list, prefix+k)
			walk(prefix+k+".", m[k])
		}
	}
	walk("", parse(t, b))
	return strings.Join(list, " ")
}

var shapeNames = [ahp.Shapes]string{
	ahp.ShapeExitCode: "0.3 to 0.8", ahp.ShapeLifecycle: "0.9, 0.10 and 1.x"}

func TestTerminalsHaveExactlyTheKeysOfTheirVersion(t *testing.T) {
	running := ahp.TerminalState{Title: "t", Claim: ahp.ClientClaim("c")}
	exited := running
	exited.Exited, exited.ExitCode = true, ptr(3)
	lost := running
	lost.Exited = true
	full := running
	full.Cwd, full.Cols, full.Rows, full.Client = "file:///", 80, 24, true
	full.Meta = json.RawMessage(`{}`)
	session := running
	session.Claim = sessionClaim()
	const (
		claim     = "claim claim.clientId claim.kind "
		bySession = "claim.kind claim.session claim.toolCallId claim.turnId content isPty"
		tail      = " supportsCommandDetection title"
	)

	for _, tc := range []struct {
		name  string
		state ahp.TerminalState
		want  [ahp.Shapes]string
	}{
		{"running", running, [...]string{
			claim + "content isPty" + tail,
			claim + "content isPty lifecycle lifecycle.status" + tail}},
		{"exited", exited, [...]string{
			claim + "content exitCode isPty" + tail,
			claim + "content isPty lifecycle lifecycle.exitCode lifecycle.status" + tail}},
		{"exited without a code", lost, [...]string{
			claim + "content exitCode isPty" + tail,
			claim + "content isPty lifecycle lifecycle.status" + tail}},
		{"everything", full, [...]string{
			"_meta " + claim + "cols content cwd executionTarget isPty rows" + tail,
			"_meta " + claim +
				"cols content cwd executionTarget isPty lifecycle lifecycle.status rows" + tail}},
		{"claimed by a session", session, [...]string{
			"claim " + bySession + tail,
			"claim claim.chat " + bySession + " lifecycle lifecycle.status" + tail}},
	} {
		for shape, want := range tc.want {
			t.Run(tc.name+" in "+shapeNames[shape], func(t *testing.T) {
				if got := keys(t, tc.state.AppendJSON(nil, ahp.Shape(shape))); got != want {
					t.Errorf("\n got %s\nwant %s", got, want)
				}
			})
		}
	}
}

func TestRootHasExactlyTheKeysOfItsVersion(t *testing.T) {
	const bySession = "claim.kind claim.session claim.toolCallId claim.turnId"
	for shape, want := range [ahp.Shapes][3]string{
		ahp.ShapeExitCode: {
			"claim claim.clientId claim.kind resource title",
			"claim " + bySession + " exitCode resource title",
			"claim claim.clientId claim.kind executionTarget exitCode resource title",
		},
		ahp.ShapeLifecycle: {
			"claim claim.clientId claim.kind lifecycle lifecycle.status resource title",
			"claim claim.chat " + bySession +
				" lifecycle lifecycle.exitCode lifecycle.status resource title",
			"claim claim.clientId claim.kind executionTarget lifecycle lifecycle.status " +
				"resource title",
		},
	} {
		root := ahp.RootState{Terminals: sampleList()}
		var w struct{ Terminals []json.RawMessage }
		if err := json.Unmarshal(root.AppendJSON(nil, ahp.Shape(shape)), &w); err != nil {
			t.Fatal(err)
		}
		for i, raw := range w.Terminals {
			if got := keys(t, raw); got != want[i] {
				t.Errorf("%s: terminal %d\n got %s\nwant %s", shapeNames[shape], i, got, want[i])
			}
		}
		empty := string((&ahp.RootState{}).AppendJSON(nil, ahp.Shape(shape)))
		if empty != `{"agents":[],"terminals":[]}` {
			t.Errorf("empty root: %s", empty)
		}
	}
}

func TestAnUnknownExitCodeIsMinusOneWhereOnlyTheCodeShowsTheExit(t *testing.T) {
	lost := ahp.TerminalState{Title: "t", Claim: ahp.ClientClaim("c"), Exited: true}
	for shape, want := range [ahp.Shapes]string{
		ahp.ShapeExitCode: `"exitCode":-1`, ahp.ShapeLifecycle: `"lifecycle":{"status":"exited"}`,
	} {
		if got := string(lost.AppendJSON(nil, ahp.Shape(shape))); !strings.Contains(got, want) {
			t.Error(got)
		}
	}
}

func TestASessionStandsInForAnUnknownChat(t *testing.T) {
	c := sessionClaim()
	got := string(c.AppendJSON(nil, ahp.ShapeLifecycle))
	if !strings.Contains(got, `"chat":"ahp-session:/s1"`) {
		t.Error(got)
	}
	c.Chat = "ahp-chat:/x"
	got = string(c.AppendJSON(nil, ahp.ShapeLifecycle))
	if !strings.Contains(got, `"chat":"ahp-chat:/x"`) {
		t.Error(got)
	}
	if got := string(c.AppendJSON(nil, ahp.ShapeExitCode)); strings.Contains(got, "chat") {
		t.Error(got)
	}
}

func TestActionsHaveExactlyTheKeysAHPGivesThem(t *testing.T) {
	want := map[string]string{
		"terminal/data": "data type", "terminal/input": "data type", "terminal/output": "data type",
		"terminal/resized": "cols rows type", "terminal/titleChanged": "title type",
		"terminal/cwdChanged": "cwd type", "terminal/cleared": "type",
		"terminal/commandDetectionAvailable": "type",
		"root/terminalsChanged":              "terminals type", "root/agentsChanged": "agents type",
		"root/activeSessionsChanged": "activeSessions type",
	}
	for _, a := range sampleActions() {
		w, ok := want[a.Type()]
		if !ok {
			continue // it has optional keys: see below
		}
		for shape := range ahp.Shape(ahp.Shapes) {
			if got := keys(t, ahp.AppendAction(nil, a, shape)); got != w {
				t.Errorf("%s: got %s, want %s", a.Type(), got, w)
			}
		}
	}
	for _, tc := range []struct {
		a    ahp.Action
		want string
	}{
		{ahp.TerminalCommandExecuted{CommandID: "a"},
			`{"type":"terminal/commandExecuted","commandId":"a","commandLine":"","timestamp":0}`},
		{ahp.TerminalCommandExecuted{CommandID: "a", By: "ann"},
			`{"type":"terminal/commandExecuted","commandId":"a","commandLine":"","timestamp":0,` +
				`"_meta":{"termhost":{"by":"ann"}}}`},
		{ahp.TerminalCommandExecuted{CommandID: "a", By: "ann", Cwd: "file:///src"},
			`{"type":"terminal/commandExecuted","commandId":"a","commandLine":"","timestamp":0,` +
				`"_meta":{"termhost":{"by":"ann","cwd":"file:///src"}}}`},
		{ahp.TerminalExited{}, `{"type":"terminal/exited"}`},
		{ahp.TerminalExited{ExitCode: ptr(0)}, `{"type":"terminal/exited","exitCode":0}`},
		{ahp.TerminalCommandFinished{CommandID: "a"},
			`{"type":"terminal/commandFinished","commandId":"a"}`},
		{ahp.TerminalCommandFinished{CommandID: "a", ExitCode: ptr(1), DurationMs: ptr(int64(2))},
			`{"type":"terminal/commandFinished","commandId":"a","exitCode":1,"durationMs":2}`},
		{ahp.RootConfigChanged{}, `{"type":"root/configChanged","config":{}}`},
		{ahp.RootConfigChanged{Replace: true},
			`{"type":"root/configChanged","config":{},"replace":true}`},
		{ahp.RootAgentsChanged{}, `{"type":"root/agentsChanged","agents":[]}`},
		{ahp.RootTerminalsChanged{}, `{"type":"root/terminalsChanged","terminals":[]}`},
		{ahp.Unknown{Name: "x/y", Raw: json.RawMessage(`{"type":"x/y","z":1}`)},
			`{"type":"x/y","z":1}`},
	} {
		if got := string(ahp.AppendAction(nil, tc.a, ahp.ShapeLifecycle)); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}

func TestWhatIsEncodedDecodesToTheSame(t *testing.T) {
	for shape := range ahp.Shape(ahp.Shapes) {
		for i, a := range sampleActions() {
			first := ahp.AppendAction(nil, a, shape)
			b, err := ahp.DecodeAction(first)
			if err != nil {
				t.Fatalf("%s: %v", first, err)
			}
			if fmt.Sprintf("%T", a) != fmt.Sprintf("%T", b) {
				t.Errorf("%T came back as %T", a, b)
			}
			if second := ahp.AppendAction(nil, b, shape); !sameJSON(t, first, second) {
				t.Errorf("action %d: %s, then %s", i, first, second)
			}
		}
		for _, st := range sampleTerminals() {
			again(t, &st, new(ahp.TerminalState), shape)
		}
		for _, st := range sampleRoots() {
			again(t, &st, new(ahp.RootState), shape)
		}
	}
}

func again(t *testing.T, st, other state, shape ahp.Shape) {
	t.Helper()
	first := st.AppendJSON(nil, shape)
	if got := reencodeIn(t, first, other, shape); string(got) != string(first) {
		t.Errorf("%s, then %s", first, got)
	}
}

func reencodeIn(t *testing.T, raw []byte, st state, shape ahp.Shape) []byte {
	t.Helper()
	if err := st.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return st.AppendJSON(nil, shape)
}

func TestEmptyListsAreNeverNull(t *testing.T) {
	for _, v := range []any{ahp.InitializeResult{}, ahp.ReconnectResult{}, ahp.ReconnectParams{}} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		keys(t, b)
	}
}
