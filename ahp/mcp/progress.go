package mcp

import (
	"context"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp/history"
	"termhost/ahp/visible"
)

// progress tells a client that its call goes on: after a second, and then every ten.
func (c *call) progress(
	ctx context.Context, to *sdk.ServerSession, token any, done <-chan struct{},
) {
	const first, later = time.Second, 10 * time.Second
	timer, began := time.NewTimer(first), time.Now()
	defer timer.Stop()
	var output printed
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
			Progress: passed.Seconds(), Message: passed.String() + output.text(c)})
		timer.Reset(later)
	}
}

// printed is what progress knows of a call's output.
type printed struct {
	upTo int64 // where reading goes on
	n    int   // lines that have ended
	last string
}

// text says how many lines have come since the call began, and which was the last one.
func (p *printed) text(c *call) string {
	t := c.terminal.Load()
	if t == nil {
		return ""
	}
	unfinished := 0
	e, err := c.lines(t, max(p.upTo, c.from.Load()), func(l *history.TextLine) bool {
		switch {
		case l.Mark != "":
			return true
		case l.Unfinished, l.Part:
			unfinished = 1
		default:
			p.n, unfinished = p.n+1, 0
		}
		p.last = string(l.Text)
		return true
	})
	if err != nil {
		return ""
	}
	if p.upTo = e.Next; p.n+unfinished == 0 {
		return ""
	}
	const most = 120 // characters
	n, unit := p.n+unfinished, "lines"
	if n == 1 {
		unit = "line"
	}
	text := []rune(indented(visible.Clean(p.last), false))
	return fmt.Sprintf(", %d %s: %s", n, unit, visible.Clean(string(text[max(0, len(text)-most):])))
}
