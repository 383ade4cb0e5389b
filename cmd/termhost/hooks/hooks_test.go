package hooks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/cmd/termhost/hooks"
)

// exe is where termhost is: its path is quoted for JSON, TOML, JavaScript and the shell.
const exe = `/opt/it's "here"\/termhost`

// home makes a home folder with a file.
func home(t *testing.T, name, text string) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(v, "")
	}
	return dir, path
}

func agent(t *testing.T, name string) hooks.Agent {
	t.Helper()
	a, ok := hooks.Named(name)
	if !ok {
		t.Fatalf("%s is not known", name)
	}
	return a
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWhatIsInTheSettingsStays(t *testing.T) {
	for _, c := range []struct{ agent, file, was string }{
		{"claude", ".claude/settings.json", `{
  "z": 1e400,
  "hooks": {
    "Stop": [
      {
        "matcher": "",
        "hooks": [
          {
            "type": "command",
            "command": "say done"
          }
        ]
      }
    ],
    "Other": "odd"
  },
  "a": "\u00e9"
}
`},
		{"claude", ".claude/settings.json", "{\"a\":   1}\n"},
		{"gemini", ".gemini/settings.json", "{\n  \"a\": 1,\n  \"hooks\": {}\n}\n"},
		{"codex", ".codex/config.toml", "# mine\nmodel = \"x\"\n[tui]\nnotify = [\"no\", \"key\"]\n"},
		{"codex", ".codex/hooks.json", "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n"},
	} {
		dir, path := home(t, c.file, c.was)
		a := agent(t, c.agent)
		if changed, err := a.Remove(exe, dir); err != nil || len(changed) > 0 {
			t.Errorf("%s: removed from what has none: %q, %v", c.file, changed, err)
		}
		if changed, err := a.Install("/old/termhost", dir); err != nil || len(changed) == 0 {
			t.Errorf("%s: %q, %v", c.file, changed, err)
		}
		if _, err := a.Install(exe, dir); err != nil {
			t.Error(err)
		}
		once := content(t, path)
		if changed, err := a.Install(exe, dir); err != nil || len(changed) > 0 || strings.Contains(once, "/old") {
			t.Errorf("%s: again: %q, %v, in\n%s", c.file, changed, err, once)
		}
		for _, text := range []string{"1e400", "say done", `"odd"`, "# mine", `"no", "key"`} {
			if strings.Contains(c.was, text) && !strings.Contains(once, text) {
				t.Errorf("%s: %s is lost:\n%s", c.file, text, once)
			}
		}
		if _, err := a.Remove("/elsewhere", dir); err != nil {
			t.Error(err)
		}
		left := strings.Join(strings.Fields(content(t, path)), "")
		was := strings.Join(strings.Fields(c.was), "")
		if left != was && left+`{"hooks":{}}` != was && !strings.HasSuffix(c.was, "{}\n}\n") {
			t.Errorf("%s: after its removal there is\n%s\nof\n%s", c.file, left, was)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o640 {
			t.Errorf("%s: its mode is %v, %v", c.file, st.Mode(), err)
		}
	}
}

func TestWhatWasNotThereIsGoneAfterwards(t *testing.T) {
	for _, a := range hooks.Agents() {
		dir, _ := home(t, "other", "")
		made, err := a.Install(exe, dir)
		if err != nil || len(made) == 0 {
			t.Errorf("%s: %q, %v", a.Name, made, err)
		}
		for _, path := range made {
			if !strings.Contains(a.Settings(exe, dir), path+":\n\n"+content(t, path)) {
				t.Errorf("%s: %s is not what is printed:\n%s", a.Name, path, a.Settings(exe, dir))
			}
		}
		if _, err := a.Remove(exe, dir); err != nil {
			t.Error(err)
		}
		for _, path := range made {
			if _, err := os.Stat(path); err == nil {
				t.Errorf("%s is left, with\n%s", path, content(t, path))
			}
		}
	}
}

func TestWhatCannotBeReadIsNotChanged(t *testing.T) {
	for _, c := range []struct{ agent, file, was, why string }{
		{"claude", ".claude/settings.json", "{ // mine\n}", "not plain JSON"},
		{"claude", ".claude/settings.json", `{"hooks": []}`, "not plain JSON"},
		{"claude", ".claude/settings.json", `{"a": 1} x`, "not plain JSON"},
		{"gemini", ".gemini/settings.json", `[]`, "not plain JSON"},
		{"codex", ".codex/config.toml", "x = = y", "not TOML"},
		{"codex", ".codex/config.toml", "notify = [\"mine\"]\n", "a notify of its own"},
		{"codex", ".codex/hooks.json", "{", "not plain JSON"},
		{"opencode", ".config/opencode/plugin/termhost.js", "// mine\n", "move it away"},
	} {
		dir, path := home(t, c.file, c.was)
		changed, err := agent(t, c.agent).Install(exe, dir)
		if err == nil || !strings.Contains(err.Error(), c.why) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s with %s: %v", c.file, c.was, err)
		}
		if len(changed) > 0 || content(t, path) != c.was {
			t.Errorf("%s with %s was changed", c.file, c.was)
		}
	}
}

func TestALinkStaysALink(t *testing.T) {
	dir, target := home(t, "dotfiles/claude.json", "{}")
	if err := os.Mkdir(filepath.Join(dir, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, ".claude", "settings.json")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if _, err := agent(t, "claude").Install(exe, dir); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != target || !strings.Contains(content(t, target), "status --from") {
		t.Errorf("it leads to %q, %v", to, err)
	}
}

func TestWhatAgentsSay(t *testing.T) {
	for _, c := range []struct{ agent, in, want string }{
		{"claude", `{"hook_event_name":"UserPromptSubmit","prompt":"secret"}`, "working "},
		{"claude", `{"hook_event_name":"PostToolUse","error":{"a":1},"tool_response":["x"]}`, "working "},
		{"claude", `{"hook_event_name":"PermissionRequest","tool_name":"Bash"}`, "waiting wants to use Bash"},
		{"claude", `{"hook_event_name":"Notification","message":"Claude asks","notification_type":"elicitation_dialog"}`,
			"waiting Claude asks"},
		{"claude", `{"hook_event_name":"Notification","notification_type":"idle_prompt"}`, ""},
		{"claude", `{"hook_event_name":"Stop","last_assistant_message":"\n All tests pass. \nMore"}`, "done All tests pass."},
		{"claude", `{"hook_event_name":"StopFailure","error":"rate_limit"}`, "failed rate_limit"},
		{"claude", `{"hook_event_name":"SessionEnd"}`, ""},
		{"claude", `{`, ""}, {"claude", ``, ""}, {"claude", `[1]`, ""},
		{"gemini", `{"hook_event_name":"AfterAgent","prompt_response":"ok"}`, "done ok"},
		{"codex", `{"hook_event_name":"Stop"}`, "done "},
	} {
		if got := said(hooks.Said(c.agent, nil, strings.NewReader(c.in))); got != c.want {
			t.Errorf("%s says %q with %s, want %q", c.agent, got, c.in, c.want)
		}
	}
	for want, args := range map[string][]string{
		"done ok": {`{"type":"agent-turn-complete","last-assistant-message":"ok"}`}, "": {"{"},
	} {
		if got := said(hooks.Said("codex", args, nil)); got != want {
			t.Errorf("codex says %q with %q, want %q", got, args, want)
		}
	}
	if got := said(hooks.Said("opencode", []string{"failed", "no"}, nil)); got != "failed no" {
		t.Errorf("opencode says %q", got)
	}
}

func said(s host.Said, ok bool) string {
	if !ok {
		return ""
	}
	return fmt.Sprint(s.State, " ", s.Text)
}

// TestAnAgentsQuestionIsAboutOneUseOfATool has the events of a question, of the tool that it is
// about, and of others that run beside it.
func TestAnAgentsQuestionIsAboutOneUseOfATool(t *testing.T) {
	about := func(in string) string {
		t.Helper()
		s, ok := hooks.Said("claude", nil, strings.NewReader(in))
		if !ok || !s.Program {
			t.Errorf("%s says %+v, %v", in, s, ok)
		}
		return s.About
	}
	asked := about(`{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make","description":"x"}}`)
	for in, same := range map[string]bool{
		`{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{ "description": "x", "command": "make" },"tool_use_id":"t1"}`: true,
		`{"hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"make","description":"x"}}`:                  true,
		`{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`:                                             false,
		`{"hook_event_name":"PostToolUse","tool_name":"Read","tool_input":{"command":"make","description":"x"}}`:                         false,
		`{"hook_event_name":"PostToolUse","tool_name":"Read"}`:                                                                           false,
	} {
		if got := about(in); got == "" || (got == asked) != same {
			t.Errorf("%s is about %q, the question about %q", in, got, asked)
		}
	}
	for _, in := range []string{`{"hook_event_name":"Stop"}`, `{"hook_event_name":"UserPromptSubmit"}`,
		`{"hook_event_name":"Notification","notification_type":"permission_prompt"}`} {
		if got := about(in); got != "" {
			t.Errorf("%s is about %q", in, got)
		}
	}
}
