package mcptest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// tell runs a story with each agent, and a host of its own.
func tell(t *testing.T, story func(t *testing.T, s *site, a agent)) {
	for _, a := range agents() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			bin(t, a.pkg, a.program)
			node(t)
			story(t, newSite(t), a)
		})
	}
}

// play runs an agent with a script to its end. It returns the results as the model was shown them.
func (s *site) play(a agent, script script) []string {
	s.t.Helper()
	m := newModel(s.t, a.wire)
	return m.play(s.t, script, s.begin(a, m)).results
}

// like fails unless each text matches the pattern at its place.
func like(t testing.TB, told []string, patterns ...string) {
	t.Helper()
	if len(told) != len(patterns) {
		t.Errorf("%d results, want %d: %q", len(told), len(patterns), told)
		return
	}
	for i, pattern := range patterns {
		if !regexp.MustCompile(pattern).MatchString(told[i]) {
			t.Errorf("result %d is\n%s\nwant %s", i, told[i], pattern)
		}
	}
}

// header is a pattern for the first line of ours in a result, which clients may put something
// before, and what follows it.
func header(name, state, rest string) string {
	return `(?s)^(<untrusted_context>\n|Wall time: [^\n]*\nOutput:\n?)?\[` + name + " " + state +
		` · [^\n]* · \d+ lines? · cursor \d+\]\n` + rest
}

func TestTheModelSeesTheExactStatusAndOurInstructions(t *testing.T) {
	slowtest.Skip(t)
	tell(t, func(t *testing.T, s *site, a agent) {
		m := newModel(t, a.wire)
		last := m.play(t, calls(step{tool: "terminal_run", args: args{"command": "echo out; echo err >&2; exit 3"}}),
			s.begin(a, m))
		like(t, last.results, header(`\S+`, "exited 3", "out\nerr\n"))
		about, _, _ := strings.Cut(s.connect().InitializeResult().Instructions, "\n")
		if !strings.Contains(last.body, about) {
			t.Errorf("the model was not told %q", about)
		}
	})
}

// connect connects the SDK's client, until the test ends.
func (s *site) connect() *sdk.ClientSession {
	s.t.Helper()
	words := s.sshCommand("mcp")
	session, err := sdk.NewClient(&sdk.Implementation{Name: "mcptest"}, nil).
		Connect(s.t.Context(), &sdk.CommandTransport{Command: command(words)}, nil)
	hosttest.Check(s.t, err)
	s.t.Cleanup(func() { session.Close() })
	return session
}

// TestALongResultReachesTheModelAsWeCutIt: no client cuts it again.
func TestALongResultReachesTheModelAsWeCutIt(t *testing.T) {
	all(t)
	tell(t, func(t *testing.T, s *site, a agent) {
		told := s.play(a, calls(step{tool: "terminal_run", args: args{"command": "seq -f 'line number %.0f' 100000"}}))
		like(t, told, header(`\S+`, "exited 0",
			`line number 1\n.*\n\[\.\.\. \d+ lines omitted: terminal_read \{[^\n]*\} \.\.\.\]\n.*\nline number 100000\n`))
		if n := len(told[0]); n < 11_000 || n > 13_000 {
			t.Errorf("the model was shown %d bytes", n)
		}
	})
}

// TestAPersonAnswersWhileTheModelWaits: the answer may come just before the wait, too.
func TestAPersonAnswersWhileTheModelWaits(t *testing.T) {
	slowtest.Skip(t)
	tell(t, func(t *testing.T, s *site, a agent) {
		answer := make(chan error, 1)
		told := s.play(a, func(n turn) step {
			switch n.number {
			case 0:
				return step{tool: "terminal_run", args: args{"name": "ask",
					"command": "read -p 'Name: ' x; echo hi $x; exit 4"}}
			case 1:
				go func() {
					_, err := s.try("send", "--enter", "ask", "bob")
					answer <- err
				}()
				return step{tool: "terminal_read", args: args{"terminal": "ask", "wait_s": 60}}
			}
			return step{says: "done"}
		})
		hosttest.Check(t, <-answer)
		like(t, told, header("ask", `waiting for input: "Name: ?"`, "Name:"), header("ask", "exited 4", ".*hi bob\n"))
	})
}

func TestAPersonTakesTheKeyboardAndHandsItBack(t *testing.T) {
	slowtest.Skip(t)
	tell(t, func(t *testing.T, s *site, a agent) {
		var p *person
		var begun time.Time
		taken := make(chan bool, 1)
		told := s.play(a, func(n turn) step {
			switch n.number {
			case 0:
				return step{tool: "terminal_open", args: args{"name": "sh"}}
			case 1:
				p = s.attach("sh")
				p.sees(`[$#] `)
				begun = time.Now()
				go func() { // while the call waits, in which the client asks nothing
					taken <- p.see("begun 1") && p.types("\x1cc") == nil
				}()
				return step{tool: "terminal_run", args: args{"terminal": "sh", "command": "echo begun $((1)); sleep 1000"}}
			case 2:
				if !<-taken {
					t.Fatal("the person did not see that the command has begun")
				}
				if took := time.Since(begun); took > slowtest.AtOnce {
					t.Errorf("the call has returned after %v", took)
				}
				return step{tool: "terminal_send", args: args{"terminal": "sh", "text": "nothing-of-this"}}
			case 3:
				hosttest.Check(t, p.types("\x1cr"))
				p.sees("handed back")
				return step{tool: "terminal_send", args: args{"terminal": "sh", "keys": []string{"ctrl-c"}}}
			case 4:
				return step{tool: "terminal_run", args: args{"terminal": "sh", "command": "echo again; (exit 5)"}}
			}
			return step{says: "done"}
		})
		like(t, told, header("sh", "running", ""), header("sh", "held by .*", ".*begun 1\n"),
			"held by .*; nothing was typed", header("sh", "running", ".*"), header("sh", "exited 5", ".*again\n"))
		if log := s.ssh("log", "--text", "sh"); strings.Contains(log, "nothing-of-this") {
			t.Errorf("what was refused has been typed:\n%s", log)
		}
	})
}

func TestALongCommandsEndIsFoundByReading(t *testing.T) {
	all(t)
	tell(t, func(t *testing.T, s *site, a agent) {
		stop := filepath.Join(s.dir, "stop")
		told := s.play(a, func(n turn) step {
			switch n.number {
			case 0:
				return step{tool: "terminal_run", args: args{"name": "long", "wait_s": 1,
					"command": "echo begun; until [ -e " + stop + " ]; do sleep 0.1; done; echo ended; exit 7"}}
			case 1:
				hosttest.Check(t, os.WriteFile(stop, nil, 0o600))
				return step{tool: "terminal_read", args: args{"terminal": "long", "wait_s": 60}}
			}
			return step{says: "done"}
		})
		like(t, told, header("long", "running", "begun\n"), header("long", "exited 7", ".*ended\n"))
	})
}

// TestACallMayWaitAsLongAsItsClient: a silent command takes longer than a call may, and no client
// gives up before.
func TestACallMayWaitAsLongAsItsClient(t *testing.T) {
	all(t)
	tell(t, func(t *testing.T, s *site, a agent) {
		told := s.play(a, calls(
			step{tool: "terminal_run", args: args{"name": "long", "command": "sleep 250; exit 7"}},
			step{tool: "terminal_read", args: args{"terminal": "long", "wait_s": 100}}))
		like(t, told, header("long", "running", ""), header("long", "exited 7", ""))
		like(t, told[:1], `· 4m0s ·`)
	})
}

func TestWhatRunsIsFoundAgainByAClientThatWasKilled(t *testing.T) {
	all(t)
	tell(t, func(t *testing.T, s *site, a agent) {
		m := newModel(t, a.wire)
		first := s.begin(a, m)
		(<-m.turns).answer(step{tool: "terminal_run", args: args{"name": "lost", "command": "echo begun; sleep 1000"}})
		s.shows("lost", "begun")
		first.kill()
		told := s.play(a, calls(
			step{tool: "terminal_list"},
			step{tool: "terminal_read", args: args{"terminal": "lost", "cursor": 0}},
			step{tool: "terminal_stop", args: args{"terminal": "lost", "how": "terminate"}}))
		like(t, told, `(?m)^(\S+:\s*)?\[?lost\s.*running`, header("lost", "running", "begun\n"),
			header("lost", `exited 143 \(SIGTERM\)`, ""))
	})
}

// TestTheNextResultSaysWhatALostCallLeft: terminal_list says so, too, with what finds its answer.
func TestTheNextResultSaysWhatALostCallLeft(t *testing.T) {
	all(t)
	tell(t, func(t *testing.T, s *site, a agent) {
		m := newModel(t, a.wire)
		first := s.begin(a, m)
		(<-m.turns).answer(step{tool: "terminal_run", args: args{"name": "left", "command": "echo begun; sleep 1000"}})
		s.shows("left", "begun")
		first.kill()
		told := s.play(a, calls(
			step{tool: "terminal_run", args: args{"command": "echo next"}},
			step{tool: "terminal_list"}))
		like(t, told, header(`\S+`, "exited 0", `next\n.*\bleft\b`), `(^|\n|:)left\s.*\bterminal_read\b`)
	})
}

func TestClaudeCodeConnects(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	claude := bin(t, "@anthropic-ai/claude-code", "claude")
	node(t)
	s := newSite(t)
	const home = "claude-home"
	env := append(s.environment(home), claudeEnv("http://127.0.0.1:9")...)
	run := func(arguments ...string) string {
		t.Helper()
		return s.start("claude", s.folder(home), env, append([]string{claude, "mcp"}, arguments...)...).wait()
	}
	run(append([]string{"add", "x", "--"}, s.sshCommand("mcp")...)...)
	like(t, []string{run("get", "x"), run("list")}, `Status: \S+ Connected`, `x: .* Connected`)
}
