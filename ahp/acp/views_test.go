package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"termhost/ahp/host"
)

// permission is a request that shows a terminal in tool call c1.
const permission = `{"jsonrpc":"2.0","id":99,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c1","content":[{"terminalId":"%s","type":"terminal"}]},"options":[]}}` + "\n"

// released checks that q asks the editor to release a terminal of its own, and answers.
func (st *stage) released(q reply, terminal string) {
	st.t.Helper()
	if want := fmt.Sprintf(`{"sessionId":"s","terminalId":%q}`, terminal); q.Method != methodRelease || string(q.Params) != want {
		st.t.Fatalf("the editor is asked %s %s", q.Method, q.Params)
	}
	st.answers(q, `{}`)
}

// answers has the editor answer a request of the proxy's.
func (st *stage) answers(q reply, result string) {
	st.t.Helper()
	st.editor.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", q.ID, result))
}

// showsLive plays an editor that shows a terminal in one of its own, "E1", and
// returns what it was asked: to make it, and when it ends.
func (st *stage) showsLive() (q, wait reply) {
	st.t.Helper()
	st.editor.sees("```\n\n```")
	q = st.editor.message()
	st.answers(q, `{"terminalId":"E\"1"}`)
	var u updateSeen
	m := st.editor.message()
	check(st.t, json.Unmarshal(m.Params, &u))
	if c := u.Update.Content; m.Method != methodUpdate || len(c) != 3 || c[1].Type != "terminal" || c[1].TerminalID != `E"1` || string(c[1].Meta) != `{"k":1}` {
		st.t.Fatalf("got %s %s", m.Method, m.Params)
	}
	if wait = st.editor.message(); wait.Method != methodWait || string(wait.Params) != `{"sessionId":"s","terminalId":"E\"1"}` {
		st.t.Fatalf("the editor is asked %s %s", wait.Method, wait.Params)
	}
	return q, wait
}

func TestAnEditorsTerminalShowsTheHosts(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(true)
	c := st.creates(params{"command": "cat"})
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	q, wait := st.showsLive()
	if q.Method != methodCreate || string(q.Params) != `{"sessionId":"s","command":"show","args":["ahp-terminal:/cat-1"]}` {
		t.Fatalf("the editor is asked %s %s", q.Method, q.Params)
	}
	// Again, the same one, in another place.
	st.agent.sends(fmt.Sprintf(permission, c.TerminalID))
	st.editor.gets(fmt.Sprintf(permission, `E\"1`))
	// With its release the editor's own one goes, once it has drawn everything.
	if r := st.agent.asks(10, methodRelease, of(c.TerminalID)); r.Error != nil {
		t.Fatal(r.Error)
	}
	st.answers(wait, `{"exitCode":129}`)
	st.released(st.editor.message(), `E"1`)
	// What still names it names the editor's.
	st.agent.sends(fmt.Sprintf(permission, c.TerminalID))
	st.editor.gets(fmt.Sprintf(permission, `E\"1`))
}

// types has a person type into a terminal.
func (st *stage) types(term *host.Terminal, text string) {
	st.t.Helper()
	person, err := st.host.Connect(alice, host.DoorSSH)
	check(st.t, err)
	defer person.Close()
	check(st.t, person.Send(term, []byte(text)))
}

// update is a tool call's content as an editor sees it.
type updateSeen struct {
	Update struct {
		Kind    string `json:"sessionUpdate"`
		Call    string `json:"toolCallId"`
		Content []struct {
			Type       string
			TerminalID string          `json:"terminalId"`
			Meta       json.RawMessage `json:"_meta"`
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
		if m.Method != methodUpdate || len(c) != 3 || c[0].Content.Text != "a" || c[2].TerminalID != "not ours" || c[1].Type != "content" || string(c[1].Meta) != `{"k":1}` {
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
	st.types(term, "\r")
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
	st.editor.sees("```\n\n```")
	q := st.editor.message()
	st.editor.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no room"}}`+"\n", q.ID))
	st.editor.sees("```\nx\n```")
	// It is not asked again.
	c = st.creates(params{"command": "echo", "args": []string{"y"}})
	st.agent.sends(embed("tool_call", "c2", c.TerminalID))
	st.editor.sees("```\ny\n```")
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.notes) != 1 || !strings.Contains(st.notes[0], "no room") {
		t.Fatalf("the notes are %q", st.notes)
	}
}
