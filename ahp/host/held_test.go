package host_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

// busyUntil returns a command that waits for something else than the terminal, and what ends that.
func busyUntil(t *testing.T) (command string, end func()) {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	return "head -c1 <" + fifo + " >/dev/null", func() {
		if err := os.WriteFile(fifo, []byte("x"), 0); err != nil {
			t.Error(err)
		}
	}
}

// types has an agent type, which is taken at once.
func (p *peer) types(uri, text string) {
	p.t.Helper()
	if got := p.dispatch(uri, ahp.TerminalInput{Data: []byte(text)}); got != "" {
		p.t.Fatalf("%.40q is answered with %q", text, got)
	}
}

// awaitHeld waits until so many bytes are held, and the peers are told.
func awaitHeld(tb testing.TB, h *host.Host, term *host.Terminal, want int) {
	tb.Helper()
	hosttest.Eventually(tb, fmt.Sprintf("%d bytes are held", want), func() bool {
		held, _ := host.Queued(term)
		return held == want && state(tb, h, term).Termhost.Held == want
	})
}

func TestWhatAnAgentTypesBeforeAProgramReadsIsNoSecretOfIts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ needs, ask string }{
		"read -s":          {"bash", `bash -c 'read -s p; echo "got <$p>"'`},
		"read -s -p":       {"bash", `bash -c 'read -s -p Password: p; echo "got <$p>"'`},
		"without a prompt": {"sh", `stty -echo; read p; echo "got <$p>"`},
		"getpass": {"python3",
			`python3 -c 'import getpass; print("got <%s>" % getpass.getpass())'`},
		"behind a line": {"bash", `read first; bash -c 'read -s p; echo "$1 got <$p>"' - $first`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slowtest.Programs(t, c.needs)
			h := hosttest.New(t)
			busy, end := busyUntil(t)
			agent := connect(t, h, bot, "agent")
			uri := agent.create("x", "/bin/sh", "-c", "echo ready; "+busy+"; "+c.ask)
			term := lookup(h, uri)
			awaitOutput(t, h, term, "ready")
			text := "guess\r"
			if name == "behind a line" {
				text = "one\rguess\r"
			}
			agent.types(uri, text)
			awaitHeld(t, h, term, len(text))
			end()
			hosttest.Eventually(t, "it is refused", func() bool {
				return state(agent.t, h, term).Termhost.Refused == "a person must type this"
			})
			if got := state(agent.t, h, term).Termhost.Held; got != 0 {
				t.Errorf("%d bytes are held yet", got)
			}
			person := attach(t, h, alice, "x", window)
			if err := person.a.Input([]byte("mine\r")); err != nil {
				t.Fatal(err)
			}
			awaitOutput(t, h, term, "got <mine>")
		})
	}
}

// What is held comes in its order, complete, to whatever reads, and at the pace of the reader.
func TestWhatIsHeldIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ needs, reads, text, want string }{
		"read": {"sh", `read a; read b; echo "<$a><$b>"`, "one\rtwo\r", "<one><two>"},
		"cat":  {"cat", `cat >f; wc -l <f; echo end`, "a\rb\rc\r\x04", "3\r\nend"},
		"by bytes": {"dd", `x=$(dd bs=1 count=6 2>/dev/null | tr abc xyz); echo "<$x>"`,
			"a\rb\rc\r", "<x\r\ny\r\nz>"},
		"by blocks": {"dd", `x=$(dd bs=4096 count=2 2>/dev/null | tr abc xyz); echo "<$x>"`,
			"a\rb\r", "<x\r\ny>"},
		"cat | tr": {"cat", `x=$(cat | tr abc xyz); echo "<$x>"`, "a\rb\r\x04", "<x\r\ny>"},
		"python": {"python3", `python3 -c 'print("<%s><%s>" % (input(), input()))'`,
			"one\rtwo\r", "<one><two>"},
		"a poll": {"python3", `python3 -c '
import os, select
for i in "ab":
    select.select([0], [], [])
    print("<%s>" % os.read(0, 99).decode().strip())'`, "one\rtwo\r", "<two>"},
		"epoll": {"python3", `python3 -c '
import os, select
e = select.epoll(); e.register(0, select.EPOLLIN)
for i in "ab":
    e.poll()
    print("<%s>" % os.read(0, 99).decode().strip())'`, "one\rtwo\r", "<two>"},
		"no end of line": {"sh", `read a; echo "<$a>"`, "half\x04\x04", "<half>"},
		"a raw program": {"head", `stty raw -echo; echo raw; head -c 8 | tr abc xyz`,
			"a\rb\rc\rab", "x\ry\rz\rxy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slowtest.Programs(t, c.needs)
			h := hosttest.New(t)
			busy, end := busyUntil(t)
			agent := connect(t, h, bot, "agent")
			uri := agent.create("x", "/bin/sh", "-c",
				"cd "+t.TempDir()+"; echo ready; "+busy+"; "+c.reads)
			term := lookup(h, uri)
			awaitOutput(t, h, term, "ready")
			agent.types(uri, c.text)
			awaitHeld(t, h, term, len(c.text))
			end()
			awaitOutput(t, h, term, c.want)
			awaitHeld(t, h, term, 0)
			if got := state(agent.t, h, term).Termhost.Refused; got != "" {
				t.Errorf("then %q", got)
			}
		})
	}
}

// A shell gets what is typed at its prompt a line at a time: the next line may be another
// program's.
func TestAShellsPromptTakesOneLineAtATime(t *testing.T) {
	t.Parallel()
	for shell, c := range map[string]struct{ args, ask string }{
		"bash": {"--norc -i", `read -s p; echo "got <$p>"`},
		"zsh":  {"-f", `read -s p; echo "got <$p>"`},
		"dash": {"", `stty -echo; head -n1 | tr m M; stty echo`},
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			slowtest.Programs(t, shell)
			h := hosttest.New(t)
			agent := connect(t, h, bot, "agent")
			uri := agent.create("x", "/bin/sh", "-c", "PS1='# ' PROMPT='# ' exec "+shell+" "+c.args)
			term := lookup(h, uri)
			awaitOutput(t, h, term, "# ")
			agent.types(uri, "echo one-$((1+1))\recho two-$((1+1))\r")
			awaitOutput(t, h, term, "one-2")
			awaitOutput(t, h, term, "two-2")
			agent.types(uri, c.ask+"\rguess\r")
			hosttest.Eventually(t, "it is refused", func() bool { return state(agent.t, h, term).Termhost.Refused != "" })
			person := attach(t, h, alice, "x", window)
			if err := person.a.Input([]byte("mine\r")); err != nil {
				t.Fatal(err)
			}
			hosttest.Eventually(t, "the person's answer is read", func() bool {
				st := state(agent.t, h, term)
				return strings.Contains(text(st), "got <mine>") || strings.Contains(text(st), "Mine")
			})
		})
	}
}

func TestWhatNoProgramReadsIsTypedAtThePrompt(t *testing.T) {
	t.Parallel()
	slowtest.Programs(t, "bash")
	h := hosttest.New(t)
	busy, end := busyUntil(t)
	agent := connect(t, h, bot, "agent")
	uri := agent.create("x", "/bin/sh", "-c", "PS1='# ' exec bash --norc -i")
	term := lookup(h, uri)
	awaitOutput(t, h, term, "# ")
	agent.types(uri, busy+"\r")
	agent.types(uri, "echo later-$((1+1))\r")
	awaitHeld(t, h, term, len("echo later-$((1+1))\r"))
	end()
	awaitOutput(t, h, term, "later-2")
}

func TestAPasteIntoCatArrivesComplete(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	dir := t.TempDir()
	agent := connect(t, h, bot, "agent")
	uri := agent.create("x", "/bin/sh", "-c", "cd "+dir+"; echo ready; cat >f; echo end")
	term := lookup(h, uri)
	awaitOutput(t, h, term, "ready")
	var paste bytes.Buffer
	for i := 0; paste.Len() < 60<<10; i++ {
		fmt.Fprintf(&paste, "line %d of what an agent pastes\n", i)
	}
	agent.types(uri, paste.String())
	agent.types(uri, "\x04")
	awaitOutput(t, h, term, "end")
	got, err := os.ReadFile(filepath.Join(dir, "f"))
	if err != nil || !bytes.Equal(got, paste.Bytes()) {
		t.Errorf("%d of %d bytes have arrived: %v", len(got), paste.Len(), err)
	}
}

// heldText has an agent of somebody's type what is held.
func heldText(t *testing.T, h *host.Host, by authz.Principal) (agent *peer, term *host.Terminal, end func()) {
	t.Helper()
	busy, end := busyUntil(t)
	agent = connect(t, h, by, "agent")
	uri := agent.create("x", "/bin/sh", "-c",
		// A child says that it runs: before, an interrupt would reach the shell only.
		`trap 'echo interrupted' INT; sh -c 'echo ready; exec `+busy+
			`'; while read a; do echo "<$a>"; done`)
	term = lookup(h, uri)
	awaitOutput(t, h, term, "ready")
	agent.types(uri, "held\r")
	if got, _ := host.Queued(term); got != 5 {
		t.Errorf("%d bytes are held", got)
	}
	return agent, term, end
}

func TestAnInterruptDoesNotWaitBehindWhatIsHeld(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	agent, term, _ := heldText(t, h, bot)
	agent.types(term.URI(), "more\x03after\r")
	awaitOutput(t, h, term, "interrupted")
	awaitOutput(t, h, term, "<after>")
	st := state(agent.t, h, term)
	if strings.Contains(text(st), "<held>") || strings.Contains(text(st), "<more>") {
		t.Errorf("what came before it was read: %q", text(st))
	}
	awaitHeld(t, h, term, 0)
}

func TestAPersonsKeysAreNeverHeld(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	_, term, end := heldText(t, h, carol)
	person := attach(t, h, carol, "x", window)
	if err := person.a.Input([]byte("person\r")); err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, h, term, "person\r\n") // the terminal's echo
	if got, _ := host.Queued(term); got != 5 {
		t.Errorf("%d bytes are held", got)
	}
	end()
	awaitOutput(t, h, term, "<person>")
}

func TestASeizedTerminalDropsWhatIsHeld(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	_, term, end := heldText(t, h, bot)
	dave := attach(t, h, hosttest.Principal("dave", authz.Admin), "x", window)
	if err := dave.a.Input([]byte("daves\r")); err != nil {
		t.Fatal(err)
	}
	awaitHeld(t, h, term, 0)
	end()
	awaitOutput(t, h, term, "<daves>")
	st := state(dave.t, h, term)
	if strings.Contains(text(st), "<held>") {
		t.Error("it was read")
	}
}

func TestAGuardDropsWhatIsHeld(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	_, term, _ := heldText(t, h, bot)
	person := attach(t, h, alice, "x", window)
	if err := person.c.SetGuard(term, true); err != nil {
		t.Fatal(err)
	}
	awaitHeld(t, h, term, 0)
	if got := state(person.t, h, term).Termhost.Refused; got != reasonGuarded {
		t.Errorf("the agent is told %q", got)
	}
}

func TestNoMoreThanABoundIsHeld(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	agent, term, _ := heldText(t, h, bot)
	line := ahp.TerminalInput{Data: []byte(strings.Repeat("x", 1023) + "\r")}
	for range 63 {
		if got := agent.dispatch(term.URI(), line); got != "" {
			t.Fatal(got)
		}
	}
	if got := agent.dispatch(term.URI(), line); got != reasonQueue {
		t.Errorf("one more is answered with %q", got)
	}
	if got := agent.dispatch(term.URI(), ahp.TerminalInput{Data: []byte{3}}); got != "" {
		t.Errorf("ctrl-C is answered with %q", got)
	}
	awaitHeld(t, h, term, 0)
}

func TestATokenThatTypesSecretsTypesAhead(t *testing.T) {
	t.Parallel()
	slowtest.Programs(t, "bash")
	h := hosttest.New(t)
	busy, end := busyUntil(t)
	p := bot
	p.TypesSecrets = true
	agent := connect(t, h, p, "agent")
	uri := agent.create("x", "bash", "-c", "echo ready; "+busy+`; read -s p; echo "got <$p>"`)
	term := lookup(h, uri)
	awaitOutput(t, h, term, "ready")
	agent.types(uri, "mine\r")
	if got, _ := host.Queued(term); got != 0 {
		t.Errorf("%d bytes are held", got)
	}
	end()
	awaitOutput(t, h, term, "got <mine>")
}
