package acpproxy

import (
	"encoding/json"
	"testing"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
)

// output returns what the agent gets for a terminal/output.
func (st *stage) output(id string) (out wire.OutputResult) {
	st.t.Helper()
	r := st.agent.asks(8, wire.MethodOutput, of(id))
	if r.Error != nil {
		st.t.Fatal(r.Error)
	}
	check(st.t, json.Unmarshal(r.Result, &out))
	return out
}

func TestTerminalsAreThereAfterARestartOfTheHost(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(command("sh", "-c", "echo some; echo text; exit 3"))
	failed := st.creates(command("no-such-program"))
	ends(t, st.only())
	before := st.output(c.TerminalID)
	// A wait that has not reached the host reaches the next one.
	st.sieve.holdBack(wire.MethodWait)
	st.agent.sends(requestLine("20", wire.MethodWait, of(c.TerminalID)))
	<-st.sieve.came
	st.sieve.drop()
	st.restart()
	var exit wire.ExitStatus
	r := st.agent.message()
	check(t, json.Unmarshal(r.Result, &exit))
	wantCode(t, exit, 3)
	if out := st.output(c.TerminalID); out.Output != before.Output || out.Truncated {
		t.Errorf("the output is %+v, was %+v", out, before)
	}
	if out := st.output(failed.TerminalID); *out.ExitStatus.ExitCode != 127 {
		t.Errorf("the one that was not started has %+v", out)
	}
	for _, id := range []string{c.TerminalID, failed.TerminalID} {
		for i, method := range otherMethods[1:] {
			if r := st.agent.asks(30+i, method, of(id)); r.Error != nil {
				t.Errorf("%s: %v", method, r.Error)
			}
		}
		st.agent.asks(40, wire.MethodOutput, of(id)).refused(t, wire.CodeNoSuchTerminal, "released")
	}
	st.creates(command("true"))
}

func TestTheTextOfATerminalGoesOnAfterARestartOfTheHost(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(command("sh", "-c", "echo working"))
	ends(t, st.only())
	st.restart()
	st.agent.sends(embed("tool_call", "c1", c.TerminalID))
	st.sees("```\nworking\n```")
}

func TestACommandWhoseAnswerIsLostIsFoundAgain(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	st.sieve.deaf.Store(true)
	st.agent.sends(requestLine("7", wire.MethodCreate, command("echo", "once")))
	ends(t, st.only())
	st.restart()
	r := st.agent.message()
	if r.Error != nil {
		t.Fatal(r.Error)
	}
	var c wire.CreateResult
	check(t, json.Unmarshal(r.Result, &c))
	if out := st.output(c.TerminalID); out.Output != "once\r\n" {
		t.Errorf("the output is %+v", out)
	}
	st.only()
}

// TestAConnectionThatIsLostEndsItsTerminals is about a host that goes on.
func TestAConnectionThatIsLostEndsItsTerminals(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.handshake(false)
	c := st.creates(command("cat"))
	st.agent.sends(requestLine("3", wire.MethodWait, of(c.TerminalID)))
	term := st.only()
	st.sieve.deaf.Store(true)
	st.agent.sends(requestLine("4", wire.MethodCreate, command("cat")))
	st.listed(2)
	st.lose()
	ends(t, term)
	for range 2 {
		const why = "has ended with the connection to the host; start the command again"
		st.agent.message().refused(t, ahp.CodeInternal, why)
	}
	for i, method := range otherMethods {
		r := st.agent.asks(10+i, method, of(c.TerminalID))
		r.refused(t, ahp.CodeInternal, "has ended with the connection to the host")
	}
	st.creates(command("true"))
	st.listed(3) // no command was started twice
}
