package host

import (
	"time"

	"termhost/ahp"
	"termhost/ptypool"
)

// began tells everybody that user began the command that runs now.
func (c *commands) began(user string) {
	c.startedBy = user
	if c.t.kept.replay == nil {
		c.t.attention.acted()
		c.t.status.commandBegins()
	}
	c.t.listChanged()
	c.t.emitLive(Event{Kind: EventCommandStarted, By: user})
}

// over ends the command that was running, and tells everybody.
func (c *commands) over(a ahp.TerminalCommandFinished) {
	t := c.t
	c.running = ""
	t.listChanged()
	t.groupMayChange() // it may have been a git checkout
	t.emitLive(Event{Kind: EventCommandFinished, By: c.startedBy, ExitCode: a.ExitCode,
		DurationMs: a.DurationMs})
	t.approvals.endTrust(errTrustEnded)
	t.status.commandEnds()
	if t.waiting.list != nil && t.kept.replay == nil {
		t.waiting.list.Finished(a.ExitCode)
	}
	ms := a.DurationMs
	failed := a.ExitCode != nil && *a.ExitCode != 0
	switch {
	case ms == nil:
	case failed && *ms > t.host.cfg().AttentionAfter.Milliseconds():
		t.attention.ended(WantFailed, true)
	case *ms >= longCommand.Milliseconds():
		t.attention.ended(WantCommand, true)
	}
}

// begunBy returns who typed the command that begins now.
func (c *commands) begunBy() string {
	if rp := c.t.kept.replay; rp != nil {
		return rp.told[c.running].by
	}
	return c.typist.begins()
}

// beganAt returns when the command that begins now did. What was told of it once stays so.
func (c *commands) beganAt() time.Time {
	if rp := c.t.kept.replay; rp != nil && rp.told[c.running].timestamp != 0 {
		return time.UnixMilli(rp.told[c.running].timestamp)
	}
	return c.t.log.when()
}

// took returns how long the command took that ends now, in milliseconds. What was told of it once
// stays so.
func (c *commands) took() int64 {
	if rp := c.t.kept.replay; rp != nil && rp.told[c.running].took != nil {
		return *rp.told[c.running].took
	}
	return max(c.t.log.when().Sub(c.startedAt).Milliseconds(), 0)
}

// finish ends the command that is running, if there is one. code is nil if it is unknown.
func (c *commands) finish(code *int) { c.finishBy(code, c.t.log.appendParsed) }

// finishBy is finish with what appends the action.
func (c *commands) finishBy(code *int, add func(ahp.Action)) {
	t := c.t
	if c.running == "" {
		return
	}
	t.output.flushSmall()
	ms := c.took()
	over := ahp.TerminalCommandFinished{CommandID: c.running, ExitCode: code, DurationMs: &ms}
	add(over)
	c.over(over)
}

// finishLast ends the command that is running when the program ends.
func (c *commands) finishLast(code int) {
	if code == ptypool.UnknownExit {
		c.finish(nil)
	}
	c.finish(&code)
}

// shellReplaced records that another shell, which tells nothing, is at its prompt in the place of
// the one that told of its commands: nobody knows how the command ended by which it came there.
func (c *commands) shellReplaced() {
	c.finishBy(nil, func(a ahp.Action) { c.t.log.append(a, nil) }) // no output tells it
	c.replaced.Store(true)
	c.t.approvals.shellTells = false
	c.t.approvals.publishHeld()
}
