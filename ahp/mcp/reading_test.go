package mcp_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/mcp"
	"termhost/authz"
)

var omitted = regexp.MustCompile(`(?m)^\[\.\.\. (\d+) lines? omitted: terminal_read \{"terminal":"([^"]+)","cursor":(\d+)\} \.\.\.\]$`)

func TestNothingIsLostThatIsOmitted(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	const lines = 5000 // 250 kB
	text := a.call("terminal_run", args{"name": "big", "max_chars": 1000,
		"command": fmt.Sprintf("seq -f 'line %%.0f 0123456789012345678901234567890123456789' 0 %d", lines-1)})
	like(t, text, `^\[big exited 0 · \S+ · 5000 lines · cursor \d+\]\nline 0 `)
	like(t, text, `\nline 4999 \d+\n$`)
	if n := len([]rune(text)); n > 1300 {
		t.Errorf("a result with max_chars 1000 has %d characters", n)
	}
	head, rest, _ := strings.Cut(text, "[... ")
	var all strings.Builder
	_, head, _ = strings.Cut(head, "\n")
	all.WriteString(head)
	m := omitted.FindStringSubmatch("[... " + rest)
	if m == nil {
		t.Fatalf("nothing is omitted in %.200q", text)
	}
	for calls := 0; m != nil; calls++ {
		if calls > 100 {
			t.Fatal("the cursors do not end")
		}
		page := a.call("terminal_read", args{"terminal": m[2], "cursor": m[3], "max_chars": 40_000})
		_, page, _ = strings.Cut(page, "\n")
		m = omitted.FindStringSubmatch(page)
		page, _, _ = strings.Cut(page, "[... ")
		all.WriteString(page)
	}
	var want strings.Builder
	for i := range lines {
		fmt.Fprintf(&want, "line %d 0123456789012345678901234567890123456789\n", i)
	}
	if all.String() != want.String() {
		t.Errorf("what the cursors lead to has %d bytes, not %d", all.Len(), want.Len())
	}
}

func TestALineWithoutAnEndIsReadInParts(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	text := a.call("terminal_run", args{"name": "l", "max_chars": 2000,
		"command": "i=0; while [ $i -lt 10000 ]; do printf '%05d-' $i; i=$((i+1)); done; exec sleep 1000", "background": true})
	like(t, text, `^\[l running `)
	hosttest.Eventually(t, "all is printed", func() bool {
		return strings.Contains(a.call("terminal_read", args{"terminal": "l", "view": "screen"}), "09999-")
	})
	var all strings.Builder
	for cursor, calls := "0", 0; cursor != ""; calls++ {
		page := a.call("terminal_read", args{"terminal": "l", "cursor": cursor, "max_chars": 5000})
		_, page, _ = strings.Cut(page, "\n")
		cursor = ""
		if m := omitted.FindStringSubmatch(page); m != nil {
			cursor = m[3]
		}
		page, _, _ = strings.Cut(page, "\n[... ")
		all.WriteString(strings.TrimSuffix(page, "\n"))
		if calls > 100 {
			t.Fatal("the cursors do not end")
		}
	}
	for i, part := range strings.Split(strings.TrimSuffix(all.String(), "-"), "-") {
		if n, err := strconv.Atoi(part); err != nil || n != i {
			t.Fatalf("part %d is %q", i, part)
		}
	}
	if all.Len() != 60_000 {
		t.Errorf("%d bytes, not 60000", all.Len())
	}
}

func TestEachReadBeginsWhereTheLastOneEnded(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	a.call("terminal_run", args{"name": "c", "command": "stty -echo -icanon; while read x; do echo got $x; done", "background": true})
	for _, word := range []string{"one", "two", "three"} {
		a.answers(`^\[c .* · \S+ · 1 line · cursor \d+\]\ngot `+word+`\n`, args{"terminal": "c", "text": word})
	}
	like(t, a.call("terminal_read", args{"terminal": "c"}), `^\[c .* · 0 lines · cursor \d+\]\n`)
	like(t, a.call("terminal_read", args{"terminal": "c", "cursor": 0}), `\ngot one\ngot two\ngot three\n`)
	like(t, a.call("terminal_read", args{"terminal": "c", "cursor": 1 << 40}), `0 lines · cursor 29\]\n`)
}

func TestAProgramOnTheWholeScreenIsReadAsAScreen(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	text := a.call("terminal_run", args{"name": "v", "background": true,
		"command": `stty -echo -icanon; echo before; printf '\033[?1049h\033[2J\033[3;5Hin the middle'; read x; printf '\033[?1049l'; echo after`})
	like(t, text, `(?s)^\[v .*\nbefore\n.*terminal_read \{"terminal":"v","view":"screen"\}`)
	screen := a.call("terminal_read", args{"terminal": "v", "view": "screen"})
	like(t, screen, `\n\n\n    in the middle\n`)
	like(t, screen, `The cursor is in row 3, column 18\.`)
	text = a.call("terminal_send", args{"terminal": "v", "text": "", "keys": []string{"enter"}})
	like(t, text, `^\[v exited 0 .*\]\nafter\n$`)
}

func TestTheCommandsOfAShellAreListed(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t, bash), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	a.call("terminal_open", args{"name": "sh"})
	a.call("terminal_run", args{"terminal": "sh", "command": "true"})
	a.call("terminal_run", args{"terminal": "sh", "command": "exit_with() { return $1; }; exit_with 7"})
	like(t, a.call("terminal_read", args{"terminal": "sh", "view": "commands"}),
		`(?s)^\[sh running .*\n1  \S+  exited 0  \S+  by alice/claude-code  true\n2  \S+  exited 7  \S+  by alice/claude-code  exit_with`)
}

func TestACommandInAShellReturnsItsOwnOutputAlone(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t, bash), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	a.call("terminal_open", args{"name": "sh"})
	like(t, a.call("terminal_run", args{"terminal": "sh", "command": "printf 'no end'; (exit 3)"}), `^\[sh exited 3 · \S+ · 1 line · cursor \d+\]\nno end\n$`)
	like(t, a.call("terminal_run", args{"terminal": "sh", "command": "echo one\necho two"}), `(?s)^\[sh exited 0 .*two\n$`)
	like(t, a.call("terminal_run", args{"terminal": "sh", "command": "seq 3"}), `^\[sh exited 0 · \S+ · 3 lines · cursor \d+\]\n1\n2\n3\n$`)
}

// bash is a host's shell with shell integration.
func bash(c *host.Config) { c.Shell, c.ShellIntegration = "bash", true }

func TestABusyShellSaysWithWhat(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t, bash), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	a.call("terminal_open", args{"name": "sh"})
	like(t, a.call("terminal_run", args{"terminal": "sh", "command": "sleep 1000", "wait_s": 1}), `(?s)^\[sh running .*terminal_read \{"terminal":"sh","wait_s":45\}`)
	text, failed := a.callWith(t.Context(), "terminal_run", args{"terminal": "sh", "command": "echo x"})
	if !failed {
		t.Errorf("a busy shell takes another command: %q", text)
	}
	like(t, text, `^error: sh is busy with "sleep 1000"\. To wait for it: terminal_read `)
	like(t, a.call("terminal_stop", args{"terminal": "sh"}), `^\[sh running `)
	like(t, a.call("terminal_run", args{"terminal": "sh", "command": "echo x"}), `^\[sh exited 0 .*\]\nx\n$`)
}

func TestAWaitThatIsTooLongIsShortenedAndSaysSo(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	a.call("terminal_run", args{"name": "s", "command": "sleep 1000", "background": true})
	like(t, a.call("terminal_send", args{"terminal": "s", "text": "x", "wait_s": 100_000}), `^\[s running \(wait_s is at most 45\) `)
}

func TestABareSleepGetsAHint(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	like(t, a.call("terminal_run", args{"command": "sleep 30", "wait_s": 0}), `terminal_read waits with wait_s, and with until for a line`)
	if text := a.call("terminal_run", args{"command": "sleep 0.01"}); strings.Contains(text, "no need to sleep") {
		t.Errorf("a short sleep gets a hint: %q", text)
	}
}

func TestAKeyThatIsTypedAsTextIsSentAsTheKey(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	for i, key := range []string{"C-c", "^C", "\x03"} {
		name := fmt.Sprint("k", i)
		a.call("terminal_run", args{"name": name, "command": "sleep 1000", "background": true})
		like(t, a.call("terminal_send", args{"terminal": name, "text": key}), `(?s)^\[k\d exited 130 .*means the key ctrl-c`)
	}
}

func TestFiveKilobytesOfLinesArriveWhole(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t, bash), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	var b strings.Builder
	for i := range 250 {
		fmt.Fprintf(&b, "line %03d of the text\n", i)
	}
	dir := t.TempDir()
	a.call("terminal_run", args{"name": "cat", "command": "cat > " + dir + "/out", "background": true})
	a.call("terminal_send", args{"terminal": "cat", "text": b.String(), "enter": false})
	a.call("terminal_send", args{"terminal": "cat", "keys": "ctrl-d"})
	hosttest.Eventually(t, "cat has read all and ends", func() bool {
		return strings.HasPrefix(a.call("terminal_read", args{"terminal": "cat", "cursor": 0}), "[cat exited 0 ")
	})
	like(t, a.call("terminal_run", args{"command": "wc -c < " + dir + "/out"}), fmt.Sprintf(`\n%d\n$`, b.Len()))
	a.call("terminal_open", args{"name": "sh"})
	like(t, a.call("terminal_run", args{"terminal": "sh", "command": "cat > " + dir + "/two <<'END'\n" + b.String() + "END"}), `^\[sh exited 0 `)
	like(t, a.call("terminal_run", args{"command": "wc -c < " + dir + "/two"}), fmt.Sprintf(`\n%d\n$`, b.Len()))
}

func TestTheLongestWaitIsAsConfigured(t *testing.T) {
	t.Parallel()
	server := mcp.New(mcp.Options{Version: "test"})
	server.SetWaits(map[string]time.Duration{"": time.Second, "patient": time.Minute})
	a := connectTo(t, server, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "patient", nil)
	// Without progress a client waits as all others do.
	like(t, a.call("terminal_run", args{"name": "s", "command": "echo begun; exec sleep 1000", "wait_s": 50}),
		`^\[s running \(wait_s is at most 1\) · \S+ · \d lines? `)
}

// A client of a fleet has names of the form ahp-terminal://HOST/NAME for all terminals.
func TestAToolTakesTheURIWithThisHostsNameInItsFleet(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a := connect(t, h, hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	a.call("terminal_run", args{"name": "work", "command": "echo here"})
	const uri = "ahp-terminal://home/work"
	read := func(uri string) string {
		text, failed := a.callWith(t.Context(), "terminal_read", args{"terminal": uri, "view": "screen"})
		if failed {
			return "failed: " + text
		}
		return text
	}
	like(t, read(uri), `^failed: .*no terminal`)
	like(t, read("/work"), `(?m)^failed: .*lists all$`)
	h.SetFleet("home")
	like(t, read(uri), `(?m)^here$`)
	like(t, read("home/work"), `(?m)^here$`)
	for _, other := range []string{"ahp-terminal://box/work", "box/work", "nosuch"} {
		like(t, read(other), `^failed: .*no terminal.*terminals of home: .*ssh -J HOST BOX mcp`)
	}
}
