package sshd

import (
	"fmt"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

func TestWaitForSeveralTerminals(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for i, name := range []string{"one", "two", "six"} {
		r.ssh("alice", "", fmt.Sprintf("new -d -n %s -- read x; exit %d", name, i+3))
	}
	if got := r.ssh("alice", "", "wait --timeout 10ms one two"); got.status != 124 ||
		got.stderr != "termhost: error: still waiting for one, two after 10ms\n" {
		t.Errorf("nothing: %+v", got)
	}
	r.ssh("alice", "", "send two --enter")
	if got := r.ssh("alice", "", "wait one two six"); got != (outcome{"two\n", "", 4}) {
		t.Errorf("the first: %+v", got)
	}
	last := make(chan outcome, 1)
	go func() { last <- r.ssh("alice", "", "wait --all six two one --timeout 30s") }()
	r.ssh("alice", "", "send six --enter")
	r.ssh("alice", "", "wait six")
	select {
	case got := <-last:
		t.Fatalf("before the last: %+v", got)
	default:
	}
	r.ssh("alice", "", "send one --enter")
	if got := <-last; got != (outcome{"one\n", "", 3}) {
		t.Errorf("the last: %+v", got)
	}
	if got := r.ssh("alice", "", "wait one none"); got.status != 1 {
		t.Errorf("one that does not exist: %+v", got)
	}
}

// Expressions that are short and take much memory are refused where a key has too many of them.
func TestWaitAndGrepSayThatPatternsTakeTooMuch(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n work -- cat")
	c := hosttest.Conn(t, r.host, authz.Principal{ID: r.fingerprint("alice"), Name: "alice",
		Fingerprint: r.fingerprint("alice"), Role: authz.Admin})
	large := strings.Repeat(`\pL\PL`, 160)
	var err error
	for i := 0; err == nil; i++ {
		_, _, err = c.Pattern(fmt.Sprint(large, i), false)
	}
	for command, status := range map[string]int{"wait --match '" + large + "' work": 1,
		"grep '" + large + "' work": 2} {
		if got := r.ssh("alice", "", command); got.status != status ||
			!strings.Contains(got.stderr, "would take more than 16 MiB: let some waits end") {
			t.Errorf("%.10s: %+v", command, got)
		}
	}
}

func TestAPatternKeepsItsBackslashes(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", `new -d -n work -- echo "a 12ok (b) c\d"; sleep 1000`)
	for _, match := range []string{
		`--match \d+ok`, `--match=\d+ok`, `-match '\d+ok'`, `--match "\d+ok"`, `--match \(b\)`,
		`--match \d+ok\ \(b`, `--match 'c\\d'`,
	} {
		got := r.ssh("alice", "", "wait --timeout 30s "+match+" work")
		if got.status != 0 {
			t.Errorf("%s: %+v", match, got)
		}
	}
}

func TestWaitForALineAPauseOrACommand(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{host: func(c *host.Config) {
		c.Shell = "/bin/bash"
		c.ShellIntegration = true
	}})
	r.ssh("alice", "", "new -d -n work")
	r.ssh("alice", "", "send --enter work echo soon; sleep 0.2; echo li''ne; sleep 0.3; (exit 5)")
	if got := r.ssh("alice", "", "wait --timeout 30s --match '^line$' work"); got.status != 0 {
		t.Errorf("--match: %+v", got)
	}
	if got := r.ssh("alice", "", "wait --timeout 30s --command work"); got.status != 5 {
		t.Errorf("--command: %+v", got)
	}
	if got := r.ssh("alice", "", "wait --timeout 30s --idle 50ms work"); got.status != 0 {
		t.Errorf("--idle: %+v", got)
	}
	if got := r.ssh("alice", "", "wait --match '(' work"); got.status != 2 {
		t.Errorf("a bad expression: %+v", got)
	}
	r.ssh("alice", "", "new -d -n plain -- sleep 1000")
	got := r.ssh("alice", "", "wait --command plain")
	if got.status != 1 || !strings.Contains(got.stderr, "hint: wait with --match or --idle") {
		t.Errorf("without detection: %+v", got)
	}
}
