package main

import (
	"strings"
	"syscall"
	"testing"
)

// afterARestart runs a program that prints what prepare does, and then seq as many lines, and has
// check look at it when the next host has it: with a log, and with one that has lost its beginning.
func afterARestart(t *testing.T, prepare, then string, check func(t *testing.T, do func(...string) string)) {
	t.Parallel()
	for name, lines := range map[string]string{"a log": "1", "a long log": "200000"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start, _, do := keptHost(t, "\nterminal.log_bytes = \"256KiB\"\n")
			h := start()
			do("new", "-d", "-n", "a", "--", "sh", "-c", prepare+"; seq "+lines+"; echo printed; "+then)
			do("wait", "--match", "printed", "a")
			_ = h.Stop(syscall.SIGKILL)
			start()
			do("send", "a", "x") // the log is read
			check(t, do)
		})
	}
}

// TestAProgramReadsItsCopyAfterARestart: what was copied is known to the next host.
func TestAProgramReadsItsCopyAfterARestart(t *testing.T) {
	const reads = `head -c 1 >/dev/null; printf '\033]52;p;?\033\\'; ` +
		`dd bs=64 count=1 2>/dev/null | tr '\033' E; exec sleep 1000`
	afterARestart(t, `stty raw -echo opost onlcr; printf '\033]52;c;Y29waWVk\a'`, reads,
		func(t *testing.T, do func(...string) string) {
			do("wait", "--match", "E", "a")
			if got := do("peek", "a"); !strings.Contains(got, `E]52;p;Y29waWVkE\`) {
				t.Errorf("the program reads %q", got)
			}
		})
}

// TestProgressGoesOnAfterARestart: what a program says of its progress is known to the next host.
func TestProgressGoesOnAfterARestart(t *testing.T) {
	afterARestart(t, `stty -icanon -echo; printf '\033]9;4;4;42\a'`, "head -c 1; exec sleep 1000",
		func(t *testing.T, do func(...string) string) {
			do("wait", "--match", "x", "a")
			if got := do("ls", "--json"); !strings.Contains(got, `"state": "paused",
      "percent": 42`) {
				t.Errorf("the list is %s", got)
			}
		})
}
