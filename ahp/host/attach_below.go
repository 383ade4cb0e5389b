package host

// A viewer may have rows below its window for itself, such as a status line. The program must not
// disturb them, whatever it prints: a reset, another scroll region, the other screen. So its output
// is not written to such a terminal as it is. All of it is drawn, as in a window of another size;
// in one of the screen's size the lines that leave that are scrolled into the terminal's scrollback
// with the next drawing.

// mostLifted, in bytes, bounds the lines that get into a terminal's scrollback with one drawing. A
// program can fill the whole scrollback between two, and the person's next key waits for them.
const mostLifted = 1 << 20

// wakeBelow has the viewers with rows below their windows look at what they say there: it has
// changed without output. The Term's lock is held.
func (v *viewers) wakeBelow() {
	for _, a := range v.open {
		if a.below > 0 {
			a.sub.Wake()
		}
	}
}

// KeepBelow tells how many rows the viewer's terminal has below its window from now on. With some
// the viewer only draws, by [Attach.Covered].
func (a *Attach) KeepBelow(rows int) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	a.below = rows
}

// DropMissed has the lines that have left the screen since the viewer was drawn last, if they take
// more bytes than that, not get into its terminal's scrollback.
func (a *Attach) DropMissed(bytes int) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	now := a.t.viewers.scrolled()
	missed := int(now - a.scrolled)
	if a.below == 0 || a.later.due || missed <= 0 {
		return
	}
	if _, size := a.t.term.Screen().NewestHistory(missed, -1); size > bytes {
		a.scrolled = now
	}
}

// liftsLocked returns how many of the newest lines above the screen the next drawing, with o over
// it, brings to the scrollback of a terminal that is only drawn. What is over the screen must not
// get there.
func (a *Attach) liftsLocked(o Over) int {
	missed := int(a.t.viewers.scrolled() - a.scrolled)
	switch {
	case a.below == 0, a.later.due, missed <= 0, o.First > 0 || o.Rows > 0, !a.sameSizeLocked():
		return 0
	}
	lines, _ := a.t.term.Screen().NewestHistory(missed, mostLifted)
	return lines
}
