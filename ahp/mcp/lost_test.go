package mcp_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"regexp"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/mcp"
	"termhost/authz"
)

func TestWhatACancelledCallRunsIsFoundAgain(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	server := mcp.New(mcp.Options{Version: "test"})
	alice := hosttest.Principal("alice", authz.Admin)
	a := connectTo(t, server, h, alice, "claude-code", nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = a.callWith(ctx, "terminal_run", args{"name": "job", "command": "echo begun; exec sleep 1000"})
	}()
	hosttest.Eventually(t, "it runs", func() bool {
		text, _ := a.callWith(t.Context(), "terminal_read", args{"terminal": "job", "cursor": 0})
		return len(text) > 0 && text[0] == '['
	})
	cancel()
	<-done
	hosttest.Eventually(t, "the next result tells of it", func() bool {
		text := a.call("terminal_run", args{"command": "true"})
		return match(text, `The answer to your terminal_run "echo begun; exec sleep 1000" did not reach you: terminal_read \{"terminal":"job"\}`)
	})
	like(t, a.call("terminal_list", nil), `(?m)^job  running  held by you  .*did not reach you`)
	a.leave()

	b := connectTo(t, server, h, alice, "claude-code", nil)
	like(t, b.call("terminal_list", nil), `(?m)^job  running  held by you  .*did not reach you: terminal_read`)
	other := connectTo(t, server, h, alice, "codex-mcp-client", nil)
	like(t, other.call("terminal_list", nil), `(?m)^job  running  held by alice/claude-code  \S+\n?$`)
	like(t, b.call("terminal_read", args{"terminal": "job", "cursor": 0}), `^\[job running .*\]\nbegun\n`)
	if text := b.call("terminal_list", nil); match(text, "did not reach you") {
		t.Errorf("what has been read is still told: %q", text)
	}
	like(t, b.call("terminal_stop", args{"terminal": "job"}), `^\[job exited 130 `)
}

func TestAClientThatComesBackReadsOn(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	server := mcp.New(mcp.Options{Version: "test"})
	alice := hosttest.Principal("alice", authz.Admin)
	a := connectTo(t, server, h, alice, "claude-code", nil)
	a.call("terminal_run", args{"name": "c", "command": "stty -echo -icanon; echo first; while read x; do echo got $x; done", "background": true})
	a.leave()
	b := connectTo(t, server, h, alice, "claude-code", nil)
	like(t, b.call("terminal_send", args{"terminal": "c", "text": "on"}), `^\[c .* · 1 line · cursor \d+\]\ngot on\n`)
}

func TestACallEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	near, far := net.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- mcp.New(mcp.Options{Version: "test"}).Serve(t.Context(),
			mcp.Peer{Host: h, Principal: hosttest.Principal("alice", authz.Admin)},
			&sdk.IOTransport{Reader: far, Writer: far})
	}()
	client := sdk.NewClient(&sdk.Implementation{Name: "claude-code"}, nil)
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: near, Writer: near}, nil)
	hosttest.Check(t, err)
	a := &agent{t: t, session: session}
	const calls = 20
	for i := range calls {
		go func() {
			_, _ = a.callWith(t.Context(), "terminal_run",
				args{"name": fmt.Sprint("c", i), "command": "sleep 1000", "wait_s": 200})
		}()
	}
	hosttest.Eventually(t, "they wait", func() bool { return h.Stats().Terminals == calls })
	near.Close() // without a word: the client's own Close waits for answers
	_ = slowtest.Receive(t, "the session's end", ended)
	if n := h.Stats().Connections["mcp"]; n != 0 {
		t.Errorf("there are %d connections", n)
	}
}

func TestProgramsStartInTheFolderOfTheSession(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	dir := t.TempDir()
	hosttest.Check(t, os.Mkdir(dir+"/below", 0o700))
	server := mcp.New(mcp.Options{Version: "test"})
	a := connectPeer(t, server, mcp.Peer{Host: h, Principal: hosttest.Principal("alice", authz.Admin), Dir: dir}, "claude-code", nil, nil)
	for cwd, want := range map[string]string{"": dir, "below": dir + "/below", "/": "/"} {
		like(t, a.call("terminal_run", args{"command": "pwd", "cwd": cwd}), `\]\n`+regexp.QuoteMeta(want)+`\n$`)
	}
}
