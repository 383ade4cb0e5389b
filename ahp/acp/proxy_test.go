package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/host"
	"termhost/ahp/rpc"
)

// stage is a proxy between an editor and an agent that the test plays, with a
// host behind it.
type stage struct {
	t             testing.TB
	proxy         *Proxy
	editor, agent *side
	host          *host.Host
	client        *client.Client
	ended         chan error

	mu    sync.Mutex
	notes []string
	cut   func()        // loses the connection to the host
	block chan struct{} // not nil: connections wait for its close
}

// side is a peer that a test plays.
type side struct {
	t   testing.TB
	out *io.PipeWriter // to the proxy
	in  *bufio.Reader  // from the proxy
}

func (s *side) sends(line string) {
	s.t.Helper()
	_, err := io.WriteString(s.out, line)
	check(s.t, err)
}

// line returns the next line, which must come.
func (s *side) line() string {
	s.t.Helper()
	got := make(chan string, 1)
	go func() {
		line, err := s.in.ReadString('\n')
		if err != nil {
			line += "<" + err.Error() + ">"
		}
		got <- line
	}()
	select {
	case line := <-got:
		return line
	case <-time.After(patience):
		s.t.Fatal("nothing comes")
		return ""
	}
}

// gets expects a line, byte for byte.
func (s *side) gets(want string) {
	s.t.Helper()
	if got := s.line(); got != want {
		s.t.Fatalf("got  %q\nwant %q", got, want)
	}
}

// reply is any message, decoded.
type reply struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *ahp.Error
}

func (s *side) message() (r reply) {
	s.t.Helper()
	line := s.line()
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		s.t.Fatalf("%v: %q", err, line)
	}
	return r
}

// asks sends a request and returns the answer, which is the next message.
func (s *side) asks(id int, method string, p params) reply {
	s.t.Helper()
	s.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, encode(p)))
	r := s.message()
	if string(r.ID) != fmt.Sprint(id) {
		s.t.Fatalf("the answer to %d is %+v", id, r)
	}
	return r
}

func newStage(t testing.TB) *stage {
	st := &stage{t: t, host: newHost(t), ended: make(chan error, 1)}
	editorIn, fromEditor := io.Pipe()
	toEditor, editorOut := io.Pipe()
	agentIn, fromAgent := io.Pipe()
	toAgent, agentOut := io.Pipe()
	st.editor = &side{t, fromEditor, bufio.NewReader(toEditor)}
	st.agent = &side{t, fromAgent, bufio.NewReader(toAgent)}
	st.proxy = NewProxy(ProxyConfig{
		Editor: Stream{editorIn, editorOut}, Agent: Stream{agentIn, agentOut}, AgentName: "an agent", Dir: "/",
		Attach: func(name string) []string { return []string{"show", name} },
		Note: func(s string) {
			st.mu.Lock()
			defer st.mu.Unlock()
			st.notes = append(st.notes, s)
		},
	})
	c, err := client.Connect(t.Context(), client.Config{Dial: client.Lines(st.dial), OnState: st.proxy.HostState, MinBackoff: 1, MaxBackoff: 1})
	check(t, err)
	st.client = c
	go func() { st.ended <- st.proxy.Run(c) }()
	t.Cleanup(func() {
		go io.Copy(io.Discard, toEditor)
		go io.Copy(io.Discard, toAgent)
		fromEditor.Close()
		fromAgent.Close()
		<-st.ended
		<-st.proxy.EditorGone()
		editorOut.Close()
		agentOut.Close()
		c.Close()
	})
	return st
}

// dial connects to the host through a pipe in memory.
func (st *stage) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	st.mu.Lock()
	block := st.block
	st.mu.Unlock()
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return nil, errors.New("the way is blocked")
		}
	}
	ours, theirs := net.Pipe()
	conn, err := st.host.Connect(alice, host.DoorSubsystem)
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer conn.Close()
		lines := rpc.NewLines(theirs, theirs, 1<<20, func(string) error { return theirs.Close() })
		_ = rpc.Serve(lines, conn, rpc.Options{Extend: func(c *host.Conn) rpc.Extension { return New(st.host, c, nil) }})
	}()
	st.mu.Lock()
	defer st.mu.Unlock()
	st.cut = func() { ours.Close(); theirs.Close(); <-done }
	return ours, nil
}

// lose cuts the connection to the host.
func (st *stage) lose() {
	st.mu.Lock()
	cut := st.cut
	st.mu.Unlock()
	cut()
}

// handshake initializes the agent for an editor with or without terminals.
func (st *stage) handshake(terminals bool) {
	st.t.Helper()
	st.editor.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"terminal":%t}}}`+"\n", terminals))
	st.agent.gets(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"terminal":true}}}` + "\n")
	const answer = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"tester","version":"1"}}}` + "\n"
	st.agent.sends(answer)
	st.editor.gets(answer)
}

// creates starts a command for the agent, in session "s".
func (st *stage) creates(p params) createResult {
	st.t.Helper()
	p["sessionId"] = "s"
	r := st.agent.asks(7, methodCreate, p)
	if r.Error != nil {
		st.t.Fatal(r.Error)
	}
	var c createResult
	check(st.t, json.Unmarshal(r.Result, &c))
	return c
}

// embed returns a session/update that shows a terminal between other things.
func embed(kind, call, id string) string {
	return fmt.Sprintf(`{"jsonrpc": "2.0", "method":"session/update","params":{"x":[1],"sessionId":"s","update":{"sessionUpdate":%q,"toolCallId":%q,"title":"t","content":[{"type":"content","content":{"type":"text","text":"a"}},{"type":"terminal","terminalId":%q,"_meta":{"k":1}},{"type":"terminal","terminalId":"not ours"}],"z":null}}}`+"\n",
		kind, call, id)
}

func TestEverythingElsePassesUnchanged(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	messages := []string{
		`{"jsonrpc":"2.0","id":"a b","method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"\u00e9\/\ud83d\ude00 <&>"}]}}` + "\n",
		`{"jsonrpc":"2.0","id":18446744073709551616.50,"result":null}` + "\n",
		`{"id":null,"error":{"code":-32700,"message":"x"},"jsonrpc":"2.0"}` + "\r\n",
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"nobody's"}}` + "\n",
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}` + "\n",
		`{"jsonrpc":"2.0","id":5,"method":"_vendor/unknown"}` + "\n",
		`{"jsonrpc":"2.0","method":"terminal/create"}` + "\n", // no request
		`[{"jsonrpc":"2.0","id":1,"method":"terminal/create"}]` + "\n",
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","content":[{"type":"terminal","terminalId":"unknown"}]}}}` + "\n",
		`{"method":"session/update","params":[]}` + "\n",
		`{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","content":{}}}}` + "\n",
		"\n", "   {}\n", "this is not JSON\n", `{"a":` + "\n", `{"a":"` + "\n", "\xff\xfe\n", "{} {}\n",
		`{"jsonrpc":"2.0","method":"x","params":"` + strings.Repeat("large ", 10<<20/6) + `"}` + "\n",
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
	for in, want := range map[string]string{
		`{}`:                             `{"clientCapabilities":{"terminal":true}}`,
		`{ "protocolVersion" : 1 } `:     `{"clientCapabilities":{"terminal":true}, "protocolVersion" : 1 } `,
		`{"clientCapabilities":null}`:    `{"clientCapabilities":{"terminal":true}}`,
		`{"clientCapabilities":{}}`:      `{"clientCapabilities":{"terminal":true}}`,
		`{"clientCapabilities":{"a":1}}`: `{"clientCapabilities":{"terminal":true,"a":1}}`,
		`{"clientCapabilities":{"terminal":false,"fs":{"terminal":false}},"clientInfo":{"name":"e"}}`: `{"clientCapabilities":{"terminal":true,"fs":{"terminal":false}},"clientInfo":{"name":"e"}}`,
		`{"clientCapabilities": {"terminal" : true}}`:                                                 `{"clientCapabilities": {"terminal" : true}}`,
		`{"_meta":{"clientCapabilities":{"terminal":1}}}`:                                             `{"clientCapabilities":{"terminal":true},"_meta":{"clientCapabilities":{"terminal":1}}}`,
		`[1]`: `[1]`,
	} {
		p := NewProxy(ProxyConfig{})
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

func TestALaterVersionIsNotTouched(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.editor.sends(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2}}` + "\n")
	st.agent.line()
	const answer = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2}}` + "\n"
	st.agent.sends(answer)
	st.editor.gets(answer)
	const create = `{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"sessionId":"s","command":"true"}}` + "\n"
	st.agent.sends(create)
	st.editor.gets(create)
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.notes) != 1 || !strings.Contains(st.notes[0], "version 2") {
		t.Fatalf("the notes are %q", st.notes)
	}
}

func TestASessionsDirectoryIsTheCommands(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	dir := t.TempDir()
	st.editor.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+"\n", dir))
	st.agent.line()
	st.agent.sends(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}` + "\n")
	st.editor.line()
	for cwd, want := range map[string]string{"": dir, "/usr": "/usr"} {
		p := params{"command": "pwd"}
		if cwd != "" {
			p["cwd"] = cwd
		}
		c := st.creates(p)
		st.agent.asks(8, methodWait, of(c.TerminalID))
		out := string(st.agent.asks(9, methodOutput, of(c.TerminalID)).Result)
		if !strings.Contains(out, `"`+want+`\r\n"`) {
			t.Errorf("cwd %q: %s", cwd, out)
		}
	}
	list, err := st.host.List(alice)
	check(t, err)
	if list[0].Title != "pwd (tester)" {
		t.Errorf("the title is %q", list[0].Title)
	}
}

func TestAnEditorsTerminalShowsTheHosts(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(true)
	c := st.creates(params{"command": "cat"})
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	q := st.editor.message()
	if q.Method != methodCreate || string(q.Params) != `{"sessionId":"s","command":"show","args":["cat-1"]}` {
		t.Fatalf("the editor is asked %s %s", q.Method, q.Params)
	}
	st.editor.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"terminalId":"E\"1"}}`+"\n", q.ID))
	st.editor.gets(strings.Replace(embed("tool_call", "c1", "@"), `"@"`, `"E\"1"`, 1))
	// Again, the same one, in another place.
	permission := `{"jsonrpc":"2.0","id":99,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c1","content":[{"terminalId":"%s","type":"terminal"}]},"options":[]}}` + "\n"
	st.agent.sends(fmt.Sprintf(permission, c.TerminalID))
	st.editor.gets(fmt.Sprintf(permission, `E\"1`))
	// With its release the editor's own one goes, once it has drawn everything.
	if r := st.agent.asks(10, methodRelease, of(c.TerminalID)); r.Error != nil {
		t.Fatal(r.Error)
	}
	q = st.editor.message()
	if q.Method != methodWait || string(q.Params) != `{"sessionId":"s","terminalId":"E\"1"}` {
		t.Fatalf("the editor is asked %s %s", q.Method, q.Params)
	}
	st.editor.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"exitCode":0}}`+"\n", q.ID))
	if q = st.editor.message(); q.Method != methodRelease {
		t.Fatalf("the editor is asked %s", q.Method)
	}
	st.editor.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", q.ID))
	// What still names it names the editor's.
	st.agent.sends(fmt.Sprintf(permission, c.TerminalID))
	st.editor.gets(fmt.Sprintf(permission, `E\"1`))
}

// update is a tool call's content as an editor sees it.
type updateSeen struct {
	Update struct {
		Kind    string `json:"sessionUpdate"`
		Call    string `json:"toolCallId"`
		Content []struct {
			Type       string
			TerminalID string `json:"terminalId"`
			Content    struct{ Text string }
		}
	}
}

// sees reads updates until one shows text in its second part.
func (s *side) sees(text string) updateSeen {
	s.t.Helper()
	for {
		m := s.message()
		var u updateSeen
		check(s.t, json.Unmarshal(m.Params, &u))
		c := u.Update.Content
		if m.Method != methodUpdate || len(c) != 3 || c[0].Content.Text != "a" || c[2].TerminalID != "not ours" || c[1].Type != "content" {
			s.t.Fatalf("got %s %s", m.Method, m.Params)
		}
		if c[1].Content.Text == text {
			return u
		}
		if !strings.HasPrefix(c[1].Content.Text, "```") {
			s.t.Fatalf("shows %q", c[1].Content.Text)
		}
	}
}

func TestAnEditorWithoutTerminalsSeesTextThatIsRenewedAndStays(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(params{"command": "sh", "args": []string{"-c", `stty -echo; printf '\033[31mone\033[m\r\nprogress 1%%'; read x; printf '\rprogress 100%%\n'; sleep 300`}})
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.editor.sees("```\none\nprogress 1%\n```")
	term, err := st.host.Find(alice, c.Meta.Termhost.Name)
	check(t, err)
	person, err := st.host.Connect(alice, host.DoorSSH)
	check(t, err)
	defer person.Close()
	check(t, person.Send(term, []byte("\r")))
	u := st.editor.sees("```\none\nprogress 100%\n```")
	if u.Update.Kind != "tool_call_update" || u.Update.Call != "c1" {
		t.Fatalf("got %+v", u)
	}
	if r := st.agent.asks(8, methodRelease, of(c.TerminalID)); r.Error != nil {
		t.Fatal(r.Error)
	}
	// Content of the agent's own takes the place of it.
	const own = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","content":[]}}}` + "\n"
	st.agent.sends(own)
	st.editor.gets(own)
	st.agent.sends(embed("tool_call_update", "c1", c.TerminalID))
	st.editor.sees("```\none\nprogress 100%\n```")
}

func TestAnEditorThatCannotShowATerminalGetsText(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(true)
	c := st.creates(params{"command": "echo", "args": []string{"x"}})
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	q := st.editor.message()
	st.editor.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no room"}}`+"\n", q.ID))
	st.editor.sees("```\nx\n```")
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.notes) != 1 || !strings.Contains(st.notes[0], "no room") {
		t.Fatalf("the notes are %q", st.notes)
	}
}

func TestAWaitCanBeCancelled(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	c := st.creates(params{"command": "cat"})
	st.agent.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":"w","method":"terminal/wait_for_exit","params":%s}`+"\n", encode(of(c.TerminalID))))
	st.agent.sends(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"w"}}` + "\n")
	if r := st.agent.message(); string(r.ID) != `"w"` || r.Error == nil || r.Error.Code != codeCancelled {
		t.Fatalf("got %+v", r)
	}
}

func TestALostHostIsToldOfAndComesBack(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(params{"command": "cat"})
	st.agent.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"terminal/wait_for_exit","params":%s}`+"\n", encode(of(c.TerminalID))))
	block := make(chan struct{})
	st.mu.Lock()
	st.block = block
	st.mu.Unlock()
	st.lose()
	lost := func(r reply) {
		t.Helper()
		if r.Error == nil || r.Error.Code != ahp.CodeInternal || !strings.Contains(r.Error.Message, "has ended with the connection to the host") {
			t.Fatalf("got %+v %v", r, r.Error)
		}
	}
	lost(st.agent.message())
	for i, method := range []string{methodOutput, methodWait, methodKill, methodRelease} {
		lost(st.agent.asks(10+i, method, of(c.TerminalID)))
	}
	// A new command waits for the host to come back.
	st.agent.sends(`{"jsonrpc":"2.0","id":20,"method":"terminal/create","params":{"sessionId":"s","command":"true"}}` + "\n")
	close(block)
	if r := st.agent.message(); string(r.ID) != "20" || r.Error != nil {
		t.Fatalf("got %+v %v", r, r.Error)
	}
	lost(st.agent.asks(21, methodOutput, of(c.TerminalID)))
}

func TestTheAgentsEndIsTheEndOfItsCommands(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	c := st.creates(params{"command": "sh", "args": []string{"-c", "echo $$; echo ready; sleep 300"}})
	var pid int
	for pid == 0 {
		var out outputResult
		check(t, json.Unmarshal(st.agent.asks(8, methodOutput, of(c.TerminalID)).Result, &out))
		if strings.Contains(out.Output, "ready") {
			_, err := fmt.Sscan(out.Output, &pid)
			check(t, err)
		}
	}
	st.agent.out.Close()
	check(t, <-st.ended)
	st.ended <- nil
	st.client.Close()
	dies(t, pid)
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
	c := st.creates(params{"command": "seq", "args": []string{"1", "100000"}})
	const n = 50
	for i := range n { // answers of half a megabyte each, which nobody takes
		st.agent.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"terminal/output","params":%s}`+"\n", i, encode(of(c.TerminalID))))
	}
	const note = `{"jsonrpc":"2.0","method":"session/update","params":{}}` + "\n"
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

func TestJSONIsFoundInItsText(t *testing.T) {
	t.Parallel()
	raw := []byte(`  { "a" : [1, {"b":"]}\\\""}, "x\"y"] ,"c\u0064":{"e":{}}, "f":-1.5e3,"a":true } `)
	m, ok := object(raw, 0)
	if !ok || string(m["a"].of(raw)) != "true" || string(m["cd"].of(raw)) != `{"e":{}}` || string(m["f"].of(raw)) != "-1.5e3" {
		t.Fatalf("got %v %t", m, ok)
	}
	list, ok := array([]byte(`[ 1 , [2,"]"] ,{"a":"}"}]`), 0)
	if !ok || len(list) != 3 {
		t.Fatalf("got %v %t", list, ok)
	}
	for _, bad := range []string{``, `{`, `{"a"`, `{"a":`, `{"a":}`, `{"a":1`, `{"a":"`, `{"a":[`, `{1:2}`, `[1`, `nul`} {
		if _, ok := object([]byte(bad), 0); ok {
			t.Errorf("%q is an object", bad)
		}
		if _, ok := array([]byte(bad), 0); ok {
			t.Errorf("%q is an array", bad)
		}
	}
}

// FuzzObject finds the same members as encoding/json in what that accepts.
func FuzzObject(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"]}\\\""}],"c":{}}`))
	f.Add([]byte(`{"a" : 1 , "a":2}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := object(raw, 0)
		if !json.Valid(raw) {
			return // whatever it finds, it does not panic
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(raw, &want) != nil || want == nil {
			if ok {
				t.Fatalf("%q is no object", raw)
			}
			return
		}
		if !ok || len(got) != len(want) {
			t.Fatalf("%q: %v, want %v", raw, got, want)
		}
		for k, v := range want {
			if !bytes.Equal(got[k].of(raw), v) {
				t.Fatalf("%q: %q is %q, want %q", raw, k, got[k].of(raw), v)
			}
		}
	})
}
