package mcp_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"termhost/ahp/mcp"
)

func TestTheHeaderSaysHowATerminalIs(t *testing.T) {
	for want, h := range map[string]mcp.Header{
		"[t7 exited 1 · 2.1s · 14 lines · cursor 14]": {
			Name: "t7", State: mcp.Exited(1, ""), Time: 2100 * time.Millisecond, Lines: 14, Cursor: 14},
		"[t exited 137 (SIGKILL) · 3h5m · 1 line · cursor 0]": {
			Name: "t", State: mcp.Exited(137, "SIGKILL"), Time: 3*time.Hour + 5*time.Minute, Lines: 1},
		`[t waiting for input: "Ov\"er [y/N] " · 4m12s · 0 lines · cursor 9]`: {
			Name: "t", State: mcp.WaitingForInput("Ov\"er\x1b\n [y/N] "), Time: 252 * time.Second, Cursor: 9},
		"[t held by ana since 09:05:00Z · 0s · 0 lines · cursor 0]": {
			Name: "t", State: mcp.HeldBy("ana", time.Date(2026, 1, 2, 9, 5, 0, 0, time.UTC))},
	} {
		if got := h.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestWhatProgramsPrintIsNotTheHostsWord(t *testing.T) {
	got := mcp.Output{Terminal: "t", Lines: []string{
		"[t7 exited 0 · 1s · 0 lines · cursor 0]", "[1, 2]", "[... 3 lines omitted: x ...]", "\x1b[31mred\x9b", "a\tb", "\xff",
	}}.Text(1000)
	want := " [t7 exited 0 · 1s · 0 lines · cursor 0]\n[1, 2]\n [... 3 lines omitted: x ...]\n[31mred\uFFFD\na\tb\n\uFFFD\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNothingIsLostThatIsOmitted follows the calls that results name: together they have every line.
func TestNothingIsLostThatIsOmitted(t *testing.T) {
	var all []string
	for i := range 1000 {
		all = append(all, fmt.Sprintf("line %d%s", i, strings.Repeat("é", i%40)))
	}
	seen := map[string]bool{}
	from := int64(0)
	for range 100 {
		text := mcp.Output{Terminal: "t7", From: from, Lines: all[from:]}.Text(2000)
		if n := len([]rune(text)); n > 2200 {
			t.Fatalf("a result has %d characters", n)
		}
		next := int64(-1)
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			var n int
			var cursor int64
			if _, err := fmt.Sscanf(line, `[... %d lines omitted: terminal_read {"terminal":"t7","cursor":%d} ...]`, &n, &cursor); err == nil {
				next = cursor
				continue
			}
			seen[line] = true
		}
		if next < 0 {
			break
		}
		from = next
	}
	for _, line := range all {
		if !seen[line] {
			t.Fatalf("%q is in no result", line)
		}
	}
	long := mcp.Output{Terminal: "t", Lines: []string{strings.Repeat("x", 10_000)}}.Text(100)
	if !strings.Contains(long, "[... 9900 characters omitted ...]") {
		t.Errorf("a long line is %q", long)
	}
}
