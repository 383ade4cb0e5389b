package main

import (
	"os/exec"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
)

// TestALocalAttachInsideItselfIsRefused: also by the host's socket.
func TestALocalAttachInsideItselfIsRefused(t *testing.T) {
	t.Parallel()
	start, _, do := keptHost(t, "")
	start()
	program, err := exec.LookPath("termhost")
	hosttest.Check(t, err)
	do("new", "-d", "-n", "self", "--", "sh", "-c",
		program+" attach -c ~/c.toml self; echo status=$?; exec cat")
	hosttest.Eventually(t, "it is refused", func() bool {
		log := do("log", "self")
		return strings.Contains(log, "you are inside self") && strings.Contains(log, "status=1")
	})
}
