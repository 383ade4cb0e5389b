package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
)

// sentinel is what the proxy passes on as it is: before it nothing else has come.
const sentinel = `{"jsonrpc":"2.0","method":"x"}` + "\n"

// TestTheTextIsFinalBeforeTheRelease has the host not show a terminal before it is
// forgotten.
func TestTheTextIsFinalBeforeTheRelease(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(params{"command": "echo", "args": []string{"in time"}})
	st.sieve.keeps(`"subscribe"`)
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.editor.sees("```\n\n```")
	st.agent.asks(8, methodWait, of(c.TerminalID))
	term, err := st.host.Find(alice, c.Meta.Termhost.Name)
	check(t, err)
	if r := st.agent.asks(9, methodRelease, of(c.TerminalID)); r.Error != nil {
		t.Fatal(r.Error)
	}
	st.editor.sees("```\nin time\n```")
	check(t, st.host.Dispose(alice, term))
	st.sieve.pass(t)
	st.agent.sends(sentinel)
	st.editor.gets(sentinel)
}

// TestWhatWasReleasedWhileItRanKeepsItsText is the same for a command that the
// release ends.
func TestWhatWasReleasedWhileItRanKeepsItsText(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(params{"command": "sh", "args": []string{"-c", "echo up; exec sleep 300"}})
	st.sieve.keeps(`"subscribe"`)
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.editor.sees("```\n\n```")
	for out := (outputResult{}); out.Output != "up\r\n"; {
		check(t, json.Unmarshal(st.agent.asks(8, methodOutput, of(c.TerminalID)).Result, &out))
	}
	term, err := st.host.Find(alice, c.Meta.Termhost.Name)
	check(t, err)
	if r := st.agent.asks(9, methodRelease, of(c.TerminalID)); r.Error != nil {
		t.Fatal(r.Error)
	}
	<-term.Done()
	check(t, st.host.Dispose(alice, term))
	st.sieve.pass(t)
	st.editor.sees("```\nup\n```")
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
			c := st.creates(params{"command": "sh", "args": []string{"-c", "stty -echo; echo one; read x; echo two; read x"}})
			st.agent.sends(embed("tool_call", "c1", c.TerminalID))
			_, wait := st.showsLive()
			st.editor.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", wait.ID, end))
			st.editor.sees("```\n\n```") // as far as it is known
			released := false
			for text := ""; !released || text != "```\none\n```"; {
				m := st.editor.message()
				if m.Method == methodRelease {
					released = true
					st.answers(m, `{}`)
					continue
				}
				var u updateSeen
				check(t, json.Unmarshal(m.Params, &u))
				text = u.Update.Content[1].Content.Text
			}
			term, err := st.host.Find(alice, c.Meta.Termhost.Name)
			check(t, err)
			st.types(term, "\r")
			st.editor.sees("```\none\ntwo\n```")
		})
	}
}

// TestAViewThatEndsAsItsCommandStays, and one that ends otherwise, after it, does
// not.
func TestAViewThatEndsAsItsCommandStays(t *testing.T) {
	t.Parallel()
	for status, stays := range map[string]bool{
		`{"exitCode":3,"signal":null}`: true,
		`{"exitCode":null}`:            true, // nobody knows
		`{"exitCode":255}`:             false,
	} {
		st := newStage(t)
		st.handshake(true)
		c := st.creates(params{"command": "sh", "args": []string{"-c", "echo text; read x; exit 3"}})
		st.agent.sends(embed("tool_call", "c1", c.TerminalID))
		_, wait := st.showsLive()
		term, err := st.host.Find(alice, c.Meta.Termhost.Name)
		check(t, err)
		st.types(term, "\r")
		st.agent.asks(8, methodWait, of(c.TerminalID))
		st.answers(wait, status)
		if !stays {
			st.editor.sees("```\n\n```")
			continue
		}
		if r := st.agent.asks(9, methodRelease, of(c.TerminalID)); r.Error != nil {
			t.Fatal(r.Error)
		}
		if m := st.editor.message(); m.Method != methodRelease {
			t.Errorf("%s: the editor gets %s %s", status, m.Method, m.Params)
		}
	}
}

func TestAnEditorsTerminalThatComesTooLateIsGivenBackAtOnce(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(true)
	c := st.creates(params{"command": "echo", "args": []string{"quick"}})
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.editor.sees("```\n\n```")
	q := st.editor.message()
	st.editor.sees("```\nquick\n```")
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
		c := st.creates(params{"command": "sh", "args": []string{"-c", "echo hi; exec cat"}})
		shown += embed("tool_call", fmt.Sprint("c", i), c.TerminalID)
	}
	go st.agent.pours(shown)
	var asked []reply
	texts := map[string]bool{}
	next := func() {
		m := st.editor.message()
		if m.Method == methodCreate {
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
			st.editor.pours(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"terminalId":%s}}`+"\n", q.ID, q.ID))
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
		c := st.creates(params{"command": "cat"})
		st.agent.sends(embed("tool_call", "c1", c.TerminalID))
		st.editor.sees("```\n\n```")
		st.editor.message() // it is asked for a terminal
		end(st)
		go st.editor.untilAll(2) // reads on
		st.agent.out.Close()
		st.ended <- <-st.ended
		st.mu.Lock()
		if len(st.notes) > 0 {
			t.Errorf("the notes are %q", st.notes)
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
		out outputResult
		cut bool
	}{
		{outputResult{Output: lines(maxTextLines)}, false},
		{outputResult{Output: lines(maxTextLines + 100)}, true},
		{outputResult{Output: strings.Repeat("0123456789", maxText/10+1)}, true},
		{outputResult{Output: "the end", Truncated: true}, true},
	} {
		text := (&Proxy{}).rendered(&remote{text: textView{cols: hostCols, rows: hostRows}}, &c.out)
		if got := strings.HasPrefix(text, cutMark); got != c.cut {
			t.Errorf("%d bytes are shown as %.20q, %d bytes", len(c.out.Output), text, len(text))
		}
	}
}

func TestACommandThatStartsTooLateIsEnded(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(st *stage) *ahp.Error{
		"no answer": func(st *stage) *ahp.Error {
			return st.agent.asks(7, methodCreate, params{"sessionId": "s", "command": "cat"}).Error
		},
		"cancelled": func(st *stage) *ahp.Error {
			st.agent.sends(`{"jsonrpc":"2.0","id":8,"method":"terminal/create","params":{"sessionId":"s","command":"cat"}}` + "\n")
			<-st.sieve.came
			st.agent.sends(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":8}}` + "\n")
			return st.agent.message().Error
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStage(t, func(p *Proxy) {
				if name == "no answer" {
					p.answerWait = 100 * time.Millisecond
				}
			})
			st.handshake(false)
			st.sieve.keeps(`"terminal/create"`)
			if e := fail(st); e == nil {
				t.Fatal("it succeeds")
			}
			st.sieve.pass(t)
			listed(t, st.host, 1)
			list, err := st.host.List(alice)
			check(t, err)
			term, err := st.host.Find(alice, list[0].Name)
			check(t, err)
			select {
			case <-term.Done():
			case <-time.After(patience):
				t.Fatal("it runs, and nobody knows of it")
			}
		})
	}
}
