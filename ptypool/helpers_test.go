package ptypool

import (
	"os"
	"os/signal"
	"testing"

	"termhost/ptypool/vt"
)

func vtOptions() vt.Options { return vt.Options{} }

// ignoreSignal sets sig to SIG_IGN in this process for the length of a test.
func ignoreSignal(t *testing.T, sig os.Signal) {
	signal.Ignore(sig)
	t.Cleanup(func() { signal.Reset(sig) })
}
