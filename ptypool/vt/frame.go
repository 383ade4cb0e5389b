package vt

import (
	"bytes"
	"time"
)

// frame is what a program draws between CSI ? 2026 h and CSI ? 2026 l (contour's VT extensions,
// "Synchronized Output"). Nobody is to see it before it is complete.
type frame struct {
	hides  bool      // the screen hides frames: see Options.HideFrames
	before *model    // what was shown before the frame; nil: there is none, or it is not hidden
	began  time.Time // as Tick has told
	// last is where the last end of a frame is in output.in; -1: there is none, unknown: nobody has
	// looked for it.
	last int
}

// unknown is the value of frame.last before it is needed.
const unknown = -2

// frameEnd ends a frame. Programs that end it together with other modes have their screens copied
// more often than needed.
var frameEnd = []byte("\x1b[?2026l")

// synchronize begins or ends a frame. A frame that ends in the same chunk of output takes no copy:
// nobody looks in between.
func (s *Screen) synchronize(on bool) {
	f, o := &s.frame, &s.output
	if !on {
		f.before = nil
		return
	}
	if !f.hides || f.before != nil {
		return
	}
	if f.last == unknown {
		f.last = bytes.LastIndex(o.in, frameEnd)
	}
	if f.last < o.at {
		f.before = s.model.still()
		f.began = s.now
	}
}

// EndFrame has shown what the program has drawn so far of a frame.
func (s *Screen) EndFrame() {
	s.frame.before = nil
	s.model.modes.set(modeSync, false)
}

// shown returns the visible state: the present one or, while a frame is being drawn, the one before
// it.
func (s *Screen) shown() *model {
	if s.frame.before != nil {
		return s.frame.before
	}
	return &s.model
}

// still returns a copy of what m shows, without scrollback.
func (m *model) still() *model {
	c := *m
	c.main.copyParts()
	c.alt.copyParts()
	c.grid = &c.main
	if m.altShown() {
		c.grid = &c.alt
	}
	c.tabs = append([]uint64(nil), m.tabs...)
	c.table.share()
	c.history = history{pushed: m.history.pushed}
	return &c
}

// share has tb share the entries of the table that it is a copy of. Entries that are added to one
// do not get into the other, and sweeps never change them in place.
func (tb *table) share() {
	tb.styles, tb.styleIndex = tb.styles[:len(tb.styles):len(tb.styles)], nil
	tb.clusters, tb.clusterIndex = tb.clusters[:len(tb.clusters):len(tb.clusters)], nil
	tb.hyperlinks = tb.hyperlinks[:len(tb.hyperlinks):len(tb.hyperlinks)]
	tb.hyperlinkIndex = make(map[hyperlink]uint32)
}
