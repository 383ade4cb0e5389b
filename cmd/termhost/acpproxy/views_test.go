package acpproxy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"termhost/ahp/acp/wire"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// permission is a request that shows a terminal in tool call c1; %s is the terminal's id.
const permission = `{"jsonrpc":"2.0","id":99,"method":"session/request_permission",` +
	`"params":{"sessionId":"s","toolCall":{"toolCallId":"c1","content":[` +
	`{"terminalId":"%s","type":"terminal"}]},"options":[]}}` + "\n"

// asked expects that a message to the editor is this request.
func (st *stage) asked(q reply, method, params string) {
	st.t.Helper()
	if q.Method != method || string(q.Params) != params {
		st.t.Fatalf("the editor is asked %s %s, want %s %s", q.Method, q.Params, method, params)
	}
}

// released expects that q asks the editor to release a terminal of its own, and answers.
func (st *stage) released(q reply, terminal string) {
	st.t.Helper()
	st.asked(q, wire.MethodRelease, fmt.Sprintf(`{"sessionId":"s","terminalId":%q}`, terminal))
	st.answers(q, `{}`)
}

// answers has the editor answer a request of the proxy's.
func (st *stage) answers(q reply, result string) {
	st.t.Helper()
	st.editor.sends(responseLine(q.ID, result))
}

// showsLive plays an editor that shows a terminal in one of its own, whose id has a quotation mark.
// It returns the requests for that: one to make it, and one that waits for its end.
func (st *stage) showsLive() (q, wait reply) {
	st.t.Helper()
	st.seesNothingYet()
	q = st.pastText()
	st.answers(q, `{"terminalId":"E\"1"}`)
	m := st.pastText()
	if part := st.shownIn(m); part.Type != "terminal" || part.TerminalID != `E"1` {
		st.t.Fatalf("got %s", m.Params)
	}
	wait = st.editor.message()
	st.asked(wait, wire.MethodWait, `{"sessionId":"s","terminalId":"E\"1"}`)
	return q, wait
}

// pastText returns the next message that does not show text, as the proxy does while the editor
// takes longer than textAfter to make a terminal: on a busy machine that is soon over.
func (st *stage) pastText() reply {
	st.t.Helper()
	for {
		m := st.editor.message()
		if m.Method != methodUpdate || st.shownIn(m).Type != "content" {
			return m
		}
	}
}

// shownIn returns what an update shows in place of the terminal that embed has embedded.
func (st *stage) shownIn(m reply) partSeen {
	st.t.Helper()
	var u updateSeen
	check(st.t, json.Unmarshal(m.Params, &u))
	c := u.Update.Content
	if m.Method != methodUpdate || len(c) != 3 || string(c[1].Meta) != `{"k":1}` ||
		c[0].Content.Text != "a" || c[2].TerminalID != "not ours" {
		st.t.Fatalf("got %s %s", m.Method, m.Params)
	}
	return c[1]
}

func TestAnEditorsTerminalShowsTheHosts(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(true)
	c := st.creates(command("cat"))
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	q, wait := st.showsLive()
	const shows = `{"sessionId":"s","command":"show","args":["ahp-terminal:/cat-1"]}`
	st.asked(q, wire.MethodCreate, shows)
	// The same one again, in another place.
	st.agent.sends(fmt.Sprintf(permission, c.TerminalID))
	st.editor.gets(fmt.Sprintf(permission, `E\"1`))
	// With its release the editor's own is given back, once it has drawn everything.
	if r := st.agent.asks(10, wire.MethodRelease, of(c.TerminalID)); r.Error != nil {
		t.Fatal(r.Error)
	}
	st.answers(wait, `{"exitCode":129}`)
	st.released(st.editor.message(), `E"1`)
	// A message that names it afterwards shows the editor's.
	st.agent.sends(fmt.Sprintf(permission, c.TerminalID))
	st.editor.gets(fmt.Sprintf(permission, `E\"1`))
}

// types has a person type into a terminal.
func (st *stage) types(term *host.Terminal, text string) {
	st.t.Helper()
	person, err := st.host.Connect(alice, host.DoorSSH)
	check(st.t, err)
	defer person.Close()
	err = person.Send(st.t.Context(), term, []byte(text))
	check(st.t, err)
}

// updateSeen is a tool call's content as an editor sees it.
type updateSeen struct {
	Update struct {
		Kind    string `json:"sessionUpdate"`
		Call    string `json:"toolCallId"`
		Content []partSeen
	}
}

// partSeen is a part of a tool call's content.
type partSeen struct {
	Type       string
	TerminalID string          `json:"terminalId"`
	Meta       json.RawMessage `json:"_meta"`
	Content    struct{ Text string }
}

// sees reads updates until one shows a text in place of the terminal that embed has embedded.
func (st *stage) sees(text string) updateSeen {
	st.t.Helper()
	for {
		m := st.editor.message()
		part := st.shownIn(m)
		if part.Type != "content" || !strings.HasPrefix(part.Content.Text, "```") {
			st.t.Fatalf("got %s", m.Params)
		}
		if part.Content.Text == text {
			var u updateSeen
			check(st.t, json.Unmarshal(m.Params, &u))
			return u
		}
	}
}

// seesNothingYet reads an update that does not show the terminal that embed has embedded: it may
// still get a live view, and has printed nothing.
func (st *stage) seesNothingYet() {
	st.t.Helper()
	m := st.editor.message()
	var u updateSeen
	check(st.t, json.Unmarshal(m.Params, &u))
	c := u.Update.Content
	if len(c) != 2 || c[0].Content.Text != "a" || c[1].TerminalID != "not ours" {
		st.t.Fatalf("got %s %s", m.Method, m.Params)
	}
}

func TestAnEditorWithoutTerminalsSeesTextThatIsRenewedAndStays(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	const line = `stty -icanon -echo; printf '\033[31mone\033[m\r\nprogress 1%%'
		read x; printf '\rprogress 100%%\n'; sleep 300`
	c := st.creates(command("sh", "-c", line))
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.sees("```\none\nprogress 1%\n```")
	term, err := hosttest.Find(st.host, alice, c.Meta.Termhost.Name)
	check(t, err)
	st.types(term, "\r")
	u := st.sees("```\none\nprogress 100%\n```")
	if u.Update.Kind != "tool_call_update" || u.Update.Call != "c1" {
		t.Fatalf("got %+v", u)
	}
	if r := st.agent.asks(8, wire.MethodRelease, of(c.TerminalID)); r.Error != nil {
		t.Fatal(r.Error)
	}
	// The agent replaces the content by its own.
	own := notificationLine(methodUpdate, params{"sessionId": "s", "update": params{
		"sessionUpdate": "tool_call_update", "toolCallId": "c1", "content": []params{},
	}})
	st.agent.sends(own)
	st.editor.gets(own)
	st.agent.sends(embed("tool_call_update", "c1", c.TerminalID))
	st.sees("```\none\nprogress 100%\n```")
}

func TestAnEditorThatCannotShowATerminalGetsText(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(true)
	c := st.creates(command("echo", "x"))
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.seesNothingYet()
	q := st.editor.message()
	const refusal = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no room"}}` + "\n"
	st.editor.sends(fmt.Sprintf(refusal, q.ID))
	st.sees("```\nx\n```")
	// It is not asked again.
	c = st.creates(command("echo", "y"))
	st.agent.sends(embed("tool_call", "c2", c.TerminalID))
	st.sees("```\ny\n```")
	st.saidOnce("no room")
}
