package sshd

import (
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/sshd/verbs"
)

func TestMistakesAreExplained(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for _, c := range []struct {
		command string
		status  int
		stderr  string
	}{
		{"termhost frobnicate", 127,
			"unknown command \"frobnicate\"\nhint: `ssh HOST help` lists the commands\n"},
		{"frobnicate", 127, "unknown command \"frobnicate\"\nhint: to run a command: `ssh HOST run -- frobnicate`"},
		{"frobnicate; reboot", 127, "`ssh HOST run -- 'frobnicate; reboot'`"},
		{"frob a && b", 127, "`ssh HOST run -- 'frob a && b'`"},
		{"frob | less", 127, "`ssh HOST run -- 'frob | less'`"},
		{"frob $HOME it\\'s", 127, "`ssh HOST run -- 'frob $HOME"},
		{"scp -t .", 127, "scp without -O"},
		{"rsync --server", 127, `exec = "shell"`},
		{"git-upload-pack 'x.git'", 127, `exec = "shell"`},
		{"git-receive-pack 'x.git'", 127, `exec = "shell"`},
		{"bash -c 'id'", 127, "ssh HOST run -- bash -c 'id'"},
		{"/bin/sh", 127, "`ssh HOST` alone runs your shell"},
		{"mosh-server 'new' '-s' '-c' '256' '-l' 'LANG=C.UTF-8'", 127, "mosh needs a server of its own"},
		{"attahc x", 127, "did you mean attach?"},
		{"ls --jsno", 2, "flag provided but not defined: --jsno (did you mean --json?)\nhint: usage: ssh HOST ls [--json]"},
		{"ls extra", 2, "\"extra\" is one argument too many"},
		{"peek", 2, "peek needs an argument"},
		{"log --json --raw x", 2, "ask for one of --text, --raw, --json and --commands"},
		{"log --text --commands x", 2, "ask for one of"},
		{"log --last --since 5m x", 2, "ask for one of --last, --command and --since"},
		{"log --since never x", 2, "invalid value \"never\" for flag --since: it is a duration"},
		{"grep ( x", 2, "missing closing )"},
		{"grep x nothing", 2, "there is no terminal \"nothing\""},
		{"grep", 2, "grep needs an argument"},
		{"run", 2, "say what to run after --"},
		{"new", 2, "needs a terminal at your end"},
		{"new -d -n ../x", 1, "cannot name a terminal"},
		{"new -d -C /does/not/exist", 1, "there is no such directory"},
		{"attach -r nothing", 1, "there is no terminal \"nothing\"\nhint: `ssh HOST ls`"},
		{"attach -r", 1, "there is no terminal to attach to"},
		{"peek 'unclosed", 2, "a quote is not closed"},
		{"token --revoke ''", 1, "token"},
		{"token --role king", 2, "unknown role \"king\""},
		{"wait --timeout 5 x", 2, "invalid value \"5\" for flag --timeout: a duration is a number with its unit"},
		{"wait --timeout 20ms", 2, "needs an argument"},
		{"send x --key", 2, "flag needs an argument: --key"},
		{"send --", 2, "send needs an argument"},
		{"attach -r x -- y", 2, "\"y\" is one argument too many"},
		{"ls -- extra", 2, "\"extra\" is one argument too many"},
		{"ls -- 'unclosed", 2, "a quote is not closed"},
		{"share -- make", 2, "share runs no command"},
		{"peek x --nonsense", 2, "flag provided but not defined: --nonsense"},
		{"send --key nokey x", 2, "unknown key"},
		{"\x1b[31mred", 127, "unknown command \"[31mred\""},
	} {
		got := r.ssh("alice", "", c.command)
		if got.status != c.status || got.stdout != "" || !strings.Contains(got.stderr, c.stderr) ||
			strings.Contains(got.stderr, "\x1b") {
			t.Errorf("%q: %+v, want status %d and %q", c.command, got, c.status, c.stderr)
		}
	}
}

func TestAnObserverIsNotToldToMakeATerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "eve": asObserver}})
	for key, makes := range map[string]bool{"alice": true, "eve": false} {
		for _, command := range []string{"ls", "attach -r"} {
			got := r.ssh(key, "", command)
			if !strings.Contains(got.stderr, "no terminal") ||
				strings.Contains(got.stderr, "makes one") != makes {
				t.Errorf("%s: %s: %+v", key, command, got)
			}
		}
	}
}

func TestHostileTextInListingsIsHarmless(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", `new -d -n evil -- printf '\033]0;a\302\23331mb\007'; echo; sleep 1000`)
	hosttest.Eventually(t, "the title", func() bool {
		return strings.Contains(r.ssh("alice", "", "ls").stdout, "[31m") ||
			strings.Contains(r.ssh("alice", "", "ls --json").stdout, `"title": "a`)
	})
	for _, command := range []string{"ls", "ls --json"} {
		if got := r.ssh("alice", "", command); strings.ContainsAny(got.stdout, "\x1b\u009b\a") {
			t.Errorf("%s: %q", command, got.stdout)
		}
	}
}

func TestPeekEndsWithTheLastRowThatShowsSomething(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", `new -d -n art -- printf 'one\n\ntwo\n\033[41m \033[m\n'; exec cat`)
	if got := r.ssh("alice", "", "wait --match two --timeout 30s art"); got.status != 0 {
		t.Fatalf("wait: %+v", got)
	}
	hosttest.Eventually(t, "the screen", func() bool {
		return r.ssh("alice", "", "peek --ansi art").stdout == "one\n\ntwo\n\x1b[0;41m \x1b[0m\n"
	})
	if got := r.ssh("alice", "", "peek art"); got.stdout != "one\n\ntwo\n" {
		t.Errorf("peek: %+v", got)
	}
	r.ssh("alice", "", "new -d -n empty -- exec cat")
	if got := r.ssh("alice", "", "peek empty"); got.stdout != "" || got.status != 0 {
		t.Errorf("peek of nothing: %+v", got)
	}
}

func TestSendPeekWaitAndRemove(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n work")
	if got := r.ssh("alice", "", "send --enter work echo sent-$((1+1))"); got.status != 0 {
		t.Fatalf("send: %+v", got)
	}
	r.shows("work", "\nsent-2\n")
	if got := r.ssh("alice", "", "log work"); !strings.Contains(got.stdout, "\nsent-2\n") {
		t.Errorf("log: %+v", got)
	}
	if got := r.ssh("alice", "", "log --raw work"); !strings.Contains(got.stdout, "sent-2\r\n") {
		t.Errorf("log --raw: %+v", got)
	}
	got := r.ssh("alice", "", "log --json work")
	if !strings.Contains(got.stdout, `"lifecycle":{"status":"running"}`) {
		t.Errorf("log --json: %+v", got)
	}
	if got := r.ssh("alice", "", "wait --timeout 20ms work"); got.status != verbs.StatusTimeout {
		t.Errorf("wait --timeout: %+v", got)
	}
	got = r.ssh("alice", "", "rm wor")
	if got.status != 1 || !strings.Contains(got.stderr, "whole name") {
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
