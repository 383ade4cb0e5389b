package acpproxy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// impatient makes a proxy give the editor no time to make a terminal.
func impatient(p *Proxy) { p.editorWait = time.Millisecond }

// saidOnce expects that the user has got one notice, with a text in it.
func (st *stage) saidOnce(text string) {
	st.t.Helper()
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.notices) != 1 || !strings.Contains(st.notices[0], text) {
		st.t.Fatalf("the notices are %q", st.notices)
	}
}

func TestASilentEditorHoldsNothingUpAndIsAskedOnce(t *testing.T) {
	t.Parallel()
	st := newStage(t, impatient)
	st.handshake(true)
	c := st.creates(command("cat"))
	word := notificationLine(methodUpdate, params{
		"sessionId": "s", "update": params{"sessionUpdate": "agent_message_chunk"},
	})
	st.agent.sends(embed("tool_call", "c1", c.TerminalID) + word)
	st.seesNothingYet()
	// The request and what the agent goes on to say come in either order.
	q, next := st.editor.message(), st.editor.message()
	if q.Method != wire.MethodCreate {
		q, next = next, q
	}
	if q.Method != wire.MethodCreate || next.Method != methodUpdate {
		t.Fatalf("got %s and %s", q.Method, next.Method)
	}
	term, err := hosttest.Find(st.host, alice, c.Meta.Termhost.Name)
	check(t, err)
	st.types(term, "shown as text\r")
	st.sees("```\nshown as text\nshown as text\n```")
	for i := range 3 {
		c := st.creates(command("echo", fmt.Sprint("number ", i)))
		st.agent.sends(embed("tool_call", fmt.Sprint("other", i), c.TerminalID))
		st.sees(fmt.Sprintf("```\nnumber %d\n```", i))
	}
	st.saidOnce("does not answer")
	// A terminal that it makes after all is given back.
	st.answers(q, `{"terminalId":"late"}`)
	st.released(st.editor.message(), "late")
}

func TestAReleasedTerminalIsGivenBackWhenTheEditorHasMadeIt(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(true)
	c := st.creates(command("cat"))
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.seesNothingYet()
	q := st.editor.message()
	if r := st.agent.asks(8, wire.MethodRelease, of(c.TerminalID)); r.Error != nil {
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
	c := st.creates(command("echo", "said before"))
	st.agent.asks(8, wire.MethodWait, of(c.TerminalID))
	st.agent.asks(9, wire.MethodRelease, of(c.TerminalID))
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.sees("```\nsaid before\n```")
	st.agent.sends(sentinel)
	st.editor.gets(sentinel) // and it was asked for nothing
}

func TestALostHostIsMarkedAtOnce(t *testing.T) {
	t.Parallel()
	st := newStage(t, func(p *Proxy) { p.cfg.Away = time.Millisecond })
	st.handshake(false)
	c := st.creates(command("sh", "-c", "echo working; sleep 300"))
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.sees("```\nworking\n```")
	slowtest.Hurry(t)
	block := make(chan struct{}) // never closed: the host does not come back
	st.mu.Lock()
	st.block = block
	st.mu.Unlock()
	st.lose()
	st.sees("```\nworking\n" + noteLost + "\n```")
}

func TestAClientThatEndsForGoodIsALostHost(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(command("sh", "-c", "echo working; sleep 300"))
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.sees("```\nworking\n```")
	st.client.Close()
	st.sees("```\nworking\n" + noteLost + "\n```")
	r := st.agent.asks(8, wire.MethodOutput, of(c.TerminalID))
	r.refused(t, ahp.CodeInternal, "connection to the host")
	r = st.agent.asks(9, wire.MethodCreate, command("true"))
	r.refused(t, ahp.CodeInternal, "reached: closed")
}

func TestATerminalThatTheHostHasForgottenShowsWhatItPrinted(t *testing.T) {
	t.Parallel()
	for _, terminals := range []bool{false, true} {
		st := newStage(t)
		st.handshake(terminals)
		first := st.creates(command("echo", "the first"))
		st.agent.asks(8, wire.MethodWait, of(first.TerminalID))
		name := first.Meta.Termhost.Name
		term, err := hosttest.Find(st.host, alice, name)
		check(t, err)
		check(t, hosttest.Dispose(st.host, alice, term))
		// The agent's next one has another NAME.
		other := st.creates(command("echo", "another"))
		if other.Meta.Termhost.Name == name {
			t.Fatalf("both are called %s", name)
		}
		// A person may ask for the NAME, and the terminal must not be taken for the agent's.
		_, err = hosttest.Create(st.host, alice, host.CreateOptions{
			Name:  name,
			Argv:  []string{"echo", "a person's"},
			Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: wire.SessionURI("s")},
		})
		check(t, err)
		st.agent.sends(embed("tool_call", "c1", first.TerminalID))
		if terminals {
			st.seesNothingYet()
		}
		st.sees("```\nthe first\n```")
	}
}

func TestATerminalThatIsRemovedKeepsItsLastText(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(command("sh", "-c", "echo seen; sleep 300"))
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.sees("```\nseen\n```")
	term, err := hosttest.Find(st.host, alice, c.Meta.Termhost.Name)
	check(t, err)
	check(t, hosttest.Dispose(st.host, alice, term))
	st.agent.sends(embed("tool_call", "c2", c.TerminalID))
	st.sees("```\nseen\n```")
	var out wire.OutputResult
	check(t, json.Unmarshal(st.agent.asks(8, wire.MethodOutput, of(c.TerminalID)).Result, &out))
	if out.Output != "seen\r\n" || out.ExitStatus == nil {
		t.Fatalf("the agent gets %+v", out)
	}
}

func TestAnEditorThatDoesNotReadDoesNotHoldTheAgentsAnswersUp(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	dir := t.TempDir()
	check(t, syscall.Mkfifo(filepath.Join(dir, "go"), 0o600))
	c := st.creates(command("sh", "-c", "echo one; read x < go; exit 3").with("cwd", dir))
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.sees("```\n\n```") // and nothing more
	check(t, os.WriteFile(filepath.Join(dir, "go"), []byte("\n"), 0))
	r := st.agent.asks(8, wire.MethodWait, of(c.TerminalID))
	var exit wire.ExitStatus
	check(t, json.Unmarshal(r.Result, &exit))
	wantCode(t, exit, 3)
	if r := st.agent.asks(9, wire.MethodOutput, of(c.TerminalID)); r.Error != nil {
		t.Fatal(r.Error)
	}
	st.sees("```\none\n```")
}

func TestMetaDoesNotBreakAMessage(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(command("no-such-program"))
	bad := strings.Replace(embed("tool_call", "c1", c.TerminalID), `{"k":1}`, `{"k":1 1}`, 1)
	st.agent.sends(bad)
	st.editor.gets(bad) // what is not JSON is not changed
	st.agent.asks(8, wire.MethodCreate, command("")).refused(t, ahp.CodeInvalidParams, "is missing")
}
