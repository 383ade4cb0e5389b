package main

import (
	"fmt"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
)

// TestCommandTimesAreTheSameAfterAKill: the keeper logs output at a time of its own, and the next
// host tells what the killed one has told.
func TestCommandTimesAreTheSameAfterAKill(t *testing.T) {
	t.Parallel()
	start, _, do := keptHost(t, "\nterminal.shell = \"/bin/bash\"\n")
	h := start()
	do("new", "-d", "-n", "w")
	const count = 40
	for i := range count {
		do("send", "--enter", "w", fmt.Sprintf("echo %d; sleep 0.0%d", i, i%10))
		do("wait", "--command", "--timeout", "60s", "w")
	}
	hosttest.Eventually(t, "all commands have ended", func() bool {
		return strings.Count(do("log", "--commands", "--json", "w"), `"exitCode": 0`) == count
	})
	tell := func() map[string]string {
		told := map[string]string{}
		for _, form := range []string{"--commands --json", "--commands", "--json"} {
			told[form] = do(append(append([]string{"log"}, strings.Fields(form)...), "w")...)
		}
		return told
	}
	was := tell()
	hosttest.Check(t, h.Cmd.Process.Kill())
	<-h.Ended
	start()
	for form, is := range tell() {
		before, after := strings.Split(was[form], "\n"), strings.Split(is, "\n")
		for i := range min(len(before), len(after)) {
			if before[i] != after[i] {
				t.Fatalf("log %s tells %.300q, and before %.300q", form, after[i], before[i])
			}
		}
	}
}
