package main

import (
	"strings"
	"syscall"
	"testing"
)

// TestProgressGoesOnAfterARestart: also when the log has lost its beginning.
func TestProgressGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, lines string }{{"a log", "1"}, {"a long log", "200000"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			start, _, do := keptHost(t, "\nterminal.log_bytes = \"256KiB\"\n")
			h := start()
			do("new", "-d", "-n", "a", "--", "sh", "-c", `stty -icanon -echo
				printf '\033]9;4;4;42\a'; seq `+c.lines+`; echo printed; head -c 1; exec sleep 1000`)
			do("wait", "--match", "printed", "a")
			_ = h.Stop(syscall.SIGKILL)
			start()
			do("send", "a", "x") // the log is read
			do("wait", "--match", "x", "a")
			if got := do("ls", "--json"); !strings.Contains(got, `"state": "paused",
      "percent": 42`) {
				t.Errorf("the list is %s", got)
			}
		})
	}
}
