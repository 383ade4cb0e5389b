package acpproxy

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/hosttest"
)

// showsUnknown is an update that shows a terminal which is not the host's.
const showsUnknown = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s",` +
	`"update":{"sessionUpdate":"tool_call","toolCallId":"c",` +
	`"content":[{"type":"terminal","terminalId":"unknown"}]}}}` + "\n"

func TestEverythingElsePassesUnchanged(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	messages := []string{
		`{"jsonrpc":"2.0","id":"a b","method":"session/prompt","params":{"sessionId":"s",` +
			`"prompt":[{"type":"text","text":"\u00e9\/\ud83d\ude00 <&>"}]}}` + "\n",
		`{"jsonrpc":"2.0","id":18446744073709551616.50,"result":null}` + "\n",
		`{"id":null,"error":{"code":-32700,"message":"x"},"jsonrpc":"2.0"}` + "\r\n",
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"nobody's"}}` + "\n",
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}` + "\n",
		`{"jsonrpc":"2.0","id":5,"method":"_vendor/unknown"}` + "\n",
		`[{"jsonrpc":"2.0","id":1,"method":"terminal/create"}]` + "\n",
		showsUnknown,
		`{"method":"session/update","params":[]}` + "\n",
		`{"method":"session/update",` +
			`"params":{"update":{"sessionUpdate":"tool_call","content":{}}}}` + "\n",
		"\n", "   {}\n", "this is not JSON\n", `{"a":` + "\n", `{"a":"` + "\n", "{} {}\n",
		"\xff\xfe\n", "{\"a\xff\":\"\xfe\"}\n",
		`{"jsonrpc":"2.0","method":"x",` +
			`"params":"` + strings.Repeat("large ", 10<<20/6) + `"}` + "\n",
	}
	both := func(from, to *side) {
		go func() {
			for _, m := range messages {
				_, _ = io.WriteString(from.out, m)
			}
		}()
		for _, m := range messages {
			if got := to.line(); got != m {
				t.Fatalf("got  %.200q\nwant %.200q", got, m)
			}
		}
	}
	both(st.editor, st.agent)
	both(st.agent, st.editor)
}

func TestTheLastLineNeedsNoEnd(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.agent.sends(`{"last":1}`)
	st.agent.out.Close()
	got := make([]byte, 10)
	_, err := io.ReadFull(st.editor.in, got)
	check(t, err)
	if string(got) != `{"last":1}` {
		t.Fatalf("got %q", got)
	}
	if err := <-st.ended; err != nil {
		t.Fatal(err)
	}
	st.ended <- nil
}

func TestTheAgentIsToldOfTerminals(t *testing.T) {
	t.Parallel()
	for _, params := range []struct{ in, want string }{
		{`{}`, `{"clientCapabilities":{"terminal":true}}`},
		{`{ "protocolVersion" : 1 } `,
			`{"clientCapabilities":{"terminal":true}, "protocolVersion" : 1 } `},
		{`{"clientCapabilities":null}`, `{"clientCapabilities":{"terminal":true}}`},
		{`{"clientCapabilities":{}}`, `{"clientCapabilities":{"terminal":true}}`},
		{`{"clientCapabilities":{"a":1}}`, `{"clientCapabilities":{"terminal":true,"a":1}}`},
		{`{"clientCapabilities": {"terminal" : true}}`,
			`{"clientCapabilities": {"terminal" : true}}`},
		{`{"clientCapabilities":{"terminal":false,"fs":{"terminal":false}},"x":{"a":1}}`,
			`{"clientCapabilities":{"terminal":true,"fs":{"terminal":false}},"x":{"a":1}}`},
		{`{"clientCapabilities":{"a":1},"clientCapabilities":{"terminal":false}}`,
			`{"clientCapabilities":{"a":1},"clientCapabilities":{"terminal":true}}`},
		{`{"_meta":{"clientCapabilities":{"terminal":1}}}`, `{"clientCapabilities":` +
			`{"terminal":true},"_meta":{"clientCapabilities":{"terminal":1}}}`},
		{`[1]`, `[1]`},
	} {
		in, want := params.in, params.want
		p := New(Config{})
		head := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`
		if got := string(p.fromEditor([]byte(head + in + "}\n"))); got != head+want+"}\n" {
			t.Errorf("%s becomes %s", in, got)
		}
		wantOwn := strings.Contains(in, `"terminal" : true`)
		if p.editorTerminals != wantOwn {
			t.Errorf("%s: the editor has terminals: %t", in, p.editorTerminals)
		}
	}
}

// newest is an editor's initialize that offers version 2 of ACP; %s are more params.
const newest = `{"jsonrpc": "2.0", "id":0,"method":"initialize",` +
	`"params":{"protocolVersion":2,"capabilities":{}%s}}` + "\n"

func TestALaterVersionIsNotTouched(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	first := fmt.Sprintf(newest, "")
	st.editor.sends(first)
	st.agent.gets(first)
	for _, m := range []string{
		`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2}}` + "\n",
		requestLine("1", wire.MethodCreate, command("true")),
		showsUnknown,
		"no JSON\n",
	} {
		st.agent.sends(m)
		st.editor.gets(m)
		st.editor.sends(m)
		st.agent.gets(m)
	}
	st.editor.sends(first)
	st.agent.gets(first)
	st.saidOnce("version 2")
}

// TestADraftsVersionIsNotTouched is about versions that are no numbers, as drafts may have them.
func TestADraftsVersionIsNotTouched(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	first := strings.Replace(fmt.Sprintf(newest, ""), ":2", `:"2-draft"`, 1)
	st.editor.sends(first)
	st.agent.gets(first)
	for _, m := range []string{
		`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2-draft","agentInfo":[]}}` + "\n",
		requestLine("1", wire.MethodCreate, command("true")),
		embed("tool_call", "c", "t"),
	} {
		st.agent.sends(m)
		st.editor.gets(m)
		st.editor.sends(m)
		st.agent.gets(m)
	}
	st.saidOnce(`version "2-draft"`)
	// The editor does not know that version either, and begins anew with an earlier one.
	st.handshake(false)
	st.creates(command("true"))
}

// TestADirectoryIsKnownThoughTheVersionIsNot: an editor need not wait for the answer to initialize
// before it begins a session.
func TestADirectoryIsKnownThoughTheVersionIsNot(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	first := fmt.Sprintf(newest, `,"clientCapabilities":{"terminal":true}`) +
		requestLine("1", "session/new", params{"cwd": "/usr", "mcpServers": []any{}})
	go st.editor.pours(first)
	st.agent.gets(first[:strings.IndexByte(first, '\n')+1])
	st.agent.line()
	answers := `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}` + "\n" +
		responseLine(json.RawMessage("1"), `{"sessionId":"s"}`)
	go st.agent.pours(answers)
	st.editor.line()
	st.editor.line()
	c := st.creates(command("pwd"))
	st.agent.asks(8, wire.MethodWait, of(c.TerminalID))
	r := st.agent.asks(9, wire.MethodOutput, of(c.TerminalID))
	if !strings.Contains(string(r.Result), `/usr\r\n`) {
		t.Errorf("it prints %s", r.Result)
	}
}

func TestWhatAnEditorOffersIsNotChangedUntilTheAgentAnswers(t *testing.T) {
	t.Parallel()
	create := requestLine("1", wire.MethodCreate, command("true"))
	const answer = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}` + "\n"
	// Without terminals of the editor's the agent knows of none.
	st := newStage(t)
	first := fmt.Sprintf(newest, "")
	st.editor.sends(first)
	st.agent.gets(first)
	st.agent.sends(create + answer + create)
	st.editor.gets(create)
	st.editor.gets(answer)
	st.editor.gets(create)
	st.saidOnce("without client terminals")
	// With them it asks for terminals, and gets the host's.
	st = newStage(t)
	first = fmt.Sprintf(newest, `,"clientCapabilities":{"terminal":true}`)
	st.editor.sends(first)
	st.agent.gets(first)
	st.agent.sends(answer)
	st.editor.gets(answer)
	st.agent.sends(create)
	if r := st.agent.message(); string(r.ID) != "1" || r.Result == nil {
		t.Fatalf("got %+v", r)
	}
	// An editor may begin anew after a refusal.
	st = newStage(t)
	first = fmt.Sprintf(newest, "")
	st.editor.sends(first)
	st.agent.gets(first)
	const refusal = `{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"too new"}}` + "\n"
	st.agent.sends(refusal)
	st.editor.gets(refusal)
	st.handshake(false)
	st.creates(command("true"))
}

func TestTerminalNotificationsAreTheHostsAndGetNoAnswer(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(command("cat"))
	st.agent.sends(notificationLine(wire.MethodCreate, command("true")))
	st.agent.sends(notificationLine(wire.MethodRelease, of(c.TerminalID)))
	r := st.agent.asks(8, wire.MethodOutput, of(c.TerminalID))
	r.refused(t, wire.CodeNoSuchTerminal, "released")
	st.agent.sends(sentinel)
	st.editor.gets(sentinel) // and nothing of the others
}

func TestASessionsDirectoryIsTheCommands(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	dir := t.TempDir()
	st.editor.sends(requestLine("1", "session/new", params{"cwd": dir, "mcpServers": []string{}}))
	st.agent.line()
	st.agent.sends(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}` + "\n")
	st.editor.line()
	for cwd, want := range map[string]string{"": dir, "/usr": "/usr"} {
		p := command("pwd")
		if cwd != "" {
			p["cwd"] = cwd
		}
		c := st.creates(p)
		st.agent.asks(8, wire.MethodWait, of(c.TerminalID))
		out := string(st.agent.asks(9, wire.MethodOutput, of(c.TerminalID)).Result)
		if !strings.Contains(out, `"`+want+`\r\n"`) {
			t.Errorf("cwd %q: %s", cwd, out)
		}
	}
	list, err := hosttest.List(st.host, alice)
	check(t, err)
	if list[0].Title != "pwd (tester)" {
		t.Errorf("the title is %q", list[0].Title)
	}
}

func TestAWaitCanBeCancelled(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	c := st.creates(command("cat"))
	st.agent.sends(requestLine(`"w"`, wire.MethodWait, of(c.TerminalID)))
	st.agent.sends(notificationLine(methodCancel, params{"requestId": "w"}))
	r := st.agent.message()
	r.refused(t, wire.CodeCancelled, "cancelled")
	if string(r.ID) != `"w"` {
		t.Fatalf("the answer is to %s", r.ID)
	}
}

func TestAHostThatStaysAwayIsToldOfAndComesBack(t *testing.T) {
	t.Parallel()
	st := newStage(t, func(p *Proxy) { p.cfg.Away = time.Millisecond })
	st.handshake(false)
	c := st.creates(command("cat"))
	st.agent.sends(requestLine("3", wire.MethodWait, of(c.TerminalID)))
	block := make(chan struct{})
	st.mu.Lock()
	st.block = block
	st.mu.Unlock()
	st.lose()
	lost := func(r reply) {
		t.Helper()
		r.refused(t, ahp.CodeInternal, "has ended with the connection to the host")
	}
	lost(st.agent.message())
	for i, method := range otherMethods {
		lost(st.agent.asks(10+i, method, of(c.TerminalID)))
	}
	// A new command waits for the host to come back.
	st.agent.sends(requestLine("20", wire.MethodCreate, command("true")))
	close(block)
	if r := st.agent.message(); string(r.ID) != "20" || r.Error != nil {
		t.Fatalf("got %+v %v", r, r.Error)
	}
	lost(st.agent.asks(21, wire.MethodOutput, of(c.TerminalID)))
}

func TestTheAgentsEndIsTheEndOfItsCommands(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.creates(command("sleep", "300"))
	term := st.only()
	st.agent.out.Close()
	check(t, <-st.ended)
	st.ended <- nil
	st.client.Close()
	ends(t, term)
}

func TestTheEditorsEndIsTheAgentsEndOfInput(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.editor.out.Close()
	if rest, err := io.ReadAll(st.agent.in); err != nil || len(rest) > 0 {
		t.Fatalf("the agent gets %q, %v", rest, err)
	}
	<-st.proxy.EditorGone()
	// What it still has to say is heard.
	st.agent.sends("bye\n")
	st.editor.gets("bye\n")
}

func TestAnAgentThatDoesNotReadIsStillRead(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	c := st.creates(command("seq", "1", "100000"))
	const n = 50
	for i := range n { // answers of half a megabyte each, which nobody takes
		st.agent.sends(requestLine(fmt.Sprint(i), wire.MethodOutput, of(c.TerminalID)))
	}
	note := notificationLine(methodUpdate, params{})
	st.agent.sends(note)
	st.editor.gets(note)
	seen := map[string]bool{}
	for range n {
		r := st.agent.message()
		seen[string(r.ID)] = r.Result != nil
	}
	if len(seen) != n {
		t.Fatalf("%d answers, want %d", len(seen), n)
	}
}
