package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
)

// impatient makes a proxy give an editor no time to make a terminal.
func impatient(p *Proxy) { p.editorWait = time.Millisecond }

// saidOnce expects one note, which holds text.
func (st *stage) saidOnce(text string) {
	st.t.Helper()
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.notes) != 1 || !strings.Contains(st.notes[0], text) {
		st.t.Fatalf("the notes are %q", st.notes)
	}
}

func TestASilentEditorHoldsNothingUpAndIsAskedOnce(t *testing.T) {
	t.Parallel()
	st := newStage(t, impatient)
	st.handshake(true)
	c := st.creates(params{"command": "cat"})
	const word = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk"}}}` + "\n"
	st.agent.sends(embed("tool_call", "c1", c.TerminalID) + word)
	st.editor.sees("```\n\n```")
	// The request and what the agent goes on to say come in either order.
	q, next := st.editor.message(), st.editor.message()
	if q.Method != methodCreate {
		q, next = next, q
	}
	if q.Method != methodCreate || next.Method != methodUpdate {
		t.Fatalf("got %s and %s", q.Method, next.Method)
	}
	term, err := st.host.Find(alice, c.Meta.Termhost.Name)
	check(t, err)
	st.types(term, "shown as text\r")
	st.editor.sees("```\nshown as text\nshown as text\n```")
	for i := range 3 {
		c := st.creates(params{"command": "echo", "args": []string{fmt.Sprint("number ", i)}})
		st.agent.sends(embed("tool_call", fmt.Sprint("other", i), c.TerminalID))
		st.editor.sees(fmt.Sprintf("```\nnumber %d\n```", i))
	}
	st.saidOnce("does not answer")
	// What it makes after all is given back.
	st.answers(q, `{"terminalId":"late"}`)
	st.released(st.editor.message(), "late")
}

func TestAReleasedTerminalIsGivenBackWhenTheEditorHasMadeIt(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(true)
	c := st.creates(params{"command": "cat"})
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.editor.sees("```\n\n```")
	q := st.editor.message()
	if r := st.agent.asks(8, methodRelease, of(c.TerminalID)); r.Error != nil {
		t.Fatal(r.Error)
	}
	st.answers(q, `{"terminalId":"E"}`)
	for {
		m := st.editor.message()
		if m.Method == methodUpdate { // the text
			continue
		}
		st.released(m, "E")
		return
	}
}

func TestWhatIsShownAfterItsReleaseIsText(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(true)
	c := st.creates(params{"command": "echo", "args": []string{"said before"}})
	st.agent.asks(8, methodWait, of(c.TerminalID))
	st.agent.asks(9, methodRelease, of(c.TerminalID))
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.editor.sees("```\nsaid before\n```")
	const end = `{"jsonrpc":"2.0","method":"x"}` + "\n"
	st.agent.sends(end)
	st.editor.gets(end) // and it was asked for nothing
}

func TestALostHostIsMarkedAtOnce(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(params{"command": "sh", "args": []string{"-c", "echo working; sleep 300"}})
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.editor.sees("```\nworking\n```")
	block := make(chan struct{}) // and no host comes in its place
	st.mu.Lock()
	st.block = block
	st.mu.Unlock()
	st.lose()
	st.editor.sees("```\nworking\n" + noteLost + "\n```")
}

func TestAClientThatEndsForGoodIsALostHost(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(params{"command": "sh", "args": []string{"-c", "echo working; sleep 300"}})
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.editor.sees("```\nworking\n```")
	st.client.Close()
	st.editor.sees("```\nworking\n" + noteLost + "\n```")
	if r := st.agent.asks(8, methodOutput, of(c.TerminalID)); r.Error == nil || !strings.Contains(r.Error.Message, "connection to the host") {
		t.Fatalf("got %+v", r)
	}
	if r := st.agent.asks(9, methodCreate, params{"sessionId": "s", "command": "true"}); r.Error == nil || !strings.Contains(r.Error.Message, "reached: closed") {
		t.Fatalf("got %+v", r.Error)
	}
}

func TestATerminalThatTheHostHasForgottenShowsWhatItPrinted(t *testing.T) {
	t.Parallel()
	for _, terminals := range []bool{false, true} {
		st := newStage(t)
		st.handshake(terminals)
		first := st.creates(params{"command": "echo", "args": []string{"the first"}})
		st.agent.asks(8, methodWait, of(first.TerminalID))
		name := first.Meta.Termhost.Name
		term, err := st.host.Find(alice, name)
		check(t, err)
		check(t, st.host.Dispose(alice, term))
		// The agent's next one is called otherwise.
		if other := st.creates(params{"command": "echo", "args": []string{"another"}}); other.Meta.Termhost.Name == name {
			t.Fatalf("both are called %s", name)
		}
		// Who asks for the NAME gets it, and must not be taken for it.
		_, err = st.host.Create(alice, host.CreateOptions{Name: name, Argv: []string{"echo", "a person's"},
			Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: sessionURI("s")}})
		check(t, err)
		st.agent.sends(embed("tool_call", "c1", first.TerminalID))
		st.editor.sees("```\nthe first\n```")
	}
}

func TestATerminalThatIsRemovedKeepsItsLastText(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(params{"command": "sh", "args": []string{"-c", "echo seen; sleep 300"}})
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.editor.sees("```\nseen\n```")
	term, err := st.host.Find(alice, c.Meta.Termhost.Name)
	check(t, err)
	check(t, st.host.Dispose(alice, term))
	st.agent.sends(embed("tool_call", "c2", c.TerminalID))
	st.editor.sees("```\nseen\n```")
	var out outputResult
	check(t, json.Unmarshal(st.agent.asks(8, methodOutput, of(c.TerminalID)).Result, &out))
	if out.Output != "seen\r\n" || out.ExitStatus == nil {
		t.Fatalf("the agent gets %+v", out)
	}
}

func TestAnEditorThatDoesNotReadDoesNotHoldTheAgentsAnswersUp(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	dir := t.TempDir()
	c := st.creates(params{"command": "sh", "cwd": dir, "args": []string{"-c", "echo one; while [ ! -e go ]; do sleep 0.02; done; exit 3"}})
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.editor.sees("```\n\n```") // and nothing more
	st.creates(params{"command": "touch", "args": []string{"go"}, "cwd": dir})
	r := st.agent.asks(8, methodWait, of(c.TerminalID))
	var exit exitStatus
	check(t, json.Unmarshal(r.Result, &exit))
	wantCode(t, exit, 3)
	if r := st.agent.asks(9, methodOutput, of(c.TerminalID)); r.Error != nil {
		t.Fatal(r.Error)
	}
	st.editor.sees("```\none\n```")
}

func TestMetaDoesNotBreakAMessage(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(params{"command": "no-such-program"})
	bad := strings.Replace(embed("tool_call", "c1", c.TerminalID), `{"k":1}`, `{"k":1 1}`, 1)
	st.agent.sends(bad)
	st.editor.gets(bad) // what is no JSON is not for the proxy to change
	if e := st.agent.asks(8, methodCreate, params{"sessionId": "s", "command": ""}).Error; e == nil || e.Code != ahp.CodeInvalidParams {
		t.Fatalf("got %+v", e)
	}
}
