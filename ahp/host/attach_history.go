package host

import (
	"slices"
	"time"

	"termhost/ptypool/vt"
)

// A window gets the lines above the screen before anything that is printed later, because a
// terminal can only add to the end of its scrollback. They may take long on a slow line. So the
// screen is drawn first, and drawn again as it changes, as under something that lies over it; then
// the lines are sent, with those that have left the screen meanwhile, and the output is from then
// on written as it is.

// laterHistory is what a viewer is to be sent of the lines above the screen. It is guarded by the
// Term's lock.
type laterHistory struct {
	due   bool   // [Attach.SendHistory] has not been called
	from  uint64 // viewers.scrolled() when the screen was drawn
	lines int    // how many lines were above the screen, of those that the window is to get
	size  int    // of them, in bytes
	known int    // how many more lines the window has from before; -1: none, it is a new one
}

// shortHistory, in bytes, is how many lines above the screen are sent at once with it: less than a
// second's worth on a line of 20 kB/s.
const shortHistory = 16 << 10

// firstLocked returns what draws the present state for a viewer that comes.
func (a *Attach) firstLocked() ([]byte, error) {
	if a.opts.Cols == 0 || a.opts.Plain || !a.sameSizeLocked() {
		return a.redrawLocked()
	}
	if err := a.sub.Follow(a.t.ch); err != nil {
		return nil, err
	}
	screen := a.t.term.Screen()
	a.scrolled, a.rung = a.t.viewers.scrolled(), a.t.attention.bells
	h := &a.later
	*h = laterHistory{from: a.scrolled, known: -1}
	most := -1
	if a.opts.History > 0 {
		most = a.opts.History
	}
	r := vt.Redraw{Own: true}
	if p, ok := a.t.viewers.returns(a); ok && !a.opts.Anew {
		missed := max(int(a.scrolled-p.scrolled), 0)
		if total := screen.HistoryLines(); missed < total && (most < 0 || missed < most) {
			h.known, most = total-missed, missed
			r.Update = a.below == 0 && p.shown(a.t.host.now())
		}
	}
	h.lines, h.size = screen.NewestHistory(most, -1)
	if h.due = a.opts.Later && h.size > shortHistory; h.due || a.below > 0 {
		if !h.due {
			a.scrolled -= uint64(h.lines) // the first drawing lifts them
		}
		return screen.AppendArrival(nil, a.cols, a.rows, a.below, !r.Update, &a.picture), nil
	}
	r.Scrollback = h.lines
	return a.drawLocked(nil, r)
}

// HistoryDue returns how many bytes the lines above the screen take that the viewer gets later; 0:
// it got them with the screen. Until it calls SendHistory, it is drawn by [Attach.Covered].
func (a *Attach) HistoryDue() (size int) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	if !a.later.due {
		return 0
	}
	return a.later.size
}

// SendHistory has the next [Attach.Uncover] send the newest of the lines above the screen that take
// about so many bytes, and returns how many these are, and of how many.
func (a *Attach) SendHistory(bytes int) (lines, of int) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	h := &a.later
	now := a.t.viewers.scrolled()
	since := max(int(now-h.from), 0) // lines that have left the screen after it was drawn
	if !h.due || a.scrolled != h.from {
		return 0, h.lines // newer ones have been sent, and these cannot get above them
	}
	h.due = false
	lines, _ = a.t.term.Screen().NewestHistory(h.lines+since, bytes)
	a.scrolled = now - uint64(lines)
	return lines, h.lines + since
}

// KnownHistory returns how many lines the viewer's window was not sent because it has them from
// before.
func (a *Attach) KnownHistory() int {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return max(a.later.known, 0)
}

// missesLocked reports whether lines have left the screen that the viewer has not been sent.
func (a *Attach) missesLocked() bool { return int(a.t.viewers.scrolled()-a.scrolled) > 0 }

// place is where a window has stopped following the terminal.
type place struct {
	principal  string
	from       string // AttachOptions.From
	cols, rows int
	scrolled   uint64 // viewers.scrolled(): the window has all lines before
	at         time.Time
	detached   bool // by its person; else it was lost
}

const (
	// soon is how long after its loss a view is taken up again by the same window, in which nothing
	// that matters was printed since: by a loop that connects again, or a key or two. atOnce is the
	// same for one that somebody has detached, where other commands may have printed something.
	soon, atOnce = 5 * time.Second, 2 * time.Second
	// awhile is how long a window that somebody has detached is taken for the same one. One that
	// was lost may have been closed, and a new one of the same size be opened instead.
	awhile = 10 * time.Minute
	// maxPlaces bounds how many windows a terminal remembers.
	maxPlaces = 8
)

// shown reports whether the window still shows the screen, and nothing that matters besides.
func (p *place) shown(now time.Time) bool {
	if p.detached {
		return now.Sub(p.at) < atOnce
	}
	return now.Sub(p.at) < soon
}

// Place returns where a viewer that was written the output is, for Leaves; ok is false if that is
// not known. What was written before may be under way.
func (a *Attach) Place() (scrolled uint64, ok bool) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	if a.below > 0 {
		return a.scrolled, !a.later.due && a.sameSizeLocked()
	}
	return a.t.viewers.scrolled(), !a.later.due && a.fitsLocked() && a.sub.Lag(a.t.ch) == 0
}

// Leaves remembers that the viewer's window has all lines up to a Place. detached: its person has
// ended the view, and the window is still there. If it comes back, it is not sent these again.
func (a *Attach) Leaves(scrolled uint64, detached bool) {
	if a.opts.From == "" {
		return
	}
	a.t.term.Lock()
	defer a.t.term.Unlock()
	v := &a.t.viewers
	v.places = append(v.places, place{principal: a.conn.principal.ID, from: a.opts.From,
		cols: a.cols, rows: a.rows, scrolled: scrolled, at: a.t.host.now(), detached: detached})
	if n := len(v.places); n > maxPlaces {
		v.places = slices.Delete(v.places, 0, n-maxPlaces)
	}
}

// returns returns the place of the viewer's window, if it comes back: exactly one that is like it
// was here before, for a while. The place is forgotten.
func (v *viewers) returns(a *Attach) (p place, ok bool) {
	now := v.t.host.now()
	v.places = slices.DeleteFunc(v.places, func(p place) bool {
		age := now.Sub(p.at)
		return age >= awhile || age >= soon && !p.detached
	})
	like := func(p place) bool {
		return p.principal == a.conn.principal.ID && p.from == a.opts.From &&
			p.cols == a.cols && p.rows == a.rows
	}
	for _, q := range v.places {
		if like(q) {
			if ok {
				return place{}, false // one of two
			}
			p, ok = q, true
		}
	}
	v.places = slices.DeleteFunc(v.places, like)
	return p, ok
}
