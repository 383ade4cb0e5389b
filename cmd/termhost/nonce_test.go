package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// forger is a program of a terminal that reads what it may: its own environment and that of all its
// ancestors, what they have open, and all files of the state folder. With everything in it that
// could be a nonce, and with what stands in its place, it then tells of commands that never ran.
const forger = `#!/bin/bash
state=$1
found=$(mktemp)
pid=$$
while ((pid > 1)); do
	cat /proc/$pid/environ /proc/$pid/cmdline
	ls -l /proc/$pid/fd
	((pid == $$)) || for fd in /proc/$pid/fd/*; do
		[[ $(readlink $fd) != /memfd:* ]] || cat $fd
	done
	pid=$(awk '/^PPid/ {print $2}' /proc/$pid/status)
done >$found 2>/dev/null
find "$state" -type f -exec cat {} + >>$found
set -- $(grep -aohE '~termhost:[A-Z2-7]+|[A-Z2-7]{26}' $found | sort -u)
for word; do
	for mark in "$word" "~termhost:$word" "~term"$'\1'"host:${word#*:}"; do
		printf '\e]633;D;77;%s\a\e]633;E;forged;%s\a\e]633;C;%s\a' "$mark" "$mark" "$mark"
	done
done >/dev/tty
rm $found
echo tried $# words
`

// TestNoProgramCanForgeTheMarksOfItsShell: what a program may read without the rights of a debugger
// has the nonce nowhere, neither before a restart nor after it, and nothing it prints counts as the
// shell's.
func TestNoProgramCanForgeTheMarksOfItsShell(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(shell)
			if err != nil {
				slowtest.Missing(t, "%s is not installed", shell)
			}
			start, state, do := keptHost(t, fmt.Sprintf("\nterminal.shell = %q\n", path))
			script := filepath.Join(t.TempDir(), "forger")
			if err := os.WriteFile(script, []byte(forger), 0o700); err != nil {
				t.Fatal(err)
			}
			h := start()
			do("new", "-d", "-n", "a")
			do("record", "a", "on")
			line := script + " " + state
			var want []string
			runs := func(typed, status string) {
				t.Helper()
				do("send", "--enter", "a", typed)
				want = append(want, status+" "+typed)
				forgedNothing(t, do, want)
			}
			do("wait", "--idle", "300ms", "a")
			runs("sh -c 'exit 3'", "3")
			runs(line, "0")
			_ = h.Stop(syscall.SIGKILL) // how it ends is no news
			start()
			forgedNothing(t, do, want)
			runs("sh -c 'exit 4'", "4")
			runs(line, "0")
			if got := do("log", "--text", "a"); strings.Count(got, "tried ") != 2 ||
				strings.Contains(got, "tried 0 words") {
				t.Errorf("the forger has said\n%s", got)
			}
			if cast := do("cast", "a"); strings.Contains(cast, "forged") ||
				!strings.Contains(cast, "exit 4") {
				t.Errorf("the export tells of other commands:\n%s", cast)
			}
			noSecretIn(t, state)
		})
	}
}

// forgedNothing waits until the commands that are told of terminal a are those: exit status and line
// of each.
func forgedNothing(t *testing.T, do verbRunner, want []string) {
	t.Helper()
	var got []string
	same := func(row, want string) bool {
		status, line, _ := strings.Cut(want, " ")
		return strings.Contains(row, line) && slices.Contains(strings.Fields(row), status)
	}
	hosttest.Eventually(t, fmt.Sprintf("the commands are %q", want), func() bool {
		got = slices.Collect(strings.Lines(do("log", "--commands", "a")))
		return len(got) > len(want) && same(got[len(want)], want[len(want)-1]) // behind a heading
	})
	if len(got) != len(want)+1 {
		t.Fatalf("told are\n%q, want\n%q", got, want)
	}
	for i, w := range want {
		if !same(got[i+1], w) {
			t.Errorf("command %d is %q, want %q", i+1, got[i+1], w)
		}
	}
}

// noSecretIn fails the test if a file has what no sealed output has.
func noSecretIn(t *testing.T, dir string) {
	t.Helper()
	out, _ := exec.Command("grep", "-raohE", "~termhost:[A-Z2-7]+", dir).Output()
	for l := range strings.Lines(string(out)) {
		secret := strings.TrimPrefix(strings.TrimSpace(l), "~termhost:")
		if rest := strings.TrimLeft(secret, "X"); rest != "" && rest != "V" {
			t.Errorf("a file has %q", l)
		}
	}
}
