package host

import (
	"bytes"
	"strings"
	"testing"
)

func TestTheHistoryReachesAsFarBackAsTheContentWithinItsBound(t *testing.T) {
	for _, kept := range []int{64 << 10, 1 << 20} {
		h := newHost(t, func(c *Config) { c.ScrollbackBytes = kept })
		term := run(t, h, carol, "x", "seq 1 20000; printf '\\nend'; exec cat")
		term.awaitOutput(t, "end")
		st, err := h.Read(carol, term)
		if err != nil {
			t.Fatal(err)
		}
		history, err := h.History(carol, term)
		if err != nil {
			t.Fatal(err)
		}
		raw, lines := strings.Count(text(st), "\n"), bytes.Count(history, []byte("\n"))
		// The content is cut in large pieces and may hold far less.
		if lines < raw*9/10 || len(history) > kept {
			t.Errorf("of %d bytes the content has %d lines, the history %d in %d bytes", kept, raw, lines, len(history))
		}
	}
}
