package host_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"

	"golang.org/x/sys/unix"
)

// foregroundGroup returns the process group that reads a terminal; 0: it is not known.
func foregroundGroup(term *host.Terminal) int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", host.Pid(term)))
	_, behind, _ := strings.Cut(string(stat), ") ") // the program's name
	fields := strings.Fields(behind)                // from the third on, see proc(5)
	if len(fields) < 6 {
		return 0
	}
	group, _ := strconv.Atoi(fields[5])
	return group
}

// canonical reports whether a terminal gives its program whole lines only.
func canonical(term *host.Terminal) bool {
	tty, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/0", host.Pid(term)), os.O_RDONLY|unix.O_NOCTTY, 0)
	if err != nil {
		return true
	}
	defer tty.Close()
	modes, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	return err != nil || modes.Lflag&unix.ICANON != 0
}

// runs waits until a program other than the shell is in the foreground.
func (g *guarded) runs() {
	g.t.Helper()
	hosttest.Eventually(g.t, "a program runs", func() bool {
		group := foregroundGroup(g.term)
		return group > 1 && group != host.Pid(g.term)
	})
}

// ran returns which of the files are there once the shell has run what a person types next.
func (g *guarded) ran(names ...string) (found string) {
	g.t.Helper()
	g.person("touch done\r")
	g.awaitFile("done", "")
	for _, name := range names {
		if _, err := os.Stat(g.home(name)); err == nil {
			found += name
		}
	}
	return found
}

// threeLines are what must not run at the shell.
const threeLines = "touch F0\rtouch F1\rtouch F2\r"

// A command may end with the first thing that it reads. What follows is not the shell's.
func TestAYesToAllDoesNotOutliveItsCommand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ command, agreed, ends string }{
		"a line":   {"sh -c 'read a; read b; echo bye $b'", "1\r", "2\r"},
		"less":     {"less text", " ", "q"},
		"python":   {"python3 -q", "1\r", "exit()\r"},
		"a shell":  {"bash --norc", " ", "exit\r"},
		"its end":  {"bash --norc", ":\r", "\x04"},
		"a select": {`python3 -c 'import select, os; select.select([0],[],[]); os.read(0, 99)'`, "", "1\r"},
		"a key":    {"bash -c 'read -rsn1; read -rsn1'", "1", "\x1b[A"},
		"a child":  {"sh -c '(read a); (read b; true)'", "1\r", "2\r"},
	} {
		for _, integrated := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, integrated %v", name, integrated), func(t *testing.T) {
				t.Parallel()
				command, _, _ := strings.Cut(c.command, " ")
				slowtest.Programs(t, command)
				g := newGuardedShell(t, integrated)
				writeFile(t, g.home("text"), strings.Repeat("text\n", 1000))
				l := g.listens()
				if integrated {
					g.trusts(c.command + "\r")
					g.begins()
					g.types(c.agreed)
				} else {
					g.asks(c.command + "\r")
					g.decides(g.ann, "", host.ApproveOnce, "")
					g.runs()
					g.trusts(c.agreed)
				}
				g.types(c.ends + threeLines)
				l.until(host.EventTrustOver)
				if got := g.ran("F0", "F1", "F2"); got != "" {
					t.Errorf("without a yes ran %s", got)
				}
			})
		}
	}
}

// What a program reads under a yes to all comes whole and in order, however it reads.
func TestWhatIsTypedUnderAYesToAllIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ needs, command, typed, want string }{
		"by lines":   {"sh", `sh -c 'read a; read b; echo "<$a><$b>"'`, "one\rtwo\r", "<one><two>"},
		"to its end": {"cat", "cat | sort -r", "a\rb\r\x04", "b\r\nb\r\na\r\n"},
		"by keys": {"bash", `bash -c 'read -rsn1 a; read -rsn3 b; read -rsn1 c; echo "<$a${b#?}$c>"'`,
			"a\x1b[Bü", "<a[Bü>"},
		"by an editor": {"bash", `bash -c 'read -e a; echo "<$a>"'`, "ab\x02c\r", "<acb>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slowtest.Programs(t, c.needs)
			g := newGuardedShell(t, true)
			g.trusts(c.command + "\r")
			g.begins()
			for _, r := range c.typed { // in pieces
				g.types(string(r))
			}
			awaitOutput(t, g.h, g.term, c.want)
		})
	}
}

// A line without its end stands in the terminal, and would be in the next program's line.
func TestHalfALineIsNotTypedUnderAYesToAll(t *testing.T) {
	t.Parallel()
	g := newGuardedShell(t, true)
	l := g.listens()
	g.trusts("cat\r")
	g.begins()
	g.types("touch F0;")
	awaitHeld(t, g.h, g.term, len("touch F0;"))
	g.person("\x04")
	l.until(host.EventTrustOver)
	if got := g.ran("F0"); got != "" {
		t.Errorf("what had no end ran with what came next: %s", got)
	}
	if got := state(g.t, g.h, g.term).Termhost.Refused; got != trustBehind && got != trustEnded {
		t.Errorf("the agent is told %q", got)
	}
}

// spender is a token that may type secrets.
func spender() authz.Principal {
	p := bot
	p.TypesSecrets = true
	return p
}

// asksForIt has a question for a secret asked by the command, and what the agent answers held.
func (g *guarded) asksForIt(command, answer string) (seq int64) {
	g.t.Helper()
	asked := g.asks(command + "\r")
	g.decides(g.ann, "", host.ApproveOnce, "")
	g.rejected(asked, "")
	hosttest.Eventually(g.t, "it asks for a secret", func() bool {
		return strings.HasPrefix(host.Question(g.term), "Password:")
	})
	seq = g.asks(answer)
	list, err := g.ann.Asks()
	if err != nil || len(list) != 1 || !list[0].Secret || list[0].Text != "" || list[0].All {
		g.t.Fatalf("held: %+v, %v", list, err)
	}
	return seq
}

func TestAnAnswerIsRefusedWhenItsQuestionIsOver(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{
		"at the prompt":      `read -t 4 -s -p "Password: " x`,
		"without a sign":     `sh -c 'stty -echo; printf "Password: "; sleep 4; stty echo; sleep 1000'`,
		"for another":        `sh -c 'stty -echo; printf "Password: "; sleep 4; printf "\nOther: "; sleep 1000'`,
		"behind the command": `bash -c 'read -t 4 -s -p "Password: " x'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGuardedShellOf(t, false, spender())
			v := attach(t, g.h, alice, "x", window)
			seq := g.asksForIt(command, "touch F0\r")
			name := g.first()
			if _, err := g.ann.Decide(g.term, nil, name, host.ApproveAll, ""); message(err) != untold {
				t.Errorf("yes to all: %v", err)
			}
			g.rejected(seq, "the question that it was to answer is over")
			if is, ok := v.a.Asking(); ok {
				t.Errorf("the viewer is asked %+v", is)
			}
			if _, err := g.ann.Decide(g.term, nil, name, host.ApproveOnce, ""); err == nil {
				t.Error("approved when it was over")
			}
		})
	}
}

// Somebody may answer the question in the moment in which another one says yes.
func TestAnAnswerIsForItsQuestionOnly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ command, answer, person string }{
		"a person answers":  {`read -s -p "Password: " x`, threeLines, "mine\r"},
		"it has more lines": {`read -s -p "Password: " x`, "pw\r" + threeLines, ""},
		"it has more keys":  {`bash -c 'read -s -n1 -p "Password: "'`, "1" + threeLines, ""},
		"it interrupts":     {`read -s -p "Password: " x`, "\x03" + threeLines, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGuardedShellOf(t, false, spender())
			g.asksForIt(c.command, c.answer)
			name := g.first()
			if c.person != "" {
				g.person(c.person)
			}
			_, err := g.ann.Decide(g.term, nil, name, host.ApproveOnce, "")
			if c.person == "" && err != nil {
				t.Fatal(err)
			}
			hosttest.Eventually(t, "the question is over", func() bool {
				held, _ := host.Queued(g.term)
				return host.Question(g.term) == "" && held == 0
			})
			if got := g.ran("F0", "F1", "F2"); got != "" {
				t.Errorf("nobody has seen what ran: %s", got)
			}
		})
	}
}

func TestAnApprovedAnswerIsRead(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{
		"a line": `bash -c 'read -s -p "Password: " x; echo "<$x>"'`,
		"keys":   `bash -c 'read -s -n4 -p "Password: " x; echo "<$x>"'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGuardedShellOf(t, false, spender())
			seq := g.asksForIt(command, "word\r")
			g.decides(g.ann, "", host.ApproveOnce, "")
			g.rejected(seq, "")
			awaitOutput(t, g.h, g.term, "<word>")
		})
	}
}

// awaitDoes waits until what is held first does something, as people are told.
func (g *guarded) awaitDoes(want string) {
	g.t.Helper()
	hosttest.Eventually(g.t, "it "+want, func() bool {
		list, err := g.ann.Asks()
		return err == nil && len(list) == 1 && list[0].Does == want
	})
}

func TestAnAskSaysWhetherItActsWithoutEnter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ command, shows, text, want string }{
		"at a prompt":        {"", "", "ls", ahp.AskTypes},
		"a tab at a prompt":  {"", "", "ls\t", ahp.AskRuns},
		"a line is read":     {"cat", "cat\r\n", "ls", ahp.AskTypes},
		"a key is read":      {"bash -c 'read -rsn1 -p \"Delete? \"'", "Delete? ", "n", ahp.AskActs},
		"by the shell":       {"read -rsn1 -p \"Delete? [y/n] \"", "Delete? [y/n] ", "n", ahp.AskActs},
		"and echoed":         {"read -rn1 -p 'Delete% '", "Delete% ", "n", ahp.AskActs},
		"in a pager":         {"less text", "text", "q", ahp.AskActs},
		"nobody reads":       {"sleep 1000", "1000\r\n", "n", ahp.AskActs},
		"an Enter in a page": {"less text", "text", "q\r", ahp.AskRuns},
	} {
		for _, integrated := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, integrated %v", name, integrated), func(t *testing.T) {
				t.Parallel()
				g := newGuardedShell(t, integrated)
				writeFile(t, g.home("text"), strings.Repeat("text\n", 1000))
				if c.command != "" {
					g.person(c.command + "\r")
					awaitOutput(t, g.h, g.term, c.shows)
				}
				g.asks(c.text)
				g.awaitDoes(c.want)
			})
		}
	}
}

func TestAYesIsToWhatAnAskWasShownToDo(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "read line; exec bash -c 'read -rsn1 k; echo \"<$k>\"; read -rsn1 k'")
	slowtest.Programs(t, "bash")
	g.asks("n")
	g.awaitDoes(ahp.AskTypes)
	host.LookAtHeld(g.term, false)
	g.person("line\r")
	hosttest.Eventually(t, "a key is read", func() bool {
		return !canonical(g.term)
	})
	name := g.first()
	if _, err := g.ann.Decide(g.term, nil, name, host.ApproveOnce, ""); message(err) != actsNow {
		t.Fatalf("it acts now: %v", err)
	}
	// By name, too, when the change was seen meanwhile.
	if _, err := g.ann.Decide(g.term, nil, name, host.ApproveOnce, ""); message(err) != actsNow {
		t.Fatalf("it was listed as what only types: %v", err)
	}
	g.awaitDoes(ahp.AskActs)
	g.decides(g.ann, name, host.ApproveOnce, "")
	awaitOutput(t, g.h, g.term, "<n>")
}
