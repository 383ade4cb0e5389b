package acp

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"termhost/ahp"
)

// crowd is more than stay listed once they are released.
const crowd = keepReleased + 10

// TestManyAtOnceEndAsTheyPrinted releases each as soon as it has ended: whether the
// editor has seen it by then or not, the text is right in the end.
func TestManyAtOnceEndAsTheyPrinted(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	go func() {
		for i := range crowd {
			st.agent.pours(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"terminal/create","params":{"sessionId":"s","command":"echo","args":["out-%d"]}}`+"\n", i, i))
		}
	}()
	ids := make([]string, crowd)
	for i := range ids {
		r := st.agent.message()
		var c createResult
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
		for _, method := range []string{methodWait, methodRelease} {
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

// pours is sends for a goroutine beside the test's: what is not taken is missed.
func (s *side) pours(line string) { _, _ = io.WriteString(s.out, line) }

// untilAll reads what the editor is sent until n tool calls show text that is not
// empty, and returns that.
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
	c := st.creates(params{"command": "cat"})
	const many = 2 * maxQueue
	go func() {
		for i := range many {
			method := methodOutput
			if i%100 == 50 {
				method = methodKill
			}
			st.agent.pours(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", 1000+i, method, encode(of(c.TerminalID))))
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
	c := st.creates(params{"command": "cat"})
	go func() {
		for i := range maxWaits + 1 {
			st.agent.pours(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"terminal/wait_for_exit","params":%s}`+"\n", 1000+i, encode(of(c.TerminalID))))
		}
	}()
	if r := st.agent.message(); r.Error == nil || r.Error.Code != ahp.CodeLimit || string(r.ID) != fmt.Sprint(1000+maxWaits) {
		t.Fatalf("one wait too many is answered %+v", r)
	}
	st.agent.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"terminal/kill","params":%s}`+"\n", encode(of(c.TerminalID))))
	for range maxWaits + 1 { // the kill's own answer is anywhere among them
		r := st.agent.message()
		if string(r.ID) == "7" {
			continue
		}
		var exit exitStatus
		check(t, json.Unmarshal(r.Result, &exit))
		wantSignal(t, exit, "SIGTERM")
	}
}

func TestANullIDIsAnswered(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	st.agent.sends(`{"jsonrpc":"2.0","id":null,"method":"terminal/create","params":{"sessionId":"s","command":"true"}}` + "\n")
	var c createResult
	if r := st.agent.message(); string(r.ID) != "null" || json.Unmarshal(r.Result, &c) != nil || c.TerminalID == "" {
		t.Fatalf("got %+v", r)
	}
	st.agent.sends(`{"jsonrpc":"2.0","id":null,"method":"terminal/output","params":{"sessionId":"s","terminalId":"x"}}` + "\n")
	if r := st.agent.message(); string(r.ID) != "null" || r.Error == nil || r.Error.Code != codeNoSuchTerminal {
		t.Fatalf("got %+v", r)
	}
}

func TestTheProxyNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	for field, p := range map[string]params{"sessionId": {"terminalId": "x"}, "terminalId": {"sessionId": "s"}} {
		if e := st.agent.asks(7, methodOutput, p).Error; e == nil || e.Code != ahp.CodeInvalidParams || !strings.Contains(string(e.Data), `"`+field+`"`) {
			t.Errorf("without %s: %+v", field, e)
		}
	}
}
