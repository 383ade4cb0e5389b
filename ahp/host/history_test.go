package host

import (
	"bytes"
	"strings"
	"testing"
)

func TestTheHistoryReachesAsFarBackAsTheContent(t *testing.T) {
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
		if lines < raw*8/10 || lines > raw*12/10+1 {
			t.Errorf("of %d bytes the content has %d lines and the history %d", kept, raw, lines)
		}
	}
}
