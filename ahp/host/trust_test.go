package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/store"
	"termhost/authz"
)

// newGuardedShell is newGuarded with bash at its prompt, in an empty home directory. integrated:
// its shell tells of its commands.
func newGuardedShell(t *testing.T, integrated bool) *guarded {
	t.Helper()
	return newGuardedShellOf(t, integrated, bot)
}

// newGuardedShellOf is newGuardedShell with an agent of one's choice.
func newGuardedShellOf(t *testing.T, integrated bool, agent authz.Principal) *guarded {
	t.Helper()
	slowtest.Programs(t, "bash")
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	h := hosttest.New(t, func(c *host.Config) { c.ShellIntegration, c.Shell = integrated, bash })
	g := &guarded{t: t, h: h, dir: t.TempDir(), agent: connect(t, h, agent, "agent")}
	host.SetHome(h, g.dir)
	writeFile(t, g.home(".bashrc"), "PS1='prompt> '\n")
	g.agent.create("x", "")
	g.term = lookup(h, ahp.TerminalURI("x"))
	g.ann, g.bob = door(t, h, alice, host.DoorSSH), door(t, h, hosttest.Principal("bob", authz.Admin), host.DoorSSH)
	st := g.agent.subscribe(g.term.URI())
	if integrated && !st.Detection {
		g.agent.until("detection", is(ahp.TerminalCommandDetectionAvailable{}))
	}
	awaitOutput(t, g.h, g.term, "prompt> ")
	if err := g.ann.SetGuard(g.term, true); err != nil {
		t.Fatal(err)
	}
	return g
}

// home returns the path of a file in the home directory of the shell.
func (g *guarded) home(name string) string { return filepath.Join(g.dir, name) }

// trusts has a person say yes to all to what the agent asks to type.
func (g *guarded) trusts(text string) {
	g.t.Helper()
	seq := g.asks(text)
	g.decides(g.ann, "", host.ApproveAll, "")
	g.rejected(seq, "")
}

// begins waits until trust is for the command that has begun, if it is not over by then.
func (g *guarded) begins() {
	g.t.Helper()
	hosttest.Eventually(g.t, "the command that is trusted begins", func() bool {
		return host.TrustBegan(g.term)
	})
}

// types has the agent type what needs no approval.
func (g *guarded) types(text string) {
	g.t.Helper()
	if why := g.agent.dispatch(g.term.URI(), ahp.TerminalInput{Data: []byte(text)}); why != "" {
		g.t.Fatalf("%q is refused: %s", text, why)
	}
}

// person types as one who may decide.
func (g *guarded) person(text string) {
	g.t.Helper()
	if err := g.ann.Send(g.t.Context(), g.term, []byte(text)); err != nil {
		g.t.Fatal(err)
	}
}

// awaitFile waits until a file in the home directory has text.
func (g *guarded) awaitFile(name, want string) {
	g.t.Helper()
	hosttest.Eventually(g.t, name+" has its text", func() bool {
		text, _ := os.ReadFile(g.home(name))
		return string(text) == want
	})
}

// listens returns a listener for what happens to the terminal.
func (g *guarded) listens() *listener { return listen(g.t, g.h, alice, g.term) }

func TestAYesToAllEndsWithTheCommand(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	g.asks("x")
	if _, err := g.ann.Decide(g.term, nil, g.first(), host.ApproveAll, ""); message(err) != untold {
		t.Errorf("yes to all where nothing tells of commands: %v", err)
	}
	g = newGuardedShell(t, true)
	first, second := g.asks("cat\r"), g.asks("queued\r")
	g.decides(g.ann, "", host.ApproveAll, "")
	g.rejected(first, "")
	g.rejected(second, "")
	other := connect(t, g.h, bot, "other")
	other.c.Dispatch(g.term.URI(), 1, ahp.TerminalInput{Data: []byte("of another\r")})
	g.holds("of another\r")
	g.decides(g.ann, "", host.RefuseOnce, "")
	g.types("free\r")
	g.types("\x04")
	g.agent.until("its end", ofType("terminal/commandFinished"))
	g.asks("ls\r")
	g.holds("ls\r")
}

// What a shell tells of its commands can be turned off by a file that it sources.
func TestAYesToAllEndsWithASourcedFileThatSilencesTheShell(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"that runs something": "/bin/sleep 0.2; ",
		"that runs nothing":   "",
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuardedShell(t, true)
			writeFile(t, g.home("silent"), "unset PROMPT_COMMAND PS0; trap - DEBUG; PS1='silent$ '; "+
				script+"touch begun\n")
			l := g.listens()
			g.trusts(". ./silent\r")
			g.awaitFile("begun", "")
			awaitOutput(t, g.h, g.term, "silent$ ")
			g.asks("touch more\r")
			g.holds("touch more\r")
			g.decides(g.ann, "", host.ApproveOnce, "") // which must not begin what is trusted
			g.awaitFile("more", "")
			g.asks("touch evermore\r")
			g.decides(g.ann, "", host.RefuseOnce, "")
			l.until(host.EventTrustOver)
			if _, err := os.Stat(g.home("evermore")); err == nil {
				t.Error("typed without a yes")
			}
		})
	}
}

func TestAYesToAllIsForTheProcessGroupInTheForeground(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command string
		typed   []string // what passes
		shown   string   // when the command has it
		end     string   // what a person types
		asked   string   // is held then
	}{
		"a pipeline": {command: "cat | tr a-z A-Z | cat\r", typed: []string{"a\r", "b\r"},
			end: "\x04", asked: "c\r"},
		"one that is stopped": {command: "cat\r", typed: []string{"a\r"}, shown: "a\r\na\r\n",
			end: "\x1a", asked: "b\r"}, // before it is executed, bash ignores ctrl-Z for it
		"a script with groups of its own": {command: "bash -mc 'cat; cat; true'\r",
			end: "\x04", asked: "a\r"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuardedShell(t, true)
			l := g.listens()
			g.trusts(c.command)
			g.begins()
			for _, text := range c.typed {
				g.types(text)
			}
			if c.shown != "" {
				awaitOutput(t, g.h, g.term, c.shown)
			}
			g.person(c.end)
			l.until(host.EventTrustOver)
			g.asks(c.asked)
			g.holds(c.asked)
		})
	}
}

// A builtin reads in the shell's own group, as the prompt does.
func TestAYesToAllIsNotForABuiltin(t *testing.T) {
	t.Parallel()
	g := newGuardedShell(t, true)
	g.trusts("read x\r")
	g.agent.until("the command", ofType("terminal/commandExecuted"))
	answer := g.asks("touch F\r")
	g.holds("touch F\r")
	g.decides(g.ann, "", host.ApproveOnce, "")
	g.rejected(answer, "")
	g.agent.until("its end", ofType("terminal/commandFinished"))
	g.asks("ls\r")
	if is, err := g.ann.Asks(); err != nil || !is[0].All {
		t.Errorf("at the prompt: %+v, %v", is, err)
	}
}

func TestAYesToAllNeedsNoMarksWhileACommandRuns(t *testing.T) {
	t.Parallel()
	g := newGuardedShell(t, false)
	g.asks("cat\r")
	if _, err := g.ann.Decide(g.term, nil, g.first(), host.ApproveAll, ""); message(err) != untold {
		t.Errorf("at the prompt of a shell that tells nothing: %v", err)
	}
	l := g.listens()
	g.decides(g.ann, "", host.ApproveOnce, "")
	awaitOutput(t, g.h, g.term, "prompt> cat\r\n")
	g.runs()
	g.trusts("one\r")
	g.types("two\r")
	g.person("\x04")
	l.until(host.EventTrustOver)
	g.asks("ls\r")
	g.holds("ls\r")
}

// waitsThenCopies is a program that reads nothing until the file go is there.
const waitsThenCopies = "until [ -e go ]; do sleep 0.02; done; exec cat >out"

func TestWhatIsTypedAheadIsDroppedWhenAYesToAllEnds(t *testing.T) {
	t.Parallel()
	g := newGuardedShell(t, true)
	v := attach(t, g.h, alice, "x", window)
	g.trusts("sh -c '" + waitsThenCopies + "'\r")
	g.begins()
	g.types("ahead\r")
	g.types(strings.Repeat("ahead and more\r", 1000)) // more than a tty takes
	host.EndTrust(g.term)
	for {
		if n := v.noted(); n.Kind == host.NoteTrustOver {
			if n.Agent != "alice/bot" || n.Why != "its time is up" {
				t.Errorf("the viewer is told %+v", n)
			}
			break
		}
	}
	g.asks("late\r")
	writeFile(t, g.home("go"), "")
	g.person("a person's\r\x04")
	g.awaitFile("out", "a person's\n")
}

// TestTheEndOfAYesToAllIsToldToThoseWhoReadAllAsks looks at what peers of AHP are told.
func TestTheEndOfAYesToAllIsToldToThoseWhoReadAllAsks(t *testing.T) {
	t.Parallel()
	g := newGuardedShell(t, true)
	peers := map[string]*peer{}
	for name, who := range map[string]authz.Principal{
		"a page": pageOf(alice, authz.Operator), "the agent": bot, "an observer": eve, "no asker": alice,
	} {
		p := connect(t, g.h, who, name)
		if name != "no asker" {
			p.c.Subscriber().WantAsks()
		}
		p.subscribe(g.term.URI())
		peers[name] = p
	}
	l := g.listens()
	g.trusts("sh -c '" + waitsThenCopies + "'\r")
	g.begins()
	if err := g.ann.SetGuard(g.term, false); err != nil {
		t.Fatal(err)
	}
	l.until(host.EventTrustOver)
	for name, p := range peers {
		var told []store.TrustOver
		for _, e := range p.pending() {
			if over, ok := e.Action().(store.TrustOver); ok && e.Channel() == g.term.URI() {
				told = append(told, over)
			}
		}
		var want []store.TrustOver
		if name == "a page" {
			want = append(want, store.TrustOver{By: "alice/bot", Why: "the guard was set anew"})
		}
		if !slices.Equal(told, want) {
			t.Errorf("%s is told %+v, want %+v", name, told, want)
		}
	}
	g.person("\x03")
}

func TestWhatAgentsTypedAheadIsDroppedWhenTheGuardGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := hosttest.New(t)
	g := &guarded{t: t, h: h, agent: connect(t, h, bot, "agent"), ann: door(t, h, alice, host.DoorSSH), dir: dir}
	host.SetHome(h, dir)
	g.agent.create("x", "/bin/sh", "-c", "cd "+dir+"; "+waitsThenCopies)
	g.term = lookup(h, ahp.TerminalURI("x"))
	g.types("ahead\r")
	g.types(strings.Repeat("ahead and more\r", 1000))
	if err := g.ann.SetGuard(g.term, true); err != nil {
		t.Fatal(err)
	}
	writeFile(t, g.home("go"), "")
	g.person("a person's\r\x04")
	g.awaitFile("out", "a person's\n")
}
