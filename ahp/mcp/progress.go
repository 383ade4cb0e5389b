package mcp

import (
	"context"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp/history"
)

// progress tells a client that its call goes on: after a second, and then every ten.
func (c *call) progress(
	ctx context.Context, to *sdk.ServerSession, token any, done <-chan struct{},
) {
	const first, later = time.Second, 10 * time.Second
	timer, began := time.NewTimer(first), time.Now()
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-done:
			return
		case <-ctx.Done():
			return
		}
		passed := time.Since(began).Round(time.Second)
		_ = to.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token,
			Progress: passed.Seconds(), Message: passed.String() + c.printed()})
		timer.Reset(later)
	}
}

// printed says how many lines have come since the call began, and which was the last one.
func (c *call) printed() string {
	t := c.terminal.Load()
	if t == nil {
		return ""
	}
	n, last := 0, ""
	if _, err := c.lines(t, c.from.Load(), func(l *history.TextLine) bool {
		if l.Mark == "" {
			n, last = n+1, string(l.Text)
		}
		return true
	}); err != nil || n == 0 {
		return ""
	}
	const most = 120 // characters
	text, unit := []rune(plain(last, true)), "lines"
	if n == 1 {
		unit = "line"
	}
	return fmt.Sprintf(", %d %s: %s", n, unit, string(text[max(0, len(text)-most):]))
}
