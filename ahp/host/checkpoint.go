package host

import (
	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/ptypool/vt"
)

// checkpoints cuts a terminal's content where it gets too long: the store trims
// at checkpoints, and a checkpoint's preamble is what a fresh terminal needs to
// be told so that the rest of the content ends in the host's screen. It is
// guarded by the Term's lock.
type checkpoints struct {
	asked bool // the store wants one
	since int  // bytes of output since the last one
	cost  int  // of the last preamble, in bytes
}

const (
	// cheapness is how much output there is per byte of preamble: to draw a
	// screen costs about as much as to parse one, and preambles are kept; neither
	// must show in a flood.
	cheapness = 8
	// maxSpacing, in bytes, is after how much output a checkpoint comes however
	// large the screen is: a quarter of the content as configured by default.
	maxSpacing = 256 << 10
)

// data appends output.
func (c *checkpoints) data(ch *store.Channel, p []byte) {
	c.since += len(p)
	if ch.AppendData(p) {
		c.asked = true
	}
}

// command counts a command that has been appended: a million of them without
// output must not stay for ever.
func (c *checkpoints) command(ch *store.Channel, a ahp.TerminalCommandExecuted) {
	c.since += commandCost + len(a.CommandID) + len(a.CommandLine)
	if ch.CheckpointDue() {
		c.asked = true
	}
}

// commandCost is about what a command costs besides its texts, in bytes.
const commandCost = 128

// fed makes the checkpoint that the store asked for. The output so far has been
// handled whole, so the screen is what it paints.
func (c *checkpoints) fed(ch *store.Channel, screen *vt.Terminal) {
	if !c.asked || c.since < min(cheapness*c.cost, maxSpacing) {
		return
	}
	preamble := screen.AppendRedraw(nil, vt.Redraw{}) // without scrollback: that is what is cut
	ch.Checkpoint(preamble)
	*c = checkpoints{cost: len(preamble)}
}

// resized has a checkpoint made soon: what was painted before replays right only
// in the size it was painted for.
func (c *checkpoints) resized() { c.asked = true }
