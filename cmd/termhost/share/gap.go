package share

import (
	"fmt"
	"slices"

	"termhost/ahp"
)

// gap is what the outbox had to drop. It is guarded by outbox.mu.
type gap struct {
	lost int // bytes of output
	// state is what remains of the dropped changes to the terminal's state, in order: see across.
	state []*item
	// unsure are dropped items that were sent on a connection which was lost: the host may have
	// them. They come before all of state.
	unsure []*item
}

// add adds an item to the end of the gap.
func (g *gap) add(i *item) {
	g.lost += i.outputBytes()
	if i.tried {
		g.unsure = append(g.unsure, i)
	} else {
		g.state = across(g.state, i)
	}
}

// prepend adds an item to the beginning of the gap.
func (g *gap) prepend(i *item) { g.state = acrossAll([]*item{i}, g.state) }

// close empties the gap and returns the items to send in its place. unsure remains until the next
// connection tells what has arrived.
func (g *gap) close() []*item {
	items := g.state
	if g.lost > 0 {
		text := &item{action: ahp.TerminalOutput{Data: []byte(gapText(g.lost))},
			size: actionBytes, lost: g.lost}
		items = slices.Insert(items, 0, text)
	}
	g.state, g.lost = nil, 0
	return items
}

// resume returns the unsure items that a host has which has accepted everything up to a clientSeq.
// The others are dropped for good.
func (g *gap) resume(accepted int64) (arrived []*item) {
	var missing []*item
	for _, i := range g.unsure {
		if i.isIn(accepted) {
			arrived = append(arrived, i)
			g.lost -= i.outputBytes()
		} else {
			i.resend()
			missing = across(missing, i)
		}
	}
	g.state = acrossAll(missing, g.state)
	g.unsure = nil
	return arrived
}

// across appends a dropped item to state, what remains of the items dropped before it, and returns
// what then remains: the newest size, the end of a command of whose beginning the host may know,
// and the beginning of the command that runs.
func across(state []*item, i *item) []*item {
	replaced := func(*item) bool { return false }
	switch a := i.action.(type) {
	case ahp.TerminalOutput:
		return state
	case ahp.TerminalResized:
		replaced = func(q *item) bool { _, ok := q.action.(ahp.TerminalResized); return ok }
	case ahp.TerminalCommandFinished:
		replaced = func(q *item) bool {
			begun, ok := q.action.(ahp.TerminalCommandExecuted)
			return ok && begun.CommandID == a.CommandID
		}
		if slices.ContainsFunc(state, replaced) { // the host never hears of this command
			return slices.DeleteFunc(state, replaced)
		}
	}
	return append(slices.DeleteFunc(state, replaced), i)
}

// acrossAll is across for several items.
func acrossAll(state, dropped []*item) []*item {
	for _, i := range dropped {
		state = across(state, i)
	}
	return state
}

// gapText is what watchers see where output is missing.
func gapText(n int) string {
	return fmt.Sprintf("\x1b[0m\r\n[termhost: %s of output are missing here]\r\n", roundBytes(n))
}

// roundBytes writes a size for people.
func roundBytes(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
