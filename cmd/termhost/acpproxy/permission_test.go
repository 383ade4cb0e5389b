package acpproxy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// listedAsks waits until n asks are listed for a person, and returns them.
func (st *stage) listedAsks(c *host.Conn, n int) (list []host.HeldInput) {
	st.t.Helper()
	hosttest.Eventually(st.t, fmt.Sprint(n, " asks are listed"), func() bool {
		var err error
		list, err = c.Asks()
		check(st.t, err)
		return len(list) == n
	})
	return list
}

// TestAPermissionAboutACommandIsAmongTheAsks has an agent ask for permissions while its command
// runs. The editor and the agent notice nothing.
func TestAPermissionAboutACommandIsAmongTheAsks(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(true)
	person, err := st.host.Connect(alice, host.DoorSSH)
	check(t, err)
	defer person.Close()
	c := st.creates(command("cat"))
	shows := embed("tool_call", "c1", c.TerminalID)
	st.agent.sends(shows)
	show := st.editor.message()
	if show.Method != methodUpdate {
		t.Fatalf("the editor gets %+v", show)
	}
	st.editor.sends(responseLine(json.RawMessage(st.editor.message().ID), `{"terminalId":"mine"}`))
	st.editor.line() // the call with the editor's own terminal,
	st.editor.line() // whose end is waited for

	// Its tool call shows the terminal already. Other calls show none.
	ask := func(id, call string) string {
		return requestLine(id, methodPermission, params{"sessionId": "s", "options": []any{},
			"toolCall": params{"toolCallId": call, "title": "send \x1b[31mINT to it"}})
	}
	for id, call := range map[string]string{"31": "c1", `"32"`: "other"} {
		st.agent.sends(ask(id, call))
		st.editor.gets(ask(id, call))
	}
	is := st.listedAsks(person, 1)[0]
	term := st.only()
	if is.Terminal != term.Name() || is.Does != ahp.AskElsewhere || is.By == "" ||
		is.Text != "send \x1b[31mINT to it" || is.DoesText() != "asks in its editor, 1 hidden" {
		t.Errorf("it is %+v", is)
	}
	if waits := waitingOf(t, st, term); waits != host.WaitingApproval {
		t.Errorf("the terminal waits for %q", waits)
	}
	for _, name := range []string{"", is.Ask} {
		_, err := person.Decide(term, nil, name, host.ApproveOnce, "")
		if err == nil || !strings.Contains(err.Error(), "answer it there") {
			t.Errorf("approving %q fails with %v", name, err)
		}
	}

	// The editor decides.
	const yes = `{"outcome":{"outcome":"selected","optionId":"o"}}`
	st.editor.sends(responseLine(json.RawMessage("31"), yes))
	st.agent.gets(responseLine(json.RawMessage("31"), yes))
	st.listedAsks(person, 0)
	if waits := waitingOf(t, st, term); waits == host.WaitingApproval {
		t.Error("the terminal waits still")
	}

	// One whose own content shows the terminal ends with the command.
	st.agent.sends(requestLine("33", methodPermission, params{"sessionId": "s", "toolCall": params{
		"toolCallId": "c2", "content": []any{params{"type": "terminal", "terminalId": c.TerminalID}},
	}}))
	if m := st.editor.message(); string(m.ID) != "33" || m.Method != methodPermission {
		t.Fatalf("the editor gets %+v", m)
	}
	if is := st.listedAsks(person, 1)[0]; is.Text != "a permission" {
		t.Errorf("it is %+v", is)
	}
	st.agent.asks(8, wire.MethodKill, of(c.TerminalID))
	st.listedAsks(person, 0)
}

// waitingOf returns what listings say that a terminal waits for.
func waitingOf(t *testing.T, st *stage, term *host.Terminal) host.Waiting {
	t.Helper()
	list, err := hosttest.List(st.host, alice)
	check(t, err)
	for _, l := range list {
		if l.URI == term.URI() {
			return l.Waiting
		}
	}
	t.Fatal("it is not listed")
	return ""
}
