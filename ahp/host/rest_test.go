package host_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// TestWhatHasPrintedMoreIsNotAtRest: whether it is again is seen only when it is looked at. A wait
// that believed what was seen before would take a command that has just begun for a prompt.
func TestWhatHasPrintedMoreIsNotAtRest(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	c := connect(t, h, carol, "c").c
	fifo := filepath.Join(t.TempDir(), "fifo")
	hosttest.Check(t, unix.Mkfifo(fifo, 0o600))
	term := run(t, h, carol, "x", `printf '\033[?1049h'; read x <`+fifo+`; printf '\033[?1049lbegun'; sleep 1000`)
	got, err := c.Wait(t.Context(), term, host.WaitFor{Rest: true, Timeout: hosttest.Patience})
	if err != nil || got.Reason != host.WaitRest {
		t.Fatalf("while it fills the screen: %+v, %v", got, err)
	}
	hosttest.Check(t, os.WriteFile(fifo, []byte("\n"), 0))
	awaitOutput(t, h, term, "begun")
	if term.AtRest() {
		t.Error("a program that has begun to do something counts as one that waits to be used")
	}
}
