package hooks_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// driver gives a plugin opencode's events, of which each argument is one.
const driver = `const { Termhost } = await import(process.argv[2])
const { event } = await Termhost()
for (const e of process.argv.slice(3)) await event({ event: JSON.parse(e) })
`

// TestThePluginOfOpencodeSaysHowItStands runs the plugin, which node does as opencode's bun.
func TestThePluginOfOpencodeSaysHowItStands(t *testing.T) {
	slowtest.Programs(t, "node")
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	recorder := filepath.Join(dir, "termhost")
	hosttest.Check(t, os.WriteFile(recorder, []byte("#!/bin/sh\necho \"$*\" >>'"+said+"'\n"), 0o700))
	home := filepath.Join(dir, "home")
	if _, err := agent(t, "opencode").Install(recorder, home); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(home, ".config/opencode/plugin/termhost.js"))
	hosttest.Check(t, err)
	plugin, drive := filepath.Join(dir, "plugin.mjs"), filepath.Join(dir, "drive.mjs")
	hosttest.Check(t, os.WriteFile(plugin, text, 0o600))
	hosttest.Check(t, os.WriteFile(drive, []byte(driver), 0o600))

	words := []string{drive, plugin}
	event := func(kind string, properties map[string]any) {
		e, err := json.Marshal(map[string]any{"type": kind, "properties": properties})
		hosttest.Check(t, err)
		words = append(words, string(e))
	}
	busy := func(session string) {
		event("session.status", map[string]any{"sessionID": session, "status": map[string]string{"type": "busy"}})
	}
	event("session.created", map[string]any{"info": map[string]string{"id": "main"}})
	event("session.created", map[string]any{"info": map[string]string{"id": "sub", "parentID": "main"}})
	busy("main")
	busy("main")
	event("permission.asked", map[string]any{"sessionID": "sub", "permission": "bash"})
	busy("main") // what runs beside it answers nothing
	event("question.asked", map[string]any{"sessionID": "main", "questions": []any{map[string]string{"question": "Which?"}}})
	event("permission.replied", map[string]any{"sessionID": "sub"})
	event("question.replied", map[string]any{"sessionID": "main"})
	event("session.idle", map[string]any{"sessionID": "sub"})
	event("session.idle", map[string]any{"sessionID": "main"})
	event("session.error", map[string]any{"sessionID": "main", "error": map[string]any{"name": "Limit",
		"data": map[string]string{"message": "too much"}}})
	event("todo.updated", map[string]any{})
	cmd := exec.Command("node", words...)
	if out, err := hosttest.Output(cmd); err != nil {
		t.Fatalf("node: %v\n%s", err, out)
	}
	got, err := os.ReadFile(said)
	hosttest.Check(t, err)
	var want []string
	for _, s := range []string{"working ", "waiting wants permission: bash", "waiting Which?", "working ", "done ", "failed too much"} {
		want = append(want, "status --from opencode "+s)
	}
	if lines := strings.Split(strings.TrimSuffix(string(got), "\n"), "\n"); !slices.Equal(lines, want) {
		t.Errorf("it says %q, want %q", lines, want)
	}
}
