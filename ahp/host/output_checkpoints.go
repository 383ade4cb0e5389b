package host

import (
	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/ptypool/vt"
)

// checkpoints appends output to a terminal's content and makes the checkpoints in it. The store
// trims content that has become too long at a checkpoint. The checkpoint's preamble is what a fresh
// terminal has to be told, so that it ends in the host's screen after what remains of the content.
// It is guarded by the Term's lock.
type checkpoints struct {
	asked bool // the store wants a checkpoint
	since int  // bytes of output since the last one
	cost  int  // the length of the last preamble, in bytes
}

const (
	// minSpacing is how many bytes of output there are at least for each byte of preamble. A
	// preamble takes about as long to make as so many bytes to parse, and it is kept. Neither must
	// be noticed while a program floods.
	minSpacing = 8
	// maxSpacing, in bytes, is after how much output there is a checkpoint at the latest, however
	// large the screen is: a quarter of the content that is configured by default.
	maxSpacing = 256 << 10
)

// data appends output.
func (c *checkpoints) data(ch *store.Channel, p []byte) {
	c.since += len(p)
	if ch.AppendData(p) {
		c.asked = true
	}
}

// command counts a command that has been appended: even without any output, a million of them must
// not stay for ever.
func (c *checkpoints) command(ch *store.Channel, a ahp.TerminalCommandExecuted) {
	c.since += commandCost + len(a.CommandID) + len(a.CommandLine) + len(a.By) + len(a.Cwd)
	if ch.CheckpointDue() {
		c.asked = true
	}
}

// commandCost is about what a command costs besides its texts, in bytes.
const commandCost = 128

// fed makes the checkpoint that the store asked for. All output so far has been handled, so the
// screen is what it draws.
func (c *checkpoints) fed(ch *store.Channel, screen *vt.Screen) {
	if !c.asked || c.since < min(minSpacing*c.cost, maxSpacing) {
		return
	}
	preamble := screen.AppendRedraw(nil, vt.Redraw{}) // not the scrollback: that is what is cut off
	ch.Checkpoint(preamble)
	*c = checkpoints{cost: len(preamble)}
}

// resized has a checkpoint made soon: what was drawn before replays rightly only in the size that
// it was drawn for.
func (c *checkpoints) resized() { c.asked = true }
