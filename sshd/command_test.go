package sshd

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
)

func TestMistakesAreExplained(t *testing.T) {
	r := newRig(t, rigOptions{})
	for _, c := range []struct {
		command string
		status  int
		stderr  string
	}{
		{"frobnicate", 127, "unknown command \"frobnicate\"\nhint: to run a command: `ssh HOST run -- frobnicate`"},
		{"scp -t .", 127, "termhost moves no files"},
		{"rsync --server", 127, "termhost moves no files"},
		{"git-upload-pack 'x.git'", 127, "no git repositories"},
		{"git-receive-pack 'x.git'", 127, "no git repositories"},
		{"bash -c 'id'", 127, "ssh HOST run -- bash -c 'id'"},
		{"/bin/sh", 127, "`ssh HOST` alone runs your shell"},
		{"attahc x", 127, "did you mean attach?"},
		{"ls --jsno", 2, "flag provided but not defined: -jsno\nhint: usage: ssh HOST ls [--json]"},
		{"ls extra", 2, "\"extra\" is one argument too many"},
		{"peek", 2, "peek needs an argument"},
		{"log --json --raw x", 2, "ask for one of --text, --raw, --json and --commands"},
		{"log --text --commands x", 2, "ask for one of"},
		{"run", 2, "say what to run after --"},
		{"new", 2, "needs a terminal at your end"},
		{"new -d -n ../x", 1, "is no name for a terminal"},
		{"new -d -C /does/not/exist", 1, "there is no such directory"},
		{"attach -r nothing", 1, "there is no terminal \"nothing\"\nhint: `ssh HOST ls`"},
		{"attach -r", 1, "there is no terminal to attach to"},
		{"peek 'unclosed", 2, "a quote is not closed"},
		{"token --revoke ''", 1, "token"},
		{"token --role king", 2, "unknown role \"king\""},
		{"wait --timeout 5 x", 2, "invalid value \"5\" for flag -timeout: a duration is a number with its unit"},
		{"wait --timeout 20ms", 2, "needs an argument"},
		{"send x --key", 2, "flag needs an argument: -key"},
		{"send --", 2, "send needs an argument"},
		{"attach -r x -- y", 2, "\"y\" is one argument too many"},
		{"ls -- extra", 2, "\"extra\" is one argument too many"},
		{"ls -- 'unclosed", 2, "a quote is not closed"},
		{"share -- make", 2, "share runs no command"},
		{"peek x --nonsense", 2, "flag provided but not defined: -nonsense"},
		{"send --key nokey x", 2, "unknown key"},
		{"\x1b[31mred", 127, "unknown command \"[31mred\""},
	} {
		got := r.ssh("alice", "", c.command)
		if got.status != c.status || !strings.Contains(got.stderr, c.stderr) || strings.Contains(got.stderr, "\x1b") || got.stdout != "" {
			t.Errorf("%q: %+v, want status %d and %q", c.command, got, c.status, c.stderr)
		}
	}
}

func TestHelpNamesEveryCommand(t *testing.T) {
	r := newRig(t, rigOptions{})
	got := r.ssh("alice", "", "help")
	if got.status != 0 {
		t.Fatalf("got %+v", got)
	}
	for _, c := range commands() {
		if !strings.Contains(got.stdout, " HOST "+c.name) {
			t.Errorf("%s is missing", c.name)
		}
	}
	if got := r.ssh("alice", "", "run -h"); got.status != 0 || !strings.Contains(got.stdout, "usage: ssh HOST run") {
		t.Errorf("run -h: %+v", got)
	}
}

func TestHostileTextInListingsIsHarmless(t *testing.T) {
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", `new -d -n evil -- printf '\033]0;a\302\23331mb\007'; echo; sleep 1000`)
	eventually(t, "the title", func() bool {
		return strings.Contains(r.ssh("alice", "", "ls").stdout, "[31m") || strings.Contains(r.ssh("alice", "", "ls --json").stdout, `"title": "a`)
	})
	for _, command := range []string{"ls", "ls --json"} {
		if got := r.ssh("alice", "", command); strings.ContainsAny(got.stdout, "\x1b\u009b\a") {
			t.Errorf("%s: %q", command, got.stdout)
		}
	}
}

func TestPeekEndsWithTheLastRowThatShowsSomething(t *testing.T) {
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", `new -d -n art -- printf 'one\n\ntwo\n\033[41m \033[m\n'; exec cat`)
	if got := r.ssh("alice", "", "wait --match two --timeout 20s art"); got.status != 0 {
		t.Fatalf("wait: %+v", got)
	}
	eventually(t, "the screen", func() bool { return r.ssh("alice", "", "peek --ansi art").stdout == "one\n\ntwo\n\x1b[0;41m \x1b[0m\n" })
	if got := r.ssh("alice", "", "peek art"); got.stdout != "one\n\ntwo\n" {
		t.Errorf("peek: %+v", got)
	}
	r.ssh("alice", "", "new -d -n empty -- exec cat")
	if got := r.ssh("alice", "", "peek empty"); got.stdout != "" || got.status != 0 {
		t.Errorf("peek of nothing: %+v", got)
	}
}

func TestSendPeekWaitAndRemove(t *testing.T) {
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n work")
	if got := r.ssh("alice", "", "send --enter work 'echo sent-$((1+1))'"); got.status != 0 {
		t.Fatalf("send: %+v", got)
	}
	eventually(t, "the screen shows it", func() bool { return strings.Contains(r.ssh("alice", "", "peek work").stdout, "\nsent-2\n") })
	if got := r.ssh("alice", "", "log work"); !strings.Contains(got.stdout, "\nsent-2\n") {
		t.Errorf("log: %+v", got)
	}
	if got := r.ssh("alice", "", "log --raw work"); !strings.Contains(got.stdout, "sent-2\r\n") {
		t.Errorf("log --raw: %+v", got)
	}
	if got := r.ssh("alice", "", "log --json work"); !strings.Contains(got.stdout, `"lifecycle":{"status":"running"}`) {
		t.Errorf("log --json: %+v", got)
	}
	if got := r.ssh("alice", "", "wait --timeout 20ms work"); got.status != statusTimeout {
		t.Errorf("wait --timeout: %+v", got)
	}
	if got := r.ssh("alice", "", "rm wor"); got.status != 1 || !strings.Contains(got.stderr, "whole name") {
		t.Errorf("rm of a prefix: %+v", got)
	}
	if got := r.ssh("alice", "", "send --key ctrl-d work"); got.status != 0 {
		t.Errorf("send --key: %+v", got)
	}
	if got := r.ssh("alice", "", "wait work"); got.status != 0 {
		t.Errorf("wait: %+v", got)
	}
	if got := r.ssh("alice", "", "rm work"); got.status != 0 {
		t.Errorf("rm: %+v", got)
	}
	if got := r.ssh("alice", "", "ls --json"); strings.TrimSpace(got.stdout) != "[]" {
		t.Errorf("ls: %+v", got)
	}
}

func TestWordsBeforeAndTextAfterTheDashes(t *testing.T) {
	for _, c := range []struct {
		in    string
		words string // joined with |
		rest  string
		tail  bool
		bad   bool
	}{
		{in: "ls --json", words: "ls|--json"},
		{in: `run -n 'a b' -- echo "x  y"  `, words: "run|-n|a b", rest: `echo "x  y"  `, tail: true},
		{in: `a "b\"c\$d\e" f\ g ''`, words: `a|b"c$d\e|f g|`},
		{in: `send x '--' y`, words: "send|x|--|y"},
		{in: "run --", words: "run", tail: true},
		{in: "run --x", words: "run|--x"},
		{in: "  ", words: ""},
		{in: "a 'b", bad: true},
		{in: `a "b`, bad: true},
		{in: `a \`, bad: true},
		{in: "$(id) `id` *", words: "$(id)|`id`|*"},
	} {
		l, err := parseLine(c.in)
		if (err != nil) != c.bad || err == nil && (strings.Join(l.words, "|") != c.words || l.rest != c.rest || l.tail != c.tail) {
			t.Errorf("%q: %+v, %v", c.in, l, err)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	for _, seed := range []string{"run -- x", `a 'b' "c\"" \d`, "'", "--", "a -- -- b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := parseLine(text)
		if err == nil && l.tail && !strings.HasSuffix(text, l.rest) {
			t.Errorf("%q: what follows the dashes became %q", text, l.rest)
		}
	})
}

func TestTablesAreAlignedInCells(t *testing.T) {
	var b strings.Builder
	writeTable(&b, [][]string{{"NAME", "TITLE"}, {"a", "\x1b[31mred"}, {"\u754c\u754c\u754c", "wide"}}, 9)
	want := "NAME    T\na       [\n\u754c\u754c\u754c  w\n"
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
}

// A client-executed terminal may have ended without anybody knowing how.
func TestAnUnknownExitCodeIsListedAsSuch(t *testing.T) {
	info := host.Info{Name: "laptop", Exited: true, Client: true}
	if row := listRow(info, time.Now(), true); row[1] != "exited ?" {
		t.Errorf("it is listed as %q", row[1])
	}
	b, err := json.Marshal(listJSON([]host.Info{info}))
	if err != nil || strings.Contains(string(b), "exitCode") || !strings.Contains(string(b), `"state":"exited"`) {
		t.Errorf("%s, %v", b, err)
	}
}

func TestAnAgentSessionsTerminalIsListedWithItsSessionAndItsAgent(t *testing.T) {
	info := host.Info{Name: "make-1", Holder: "gemini (uid:0)", Agent: "gemini", Mine: true,
		Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/s1"}}
	if row := listRow(info, time.Now(), true); row[2] != "gemini ahp-session:/s1" {
		t.Errorf("it is held by %q", row[2])
	}
	if row := listRow(info, time.Now(), false); row[2] != "gemini" {
		t.Errorf("in a narrow table it is held by %q", row[2])
	}
	info.Agent, info.Claim.Session = "", "ahp-session:/0199d3a1-7c2b-7f00-8000-1234567890ab"
	if row := listRow(info, time.Now(), true); row[2] != "ahp-session:/0199d3a1-7c2b-7f00…" {
		t.Errorf("it is held by %q", row[2])
	}
}
