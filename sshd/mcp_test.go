package sshd

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// lineChannel is a peer that speaks JSON-RPC in lines on an SSH session.
type lineChannel struct {
	in  io.Writer
	out *bufio.Reader
}

// openLines starts a subsystem that speaks JSON-RPC in lines.
func openLines(s *gossh.Session, subsystem string) (*lineChannel, error) {
	in, err := s.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &lineChannel{in, bufio.NewReader(out)}, s.RequestSubsystem(subsystem)
}

const mcpHello = `{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-code","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// hello initialises an MCP session.
func (l *lineChannel) hello() error {
	if _, err := io.WriteString(l.in, mcpHello); err != nil {
		return err
	}
	_, err := l.out.ReadBytes('\n')
	return err
}

// send sends a call of a tool; arguments is JSON.
func (l *lineChannel) send(id int, tool, arguments string) error {
	_, err := fmt.Fprintf(l.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, tool, arguments)
	return err
}

// answer returns the text of the next result.
func (l *lineChannel) answer() (string, error) {
	line, err := l.out.ReadBytes('\n')
	if err != nil {
		return "", err
	}
	var a struct {
		Result struct{ Content []struct{ Text string } }
		Error  struct{ Message string }
	}
	if err := json.Unmarshal(line, &a); err != nil || len(a.Result.Content) != 1 {
		return a.Error.Message, errors.Join(err, fmt.Errorf("no result: %s", line))
	}
	return a.Result.Content[0].Text, nil
}

func (l *lineChannel) call(id int, tool, arguments string) (string, error) {
	if err := l.send(id, tool, arguments); err != nil {
		return "", err
	}
	return l.answer()
}

// beMCPClient makes an MCP session on which something has been called.
func beMCPClient(s *gossh.Session, out io.Reader) error {
	in, err := s.StdinPipe()
	if err != nil {
		return err
	}
	if err := s.Start("mcp"); err != nil {
		return err
	}
	l := &lineChannel{in, bufio.NewReader(out)}
	if err := l.hello(); err != nil {
		return err
	}
	_, err = l.call(1, "terminal_list", "{}")
	return err
}

// mcp opens an MCP session on a connection.
func (r *rig) mcp(c *gossh.Client) *lineChannel {
	r.t.Helper()
	s, err := c.NewSession()
	hosttest.Check(r.t, err)
	r.t.Cleanup(func() { s.Close() })
	l, err := openLines(s, "mcp")
	hosttest.Check(r.t, err)
	hosttest.Check(r.t, l.hello())
	return l
}

func (r *rig) mcpCall(l *lineChannel, id int, tool, arguments string) string {
	r.t.Helper()
	text, err := l.call(id, tool, arguments)
	hosttest.Check(r.t, err)
	return text
}

func TestAnMCPSessionEndsWithItsKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": asOperator}})
	l := r.mcp(r.dial("bob"))
	r.mcpCall(l, 1, "terminal_run", `{"name":"w","command":"exec sleep 1000","background":true}`)
	hosttest.Check(t, l.send(2, "terminal_read", `{"terminal":"w","wait_s":45,"until":"never"}`))
	r.removeKey("bob")
	ended := make(chan string, 1)
	go func() { // the wait is told, or cut off
		text, err := l.answer()
		for err == nil {
			_, err = l.answer()
		}
		ended <- text
	}()
	slowtest.Receive(t, "the session ends", ended)
	if got := r.ssh("alice", "", "ls"); !strings.Contains(got.stdout, "w ") { // what runs goes on
		t.Errorf("ls: %+v", got)
	}
	if _, err := r.tryDial("bob"); err == nil {
		t.Error("a key that is gone connects")
	}
}

// A kick ends what an MCP client waits for, and nothing else of it.
func TestAnMCPClientThatDoesNotWaitIsNoViewer(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": asOperator}})
	l := r.mcp(r.dial("bob"))
	r.mcpCall(l, 1, "terminal_run", `{"name":"w","command":"read x; echo got $x"}`)
	for _, who := range []string{"bob", "bob/claude-code"} {
		if got := r.ssh("alice", "", "kick w "+who); got.status != 1 || !strings.Contains(got.stderr, "watches w") {
			t.Errorf("kick: %+v", got)
		}
	}
	r.mcpCall(l, 2, "terminal_send", `{"terminal":"w","text":"it"}`)
	r.shows("w", "got it") // its answer may come before the program's
}

func TestWhoMayOnlyLookSpeaksMCPAsAnObserver(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "olga": asObserver, "forced": `command="ls"`}})
	r.ssh("alice", "", "new -d -n w -- echo visible; exec sleep 1000")
	r.shows("w", "visible")
	l := r.mcp(r.dial("olga"))
	if text := r.mcpCall(l, 1, "terminal_read", `{"terminal":"w"}`); !strings.Contains(text, "visible") {
		t.Errorf("%q", text)
	}
	for i, tool := range []string{"terminal_send", "terminal_stop", "terminal_run", "terminal_open"} {
		text, err := l.call(10+i, tool, `{"terminal":"w","text":"x","command":"x"}`)
		if err != nil || !strings.HasPrefix(text, "error: ") {
			t.Errorf("%s: %q, %v", tool, text, err)
		}
	}
	s, err := r.dial("forced").NewSession()
	hosttest.Check(t, err)
	if out, _ := s.Output("mcp"); strings.Contains(string(out), "jsonrpc") {
		t.Errorf("a forced command speaks MCP: %s", out)
	}
}

// Bad lines and long ones, over a real channel.
func TestBadLinesOverSSHEndNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": asOperator}})
	l := r.mcp(r.dial("alice"))
	for _, line := range []string{"hello", "[]", strings.Repeat("[", 20_000), strings.Repeat("x", 17<<20)} {
		if _, err := io.WriteString(l.in, line+"\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := l.out.ReadString('\n')
		if err != nil || !strings.Contains(answer, `"id":null`) || !strings.Contains(answer, `"code":-32`) {
			t.Errorf("%.40q is answered by %q, %v", line, answer, err)
		}
	}
	if text := r.mcpCall(l, 1, "terminal_run", `{"command":"exit 3"}`); !strings.Contains(text, " exited 3 ") {
		t.Errorf("%q", text)
	}
}
