package mcp_test

import (
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
			Name: "t", State: mcp.WaitingForInput("Ov\"\U000e0141e\u200dr\x1b\n [y/N] "), Time: 252 * time.Second, Cursor: 9},
		"[t held by ana since 09:05:00Z · 0s · 0 lines · cursor 0]": {
			Name: "t", State: mcp.HeldBy("ana", time.Date(2026, 1, 2, 9, 5, 0, 0, time.UTC))},
	} {
		if got := h.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
