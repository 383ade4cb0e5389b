package mcptest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termhost/ahp/commandline"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/cmd/termhost/hooks"
)

// TestClaudeCodeAsksForAPermission has Claude Code, in a terminal, ask its user whether it may run a
// command: the terminal waits for somebody with the tool's name, and works again after the answer.
func TestClaudeCodeAsksForAPermission(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	var a agent
	for _, known := range agents() {
		if known.name == "claude" {
			a = known
		}
	}
	claude := bin(t, a.pkg, a.program)
	node(t)
	s := newSite(t)
	const home = "claude-home"
	m := newModel(t, a.wire)
	m.tool = "Bash"
	seen := filepath.Join(s.folder(home), "seen")
	record := []any{args{"hooks": []any{args{"type": "command", "command": "tr -d '\\n' >>" + seen + "; echo >>" + seen}}}}
	s.write(filepath.Join(home, ".claude", "settings.json"), toJSON(args{"hooks": args{
		"PermissionRequest": record, "PostToolUse": record}}))
	s.hooks(a, "--install")
	s.write(filepath.Join(home, ".claude.json"), toJSON(args{ // as after the first start
		"hasCompletedOnboarding": true, "theme": "dark", "numStartups": 5,
		"customApiKeyResponses": args{"approved": []string{"fake"}, "rejected": []string{}},
		"projects": args{s.folder(home): args{"hasTrustDialogAccepted": true,
			"hasCompletedProjectOnboarding": true}},
	}))
	words := append([]string{"env", "-i"}, s.environment(home)...)
	words = append(append(words, claudeEnv(m.url)...), "TERM=xterm-256color", "TERMHOST_URI="+s.uriOf("claude"),
		"TERMHOST_SOCKET="+filepath.Join(s.dir, "state", "ahp.sock"), claude,
		"--permission-mode", "default", "go")
	script := s.write("claude.sh", "cd "+commandline.Quote(s.folder(home))+"\nexec "+commandline.Join(words)+"\n")
	turns := calls(step{tool: "Bash", args: args{"command": "touch made", "description": "makes it"}})
	ended := make(chan struct{})
	t.Cleanup(func() { <-ended })
	go func() {
		defer close(ended)
		for {
			select {
			case asked := <-m.turns:
				asked.answer(turns(turn{len(asked.request.results), asked.request.results}))
			case <-t.Context().Done():
				return
			}
		}
	}()
	s.ssh("new", "-d", "-n", "claude", "--", "exec sh "+commandline.Quote(script))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen has\n%s", s.ssh("peek", "claude"))
		}
	})
	status := func(want string) {
		t.Helper()
		hosttest.Eventually(t, "it says "+want, func() bool { return s.ssh("status", "claude") == want+"\n" })
	}
	status("waiting wants to use Bash")
	var list []struct {
		Waiting, Notice string
		WantsYou        bool
	}
	hosttest.Check(t, json.Unmarshal([]byte(s.ssh("ls", "--json")), &list))
	if len(list) != 1 || list[0].Waiting != "input" || !list[0].WantsYou || !strings.Contains(list[0].Notice, "Bash") {
		t.Errorf("it is listed as %+v", list)
	}
	s.ssh("send", "--enter", "claude")
	status("done done")
	if _, err := os.Stat(filepath.Join(s.dir, home, "made")); err != nil {
		t.Errorf("its command did not run: %v", err)
	}
	text, err := os.ReadFile(seen)
	hosttest.Check(t, err)
	var about []string
	for line := range strings.Lines(string(text)) {
		said, _ := hooks.Said("claude", nil, strings.NewReader(line))
		about = append(about, said.About)
	}
	if len(about) != 2 || about[0] == "" || about[0] != about[1] {
		t.Errorf("the question and the tool's end are about %q:\n%s", about, text)
	}
}
