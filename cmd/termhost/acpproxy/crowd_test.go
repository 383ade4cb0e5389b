package acpproxy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/hosttest/slowtest"
)

// crowd is more than the 16 that stay listed at the host once they are released.
const crowd = 26

// TestManyAtOnceEndAsTheyPrinted releases each command as soon as it has ended. Whether the editor
// has seen its output by then or not, the text is right in the end.
func TestManyAtOnceEndAsTheyPrinted(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	go func() {
		for i := range crowd {
			p := command("echo", fmt.Sprint("out-", i))
			st.agent.pours(requestLine(fmt.Sprint(i), wire.MethodCreate, p))
		}
	}()
	ids := make([]string, crowd)
	for i := range ids {
		r := st.agent.message()
		var c wire.CreateResult
		if string(r.ID) != fmt.Sprint(i) || json.Unmarshal(r.Result, &c) != nil {
			t.Fatalf("the answer to %d is %+v", i, r)
		}
		ids[i] = c.TerminalID
	}
	seen := make(chan map[string]string, 1)
	go func() { seen <- st.editor.untilAll(crowd) }()
	for i, id := range ids {
		st.agent.sends(embed("tool_call", fmt.Sprint("call", i), id))
	}
	for i, id := range ids {
		for _, method := range []string{wire.MethodWait, wire.MethodRelease} {
			if r := st.agent.asks(1000+i, method, of(id)); r.Error != nil {
				t.Fatal(r.Error)
			}
		}
	}
	for call, text := range <-seen {
		if want := "```\nout-" + strings.TrimPrefix(call, "call") + "\n```"; text != want {
			t.Errorf("%s ends as %q", call, text)
		}
	}
}

// untilAll reads what the editor is sent until n tool calls show a text that is not empty, and
// returns these texts by the tool calls' ids.
func (s *side) untilAll(n int) map[string]string {
	shown := map[string]string{}
	for len(shown) < n {
		line, err := s.in.ReadString('\n')
		if err != nil {
			break
		}
		var m struct{ Params updateSeen }
		if json.Unmarshal([]byte(line), &m) != nil || len(m.Params.Update.Content) != 3 {
			continue
		}
		if text := m.Params.Update.Content[1].Content.Text; text != "```\n\n```" {
			shown[m.Params.Update.Call] = text
		}
	}
	return shown
}

func TestAnswersComeInTheOrderOfRequests(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(command("cat"))
	const many = 2 * maxQueue
	go func() {
		for i := range many {
			method := wire.MethodOutput
			if i%100 == 50 {
				method = wire.MethodKill
			}
			st.agent.pours(requestLine(fmt.Sprint(1000+i), method, of(c.TerminalID)))
		}
	}()
	for i := range many {
		if r := st.agent.message(); r.Error != nil || string(r.ID) != fmt.Sprint(1000+i) {
			t.Fatalf("answer %d is %s, %+v", i, r.ID, r.Error)
		}
	}
}

func TestWaitsHoldNothingUp(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(command("cat"))
	slowtest.Hurry(t)
	go func() {
		for i := range maxWaiting + 1 {
			st.agent.pours(requestLine(fmt.Sprint(1000+i), wire.MethodWait, of(c.TerminalID)))
		}
	}()
	r := st.agent.message()
	r.refused(t, ahp.CodeLimit, "let some finish")
	if string(r.ID) != fmt.Sprint(1000+maxWaiting) {
		t.Fatalf("the refused one is %s", r.ID)
	}
	st.agent.sends(requestLine("7", wire.MethodKill, of(c.TerminalID)))
	for range maxWaiting + 1 { // the kill's own answer is anywhere among them
		r := st.agent.message()
		if string(r.ID) == "7" {
			continue
		}
		var exit wire.ExitStatus
		check(t, json.Unmarshal(r.Result, &exit))
		wantSignal(t, exit, "SIGTERM")
	}
}

func TestANullIDIsAnswered(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	st.agent.sends(requestLine("null", wire.MethodCreate, command("true")))
	var c wire.CreateResult
	r := st.agent.message()
	if string(r.ID) != "null" || json.Unmarshal(r.Result, &c) != nil || c.TerminalID == "" {
		t.Fatalf("got %+v", r)
	}
	st.agent.sends(requestLine("null", wire.MethodOutput, of("x")))
	r = st.agent.message()
	r.refused(t, wire.CodeNoSuchTerminal, "no such terminal")
	if string(r.ID) != "null" {
		t.Fatalf("the answer is to %s", r.ID)
	}
}

func TestTheProxyNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	for field, p := range map[string]params{
		"sessionId":  {"terminalId": "x"},
		"terminalId": {"sessionId": "s"},
	} {
		r := st.agent.asks(7, wire.MethodOutput, p)
		r.refused(t, ahp.CodeInvalidParams, "is missing")
		if !strings.Contains(string(r.Error.Data), `"`+field+`"`) {
			t.Errorf("without %s: %s", field, r.Error.Data)
		}
	}
}
