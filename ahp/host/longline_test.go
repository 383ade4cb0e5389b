package host_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
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

// evals runs what it reads line by line, while the terminal edits lines.
const evals = `dash -c 'while IFS= read -r l; do eval "$l"; done'` + "\r"

// The shell reads one key at a time, and what its first line starts reads lines.
func TestNobodyIsAskedForALaterLineThatAnotherProgramWouldReadCut(t *testing.T) {
	t.Parallel()
	slowtest.Programs(t, "dash")
	g := newGuardedShell(t, true)
	long := ": " + strings.Repeat("x", 4095-len(": ; touch all")) + "; touch all-but-this\r"
	for by, text := range map[string]string{
		"behind a line":             evals + long,
		"behind two":                evals + "\n" + long,
		"with its end quoted":       evals + strings.Repeat("y", 4000) + "\x16\r" + strings.Repeat("z", 95),
		"erased in part":            evals + strings.Repeat("y", 4096) + "\x7f\x7f\r",
		"behind a paste":            "\x1b[200~true\x1b[201~\r" + long,
		"in what is no paste":       ": \x16\x1b[200~; " + evals + long + "\x1b[201~\r",
		"with ends that are none":   "stty -icrnl; cat\n" + strings.Repeat("y", 3000) + "\r" + strings.Repeat("z", 2000) + "\n",
		"in what quotes nothing":    "stty -iexten; cat\n" + strings.Repeat("\x16", 4500) + "\n",
		"without an end of its own": evals + long[:4096],
	} {
		if got := g.agent.dispatch(g.term.URI(), ahp.TerminalInput{Data: []byte(text)}); got != cutsRule {
			t.Errorf("%s: the agent is told %q", by, got)
		}
	}
	g.holds()
	// What the shell itself reads has no such bound.
	line := ": " + strings.Repeat("x", 5000)
	for _, text := range []string{line + "\r", "\x1b[200~true\r" + line + "\r\x1b[201~\r"} {
		g.asks(text)
		if err := g.ann.SetGuard(g.term, false); err != nil {
			t.Fatal(err)
		}
		hosttest.Check(t, g.ann.SetGuard(g.term, true))
	}
}

func TestAnAgentIsRefusedALaterLineThatAnotherProgramWouldReadCut(t *testing.T) {
	t.Parallel()
	slowtest.Programs(t, "dash")
	g := newGuardedShell(t, true)
	hosttest.Check(t, g.ann.SetGuard(g.term, false))
	lines := ahp.TerminalInput{Data: []byte(evals + strings.Repeat("x", 4096) + "\r")}
	if got := g.agent.dispatch(g.term.URI(), lines); got != cutsRule {
		t.Errorf("the agent is told %q", got)
	}
	echo := ahp.TerminalInput{Data: []byte("echo nothing $((1+1)) before\r")}
	if got := g.agent.dispatch(g.term.URI(), echo); got != "" {
		t.Fatalf("a line that fits: %q", got)
	}
	awaitOutput(t, g.h, g.term, "nothing 2 before")
	if got := text(state(t, g.h, g.term)); strings.Contains(got, "dash") {
		t.Errorf("some of it was typed: %q", got)
	}
}

// A person types a beginning for the line that was approved, and waits for the program to read it.
func TestPeopleAreToldThatWhatTheyApprovedWasDroppedUnread(t *testing.T) {
	t.Parallel()
	start := filepath.Join(t.TempDir(), "start")
	hosttest.Check(t, unix.Mkfifo(start, 0o600))
	g := newGuarded(t, "echo begun; read -r _ <"+start+"; "+lineLengths)
	awaitOutput(t, g.h, g.term, "begun")
	v := attach(t, g.h, alice, "x", window)
	l := g.listens()
	g.asks(strings.Repeat("x", 3000) + "\r")
	g.decides(g.bob, g.first(), host.ApproveOnce, "")
	if n := v.noted(); n.Kind != host.NoteApproved {
		t.Fatalf("the viewer is told %+v", n)
	}
	hosttest.Check(t, g.bob.Send(t.Context(), g.term, []byte(strings.Repeat("y", 2000))))
	writeFile(t, start, "")

	const why = "the terminal keeps 4095 bytes of a line and would drop the rest; break the line, " +
		"or send a file"
	if n := v.noted(); n.Kind != host.NoteUntyped || n.Agent != "alice/bot" || n.Why != why {
		t.Errorf("the viewer is told %+v", n)
	}
	if e := l.until(host.EventRefused); e.To != g.agent.c.Name() || e.Reason != why {
		t.Errorf("the feed has %+v", e)
	}
	var denied *authz.Denied
	if _, err := g.term.Ahead(t.Context()); !errors.As(err, &denied) || denied.Rule != why {
		t.Errorf("who asks what waits is told %v", err)
	}
	hosttest.Check(t, g.bob.Send(t.Context(), g.term, []byte("\x15end\r")))
	awaitOutput(t, g.h, g.term, "<3>")
}

// Interrupts before others are typed as all else is, each of them.
func TestInterruptsThatComeTogetherAreAllTyped(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, `trap 'echo a quit' QUIT; trap 'echo an int' INT; echo ready
		while :; do read -r line && echo "<$line>"; done`)
	awaitOutput(t, g.h, g.term, "ready")
	g.asks("\x1c\x03whole\r")
	g.decides(g.ann, "", host.ApproveOnce, "")
	awaitOutput(t, g.h, g.term, "<whole>")
	for _, signal := range []string{"a quit", "an int"} {
		if got := text(state(t, g.h, g.term)); !strings.Contains(got, signal) {
			t.Errorf("no %s: %q", signal, got)
		}
	}
}

// What a terminal drops at an interrupt is not what a person has agreed to.
func TestNobodyIsAskedForWhatAnInterruptWouldDrop(t *testing.T) {
	t.Parallel()
	g := newGuardedShell(t, true)
	const rule = "an interrupt (such as ^C) drops what is typed before it: nothing was typed; " +
		"send the interrupt by itself, and then the rest"
	for _, text := range []string{"cd sub\r\x03touch here\r", "x\x03", "\x03x\x1c", "a\x1ab\r"} {
		if got := g.agent.dispatch(g.term.URI(), ahp.TerminalInput{Data: []byte(text)}); got != rule {
			t.Errorf("%q: the agent is told %q", text, got)
		}
	}
	g.holds()
	g.asks("\x03touch here\r")
	g.asks("\x03\x03touch here\r")
	hosttest.Check(t, g.ann.SetGuard(g.term, false))
	// Unguarded an agent breaks off the line that it types, and no other.
	for text, want := range map[string]string{
		"cd sub\r\x03touch here\r":            rule,
		"\x1b[200~cd sub\r\x1b[201~\x03ls\r":  rule,
		"\x1b[200~cd sub\x03touch\x1b[201~\r": rule,
		"half a line\x03":                     "",
	} {
		if got := g.agent.dispatch(g.term.URI(), ahp.TerminalInput{Data: []byte(text)}); got != want {
			t.Errorf("%q: the agent is told %q", text, got)
		}
	}
	if got := text(state(t, g.h, g.term)); strings.Contains(got, "sub") {
		t.Errorf("it was typed %q", got)
	}
}
