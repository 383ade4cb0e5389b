package main

import (
	"strings"
	"syscall"
	"testing"
)

// TestAProgramReadsItsCopyAfterARestart: what was copied is known to the next host, also when the
// log has lost its beginning.
func TestAProgramReadsItsCopyAfterARestart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, lines string }{{"a log", "1"}, {"a long log", "200000"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			start, _, do := keptHost(t, "\nterminal.log_bytes = \"256KiB\"\n")
			h := start()
			do("new", "-d", "-n", "a", "--", "sh", "-c", `stty raw -echo opost onlcr
				printf '\033]52;c;Y29waWVk\a'; seq `+c.lines+`; echo printed; head -c 1 >/dev/null
				printf '\033]52;p;?\033\\'; dd bs=64 count=1 2>/dev/null | tr '\033' E; exec sleep 1000`)
			do("wait", "--match", "printed", "a")
			_ = h.Stop(syscall.SIGKILL)
			start()
			do("send", "a", "x")
			do("wait", "--match", "E", "a")
			if got := do("peek", "a"); !strings.Contains(got, `E]52;p;Y29waWVkE\`) {
				t.Errorf("the program reads %q", got)
			}
		})
	}
}
