package mcptest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// TestTheTypeScriptSDK uses the client that most others are made with.
func TestTheTypeScriptSDK(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	node(t)
	type call struct {
		Name      string `json:"name"`
		Arguments args   `json:"arguments"`
		Progress  bool   `json:"progress"` // whether it asks for that
	}
	made := []call{
		{"terminal_run", args{"command": "echo out; exit 3"}, false},
		{"terminal_run", args{"command": "sleep 1.5; exit 4"}, true},
		{"terminal_read", args{"terminal": "nosuch"}, false},
	}
	s := newSite(t)
	results := runSDK(t, s, toJSON(made))
	var told []string
	for _, r := range results {
		told = append(told, r.Text)
	}
	like(t, told, header(`\S+`, "exited 3", "out\n$"), header(`\S+`, "exited 4", "$"), "^error: .*nosuch")
	if results[0].Progress != 0 || results[1].Progress == 0 {
		t.Errorf("progress: %+v", results)
	}
}

// TestAWaitEndsBeforeTheSDKGivesUp: its calls take 60 s at most unless a program says otherwise.
func TestAWaitEndsBeforeTheSDKGivesUp(t *testing.T) {
	all(t)
	t.Parallel()
	node(t)
	results := runSDK(t, newSite(t), toJSON([]args{
		{"name": "terminal_run", "arguments": args{"command": "sleep 50; exit 7", "name": "long"}},
		{"name": "terminal_read", "arguments": args{"terminal": "long", "wait_s": 40}},
	}))
	like(t, []string{results[0].Text, results[1].Text}, header("long", "running", ""), header("long", "exited 7", ""))
}

// sdkResult is a result, or an error, as testdata/sdk/client.mjs prints it.
type sdkResult struct {
	Text     string
	Progress int // how often it was told
}

// runSDK makes calls, in JSON, with the TypeScript SDK.
func runSDK(t testing.TB, s *site, made string) (results []sdkResult) {
	t.Helper()
	dir := install(t, "@modelcontextprotocol/sdk")
	client := filepath.Join(filepath.Dir(dir), "client.mjs") // modules are found from there
	text, err := os.ReadFile("testdata/sdk/client.mjs")
	hosttest.Check(t, err)
	hosttest.Check(t, os.WriteFile(client, text, 0o600))
	out := s.start("sdk", s.dir, s.environment("sdk-home"), append([]string{filepath.Join(node(t), "node"), client, made},
		s.sshCommand("mcp")...)...).wait()
	hosttest.Check(t, json.Unmarshal([]byte(out), &results))
	if len(results) == 0 {
		t.Fatalf("no results in %q", out)
	}
	return results
}
