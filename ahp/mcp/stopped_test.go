package mcp_test

import (
	"testing"

	"termhost/ahp/hosttest"
	"termhost/authz"
)

func TestAStoppedTerminalIsNamedInTheHeaderWithWhoStoppedIt(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	like(t, a.call("terminal_open", args{"name": "x"}), `^\[x `)
	const stopped = `(?s)^\[x stopped by Ctrl-S \(alice/claude-code\) .*until somebody presses Ctrl-Q`
	a.answers(stopped, args{"terminal": "x", "keys": []string{"ctrl-s"}})
	like(t, a.call("terminal_send", args{"terminal": "x", "text": "echo went $((2-1))"}), stopped)
	a.answers(`\nwent 1\n`, args{"terminal": "x", "keys": []string{"ctrl-q"}})
}
