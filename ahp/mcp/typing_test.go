package mcp_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

// inBash connects an agent to a host whose shell is bash, and opens the terminal "sh".
func inBash(t *testing.T) *agent {
	t.Helper()
	slowtest.Programs(t, "bash")
	a := connect(t, hosttest.New(t, func(c *host.Config) { c.Shell, c.ShellIntegration = "bash", true }),
		hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	like(t, a.call("terminal_open", args{"name": "sh"}), `^\[sh running `)
	return a
}

func TestLinesWithTabsArriveInAShellAsTheyAre(t *testing.T) {
	t.Parallel()
	a := inBash(t)
	file := filepath.Join(t.TempDir(), "Makefile")
	want := "all:\n\techo hi\n"
	like(t, a.call("terminal_run", args{"terminal": "sh", "command": "cat >" + file + " <<'EOF'\n" + want + "EOF\n"}),
		`^\[sh exited 0 `)
	got, err := os.ReadFile(file)
	hosttest.Check(t, err)
	if string(got) != want {
		t.Errorf("the file has %q, want %q", got, want)
	}
}

func TestAProgramInAShellDoesNotReadTheLinesBehindIt(t *testing.T) {
	t.Parallel()
	a := inBash(t)
	like(t, a.call("terminal_run", args{"terminal": "sh", "command": "read x\necho second $x"}), `^\[sh waiting for input: `)
	a.answers(`(?s)\nsecond answer\n`, args{"terminal": "sh", "text": "answer"})
}

func TestAShellThatStartsSlowlyIsPastedIntoAtItsPrompt(t *testing.T) {
	t.Parallel()
	slowtest.Programs(t, "bash")
	slow := filepath.Join(t.TempDir(), "bash")
	hosttest.Check(t, os.WriteFile(slow, []byte("#!/bin/sh\nsleep 1\nexec bash \"$@\"\n"), 0o700))
	a := connect(t, hosttest.New(t, func(c *host.Config) { c.Shell, c.ShellIntegration = slow, true }),
		hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	like(t, a.call("terminal_open", args{"name": "sh"}), `^\[sh running `)
	like(t, a.call("terminal_run", args{"terminal": "sh", "command": "read x\necho second $x"}), `^\[sh waiting for input: `)
	a.answers(`(?s)\nsecond answer\n`, args{"terminal": "sh", "text": "answer"})
}

// A command in a shell is answered when it ends. No wait comes on top, the shortest of which takes a
// second.
func TestMeasuresACommandInAShell(t *testing.T) {
	slowtest.Measures(t)
	a := inBash(t)
	quickest := time.Hour
	for range 5 {
		begun := time.Now()
		like(t, a.call("terminal_run", args{"terminal": "sh", "command": "true"}), `^\[sh exited 0 `)
		quickest = min(quickest, time.Since(begun))
	}
	if quickest > 900*time.Millisecond {
		t.Errorf("the quickest of 5 took %s", quickest)
	}
}

func TestEnterIsNotPressedTwice(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	for name, typed := range map[string]args{
		"newline": {"text": "a\n"},
		"key":     {"text": "a", "keys": []string{"enter"}},
	} {
		like(t, a.call("terminal_run", args{"name": name, "command": "read x; echo got $x; read y; echo and $y"}), `waiting for input`)
		typed["terminal"] = name
		a.call("terminal_send", typed)
		// On a busy machine an answer may come before the program's. A second Enter would be y.
		a.call("terminal_send", args{"terminal": name, "text": "b"})
		like(t, a.call("terminal_read", args{"terminal": name, "cursor": 0, "wait_s": 40, "until": "and"}),
			`\ngot a\n(b\n)?and b\n`)
	}
}

func TestAWaitEndsAtAPromptAndWhenTheScreenIsDrawn(t *testing.T) {
	t.Parallel()
	slowtest.Programs(t, "python3", "less")
	a := inBash(t)
	like(t, a.call("terminal_run", args{"terminal": "sh", "command": "echo 'open"}), `^\[sh waiting for input: ">" `)
	like(t, a.call("terminal_send", args{"terminal": "sh", "keys": []string{"ctrl-c"}}), `^\[sh running [^\n]*\n(> \^C\n)?[^\n]*\n$`)
	like(t, a.call("terminal_run", args{"command": "python3 -q", "name": "py"}), `^\[py waiting for input: ">>>" `)
	like(t, a.call("terminal_run", args{"command": "printf '\\033[?1049h\\033[?1h'; stty raw -echo; sleep 1000", "name": "full"}),
		`^\[full running [^\n]*\nThe program draws on the whole screen: terminal_read \{"terminal":"full","view":"screen"\} shows it.\n$`)
}

func TestWhatHasExitedTakesNoKeysAndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	a.call("terminal_run", args{"command": "true", "name": "done"})
	text, failed := a.callWith(t.Context(), "terminal_send", args{"terminal": "done", "text": "x"})
	if !failed {
		t.Error("it does not fail")
	}
	like(t, text, `^error: done has exited; nothing was typed. Its output: terminal_read \{"terminal":"done","cursor":0\}; a new shell: terminal_open \{\}\n$`)
}

func TestResourcesAreInNoSharedCache(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	a.call("terminal_run", args{"command": "true", "name": "done"})
	list, err := a.session.ListResources(t.Context(), nil)
	hosttest.Check(t, err)
	templates, err := a.session.ListResourceTemplates(t.Context(), nil)
	hosttest.Check(t, err)
	read, err := a.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "termhost:///done/log"})
	hosttest.Check(t, err)
	for _, scope := range []string{string(list.CacheScope), string(templates.CacheScope), string(read.CacheScope)} {
		if scope != "private" {
			t.Errorf("the scope is %q", scope)
		}
	}
}

func TestANameThatIsTakenLeadsToItsTerminal(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	a.call("terminal_run", args{"command": "true", "name": "done"})
	for _, tool := range []string{"terminal_run", "terminal_open"} {
		text, failed := a.callWith(t.Context(), tool, args{"command": "true", "name": "done"})
		if !failed {
			t.Errorf("%s does not fail", tool)
		}
		like(t, text, `^error: there is a terminal "done" already: .*: terminal_read \{"terminal":"done"\}\n$`)
	}
}
