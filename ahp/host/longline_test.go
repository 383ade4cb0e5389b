package host_test

import (
	"errors"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

const (
	// lineLengths prints the length of each line that it reads.
	lineLengths = `echo ready; while IFS= read -r l; do echo "<${#l}>"; done`
	cutsRule    = "the terminal keeps 4095 bytes of a line and would drop the rest: nothing was " +
		"typed; break the line, or send a file"
)

// cuts checks that an input is refused because the terminal would cut it.
func cuts(t *testing.T, by string, err error) {
	t.Helper()
	var denied *authz.Denied
	if !errors.As(err, &denied) || denied.Rule != cutsRule {
		t.Errorf("%s: %v", by, err)
	}
}

func TestALineThatTheTerminalWouldCutIsRefusedByEveryWay(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	agent := connect(t, h, bot, "agent")
	uri := agent.create("x", "/bin/sh", "-c", lineLengths)
	term := lookup(h, uri)
	awaitOutput(t, h, term, "ready")
	long := strings.Repeat("x", 4096) + "\r"

	if got := agent.dispatch(uri, ahp.TerminalInput{Data: []byte(long)}); got != cutsRule {
		t.Errorf("AHP: %q", got)
	}
	ann := door(t, h, alice, host.DoorSSH)
	cuts(t, "send", ann.Send(t.Context(), term, []byte(long)))
	cuts(t, "typing a stream", ann.Type(t.Context(), term, []byte(long)))
	cuts(t, "typing a line", ann.SendLine(t.Context(), term, long, false))
	window := attach(t, h, alice, "x", window)
	cuts(t, "a window", window.a.Input([]byte(long)))

	window.a.Fresh()
	hosttest.Check(t, window.a.Input([]byte("end\r")))
	awaitOutput(t, h, term, "<3>")
	if got := text(state(t, h, term)); strings.Count(got, "<") != 1 {
		t.Errorf("it has read %q", got)
	}
}

// A paste comes in pieces: what follows the piece that was refused would be a line of its own.
func TestTheRestOfAPasteThatDoesNotFitIsNotTyped(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, alice, "x", lineLengths)
	awaitOutput(t, h, term, "ready")
	window := attach(t, h, alice, "x", window)
	hosttest.Check(t, window.a.Input([]byte(strings.Repeat("x", 4000))))
	cuts(t, "the second piece", window.a.InputLater([]byte(strings.Repeat("x", 200))))
	var lost *host.LostError
	if err := window.a.InputLater([]byte("; touch all\r")); !errors.As(err, &lost) {
		t.Errorf("the rest: %v", err)
	}
	window.a.Fresh()
	hosttest.Check(t, window.a.Input([]byte("\x15end\r")))
	awaitOutput(t, h, term, "<3>")
	if got := text(state(t, h, term)); strings.Count(got, "<") != 1 {
		t.Errorf("it has read %q", got)
	}
}

func TestNobodyIsAskedForALineThatTheTerminalWouldCut(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, lineLengths)
	awaitOutput(t, g.h, g.term, "ready")
	line := ": " + strings.Repeat("x", 4095-len(": ; touch all")) + "; touch all-but-this\r"
	if got := g.agent.dispatch(g.term.URI(), ahp.TerminalInput{Data: []byte(line)}); got != cutsRule {
		t.Errorf("the agent is told %q", got)
	}
	g.holds()
}

// A person types behind the agent's back: the line that was to be approved has a beginning now.
func TestAnApprovedLineThatDoesNotFitAnyMoreIsNotTyped(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, lineLengths)
	awaitOutput(t, g.h, g.term, "ready")
	l := listen(t, g.h, alice, g.term)
	seq := g.asks(strings.Repeat("x", 3000) + "\r")
	hosttest.Check(t, g.bob.Send(t.Context(), g.term, []byte(strings.Repeat("y", 2000))))
	var err error
	hosttest.Eventually(t, "a person has seen that it has a beginning now", func() bool {
		_, err = g.ann.Asks(g.term)
		hosttest.Check(t, err)
		_, err = g.ann.Decide(g.term, nil, "", host.ApproveOnce, "")
		return err == nil || !strings.Contains(err.Error(), "list anew")
	})
	cuts(t, "the yes", err)
	g.rejected(seq, cutsRule)
	g.holds()
	e := l.until(host.EventRefused)
	if e.By != g.ann.Name() || !strings.Contains(e.Reason, cutsRule) {
		t.Errorf("people are told %+v", e)
	}
	hosttest.Check(t, g.bob.Send(t.Context(), g.term, []byte("\x15end\r")))
	awaitOutput(t, g.h, g.term, "<3>")
	if got := text(state(t, g.h, g.term)); strings.Count(got, "<") != 1 {
		t.Errorf("it has read %q", got)
	}
}
