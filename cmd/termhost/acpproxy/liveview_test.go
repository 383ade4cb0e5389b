package acpproxy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// TestTheTextIsFinalBeforeTheRelease keeps the proxy from following a terminal at the host until
// the host has forgotten it.
func TestTheTextIsFinalBeforeTheRelease(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(command("echo", "in time"))
	st.sieve.holdBack(`"subscribe"`)
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.sees("```\n\n```")
	st.agent.asks(8, wire.MethodWait, of(c.TerminalID))
	term, err := hosttest.Find(st.host, alice, c.Meta.Termhost.Name)
	check(t, err)
	if r := st.agent.asks(9, wire.MethodRelease, of(c.TerminalID)); r.Error != nil {
		t.Fatal(r.Error)
	}
	st.sees("```\nin time\n```")
	check(t, hosttest.Dispose(st.host, alice, term))
	st.sieve.pass(t)
	st.agent.sends(sentinel)
	st.editor.gets(sentinel)
}

// TestWhatWasReleasedWhileItRanKeepsItsText does the same with a command that the release ends.
func TestWhatWasReleasedWhileItRanKeepsItsText(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(command("sh", "-c", "echo up; exec sleep 300"))
	st.sieve.holdBack(`"subscribe"`)
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.sees("```\n\n```")
	for out := (wire.OutputResult{}); out.Output != "up\r\n"; {
		check(t, json.Unmarshal(st.agent.asks(8, wire.MethodOutput, of(c.TerminalID)).Result, &out))
	}
	term, err := hosttest.Find(st.host, alice, c.Meta.Termhost.Name)
	check(t, err)
	if r := st.agent.asks(9, wire.MethodRelease, of(c.TerminalID)); r.Error != nil {
		t.Fatal(r.Error)
	}
	<-term.Done()
	check(t, hosttest.Dispose(st.host, alice, term))
	st.sieve.pass(t)
	st.sees("```\nup\n```")
}

func TestAViewThatFailsBecomesText(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{
		"it was killed":      `"result":{"exitCode":null,"signal":"SIGKILL"}`,
		"it could not begin": `"result":{"exitCode":255}`,
		"it was left":        `"result":{"exitCode":0}`,
		"it is unknown":      `"error":{"code":-32603,"message":"no such terminal"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStage(t)
			st.handshake(true)
			const line = "stty -icanon -echo; echo one; read x; echo two; read x"
			c := st.creates(command("sh", "-c", line))
			st.agent.sends(embed("tool_call", "c1", c.TerminalID))
			_, wait := st.showsLive()
			st.editor.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", wait.ID, end))
			st.sees("```\n\n```") // as far as it is known
			released := false
			for text := ""; !released || text != "```\none\n```"; {
				m := st.editor.message()
				if m.Method == wire.MethodRelease {
					released = true
					st.answers(m, `{}`)
					continue
				}
				var u updateSeen
				check(t, json.Unmarshal(m.Params, &u))
				text = u.Update.Content[1].Content.Text
			}
			term, err := hosttest.Find(st.host, alice, c.Meta.Termhost.Name)
			check(t, err)
			st.types(term, "\r")
			st.sees("```\none\ntwo\n```")
		})
	}
}

// TestAViewThatEndsAsItsCommandStays checks also that a view with another exit status does not.
func TestAViewThatEndsAsItsCommandStays(t *testing.T) {
	t.Parallel()
	for status, stays := range map[string]bool{
		`{"exitCode":3,"signal":null}`: true,
		`{"exitCode":null}`:            true, // nobody knows
		`{"exitCode":255}`:             false,
	} {
		st := newStage(t)
		st.handshake(true)
		c := st.creates(command("sh", "-c", "echo text; read x; exit 3"))
		st.agent.sends(embed("tool_call", "c1", c.TerminalID))
		_, wait := st.showsLive()
		term, err := hosttest.Find(st.host, alice, c.Meta.Termhost.Name)
		check(t, err)
		st.types(term, "\r")
		st.agent.asks(8, wire.MethodWait, of(c.TerminalID))
		st.answers(wait, status)
		if !stays {
			st.sees("```\n\n```")
			continue
		}
		if r := st.agent.asks(9, wire.MethodRelease, of(c.TerminalID)); r.Error != nil {
			t.Fatal(r.Error)
		}
		if m := st.editor.message(); m.Method != wire.MethodRelease {
			t.Errorf("%s: the editor gets %s %s", status, m.Method, m.Params)
		}
	}
}

func TestAnEditorsTerminalThatComesTooLateIsGivenBackAtOnce(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(true)
	c := st.creates(command("echo", "quick"))
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.seesNothingYet()
	q := st.editor.message()
	st.sees("```\nquick\n```")
	slowtest.Hurry(t)
	st.answers(q, `{"terminalId":"E"}`)
	st.released(st.editor.message(), "E")
}

func TestAFewViewsStartAtOnce(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(true)
	const n = maxStarting + 2
	var shown string
	for i := range n {
		c := st.creates(command("sh", "-c", "echo hi; exec cat"))
		shown += embed("tool_call", fmt.Sprint("c", i), c.TerminalID)
	}
	go st.agent.pours(shown)
	var asked []reply
	texts := map[string]bool{}
	next := func() {
		m := st.editor.message()
		if m.Method == wire.MethodCreate {
			asked = append(asked, m)
		}
		var u updateSeen
		check(t, json.Unmarshal(m.Params, &u))
		if c := u.Update.Content; len(c) == 3 && c[1].Content.Text == "```\nhi\n```" {
			texts[u.Update.Call] = true
		}
	}
	for len(texts) < n { // all are text while the editor starts the first ones
		next()
	}
	if len(asked) != maxStarting {
		t.Fatalf("%d start at once", len(asked))
	}
	first := asked[:maxStarting:maxStarting]
	go func() {
		for _, q := range first {
			st.editor.pours(responseLine(q.ID, fmt.Sprintf(`{"terminalId":%s}`, q.ID)))
		}
	}()
	for len(asked) < n { // and then the others
		next()
	}
}

func TestWhoeverEndsIsNotRemarkedOn(t *testing.T) {
	t.Parallel()
	for _, end := range []func(*stage){
		func(st *stage) { st.editor.out.Close(); <-st.proxy.EditorGone() },
		func(st *stage) { st.agent.out.Close() },
	} {
		st := newStage(t)
		st.handshake(true)
		c := st.creates(command("cat"))
		st.agent.sends(embed("tool_call", "c1", c.TerminalID))
		st.seesNothingYet()
		st.editor.message() // it is asked for a terminal
		end(st)
		go st.editor.untilAll(2) // reads on
		st.agent.out.Close()
		st.ended <- <-st.ended
		st.mu.Lock()
		if len(st.notices) > 0 {
			t.Errorf("the notices are %q", st.notices)
		}
		st.mu.Unlock()
	}
}

func TestTextThatIsCutSaysSo(t *testing.T) {
	t.Parallel()
	lines := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d\r\n", i)
		}
		return b.String()
	}
	for _, c := range []struct {
		out wire.OutputResult
		cut bool
	}{
		{wire.OutputResult{Output: lines(maxTextLines)}, false},
		{wire.OutputResult{Output: lines(maxTextLines + 100)}, true},
		{wire.OutputResult{Output: strings.Repeat("0123456789", maxText/10+1)}, true},
		{wire.OutputResult{Output: "the end", Truncated: true}, true},
	} {
		term := &remote{text: textView{cols: hostCols, rows: hostRows}}
		text := (&Proxy{}).renderOutput(term, &c.out)
		if got := strings.HasPrefix(text, cutMark); got != c.cut {
			t.Errorf("%d bytes are shown as %.20q, %d bytes", len(c.out.Output), text, len(text))
		}
	}
}

func TestACommandThatStartsTooLateIsEnded(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(st *stage) *ahp.Error{
		"no answer": func(st *stage) *ahp.Error {
			return st.agent.asks(7, wire.MethodCreate, command("cat")).Error
		},
		"cancelled": func(st *stage) *ahp.Error {
			st.agent.sends(requestLine("8", wire.MethodCreate, command("cat")))
			<-st.sieve.came
			st.agent.sends(notificationLine(methodCancel, params{"requestId": 8}))
			return st.agent.message().Error
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStage(t, func(p *Proxy) {
				if name == "no answer" {
					p.answerWait = 2 * time.Second // also for the end
				}
			})
			st.handshake(false)
			st.sieve.holdBack(`"terminal/create"`)
			if e := fail(st); e == nil {
				t.Fatal("it succeeds")
			}
			st.sieve.pass(t)
			ends(t, st.only())
		})
	}
}
