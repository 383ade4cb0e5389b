package predict

import (
	"slices"
	"time"

	"termhost/ptypool/vt"
)

// settle removes what is not on the way any more, and draws conclusions from it.
func (p *Predictor) settle(now time.Time) {
	p.arrive()
	for len(p.flight) > 0 {
		k := &p.flight[0]
		settled := !k.acked.IsZero() && now.Sub(k.acked) >= settleTime
		switch {
		case k.placed && k.arrived && !k.acked.IsZero():
			p.run.sure = p.run.sure || k.credits()
			p.leave(k.after())
		case !settled:
			return
		case k.kind == other:
			p.run = run{}
		case k.placed && p.isWrong():
			p.giveUp()
		case k.placed:
			p.leave(k.after())
		}
		p.flight = slices.Delete(p.flight, 0, 1)
	}
}

// leave records in which column a key that has settled has left the cursor.
func (p *Predictor) leave(x int) { p.run.next, p.run.last = x, p.screen.Char(x-1, p.run.y) }

// arrive records which placed keys the screen shows.
func (p *Predictor) arrive() {
	x, y, _ := p.screen.Cursor()
	for i := range p.flight {
		k := &p.flight[i]
		switch {
		case !k.placed || k.arrived:
			continue
		case k.kind == put && k.r == ' ':
			k.arrived = y == p.run.y && x > k.x
		case k.kind == put:
			k.arrived = p.screen.Char(k.x, p.run.y) == k.r
		default:
			k.arrived = y == p.run.y && x == k.x && p.screen.Char(k.x, y) == ' '
		}
		if !k.arrived {
			return
		}
	}
}

// isWrong reports whether the first key, which has settled and is not on the screen, should be
// there. Of keys that a later one has undone, only the end is known.
func (p *Predictor) isWrong() bool {
	k := &p.flight[0]
	if k.kind == put {
		return !k.undone && k.r != ' '
	}
	again := slices.ContainsFunc(p.flight, func(l key) bool {
		return l.placed && l.kind == put && l.x == k.x
	})
	return !again && p.screen.Char(k.x, p.run.y) != ' '
}

// giveUp ends the run: what is on the way is predicted anew, once it is known where.
func (p *Predictor) giveUp() {
	for i := range p.flight {
		k := &p.flight[i]
		k.placed, k.undone, k.arrived = false, false, false
	}
	p.run = run{}
}

// place gives columns to keys that have none yet. The first one's is the cursor's, once all that
// was typed before it has settled; if it may be on the screen already, it has to settle, too.
func (p *Predictor) place() {
	if !p.shows || !p.known {
		return
	}
	at := -1 // the column behind the last placed key; -1: there is none
	for i := range p.flight {
		k := &p.flight[i]
		switch {
		case k.kind == quiet:
			continue
		case k.kind == other:
			return
		case k.placed:
			at = k.after()
			continue
		case at < 0:
			x, y, ok := p.screen.Spot()
			if !ok || !k.acked.IsZero() {
				return
			}
			last := p.screen.Char(x-1, y)
			if r := &p.run; !r.on || r.y != y || r.next != x || r.last != last {
				*r = run{on: true, y: y, from: x, next: x, last: last}
			}
			at = x
		}
		if !p.put(i, at) {
			return
		}
		at = k.after()
	}
}

// put places a key, for a cursor in column x. It fails where that might be wrong.
func (p *Predictor) put(i, x int) bool {
	k := &p.flight[i]
	cols, _ := p.screen.Size()
	switch {
	case k.kind == put && x < cols-1 && p.shown(x) == ' ' && p.shown(x+1) == ' ':
		k.x = x
	case k.kind == erase && x > p.run.from && p.shown(x) == ' ':
		k.x = x - 1
		for j := i - 1; j >= 0; j-- {
			if l := &p.flight[j]; l.placed && l.kind == put && l.x == k.x && !l.undone {
				l.undone = true
				break
			}
		}
	default:
		return false
	}
	k.placed, k.arrived = true, false
	return true
}

// shown returns the character in a column of the run's row once all that is placed has arrived.
func (p *Predictor) shown(x int) rune {
	r := p.screen.Char(x, p.run.y)
	for i := range p.flight {
		if k := &p.flight[i]; k.placed && k.x == x {
			r = k.r
			if k.kind == erase {
				r = ' '
			}
		}
	}
	return r
}

// guessed returns the drawing of the keys that have not arrived. The cursor must be where the first
// such key has its effect, as with all programs that echo.
func (p *Predictor) guessed() (g vt.Guess, ok bool) {
	if !p.known || !p.shows || !p.run.sure || p.when != Always && !p.rtt.slow {
		return g, false
	}
	x, y, ok := p.screen.Spot()
	if !ok || y != p.run.y {
		return g, false
	}
	first := slices.IndexFunc(p.flight, func(k key) bool { return k.placed && !k.arrived })
	if first < 0 || p.flight[first].before() != x {
		return g, false
	}
	g = vt.Guess{X: x, Y: y, Cursor: x}
	for i := range p.flight[first:] {
		k := &p.flight[first+i]
		if !k.placed {
			continue
		}
		if k.x < g.X {
			g.Text = slices.Insert(g.Text, 0, 0)
			g.X = k.x
		}
		if k.x == g.End() {
			g.Text = append(g.Text, 0)
		}
		g.Text[k.x-g.X] = 0
		if k.kind == put {
			g.Text[k.x-g.X] = k.r
		}
		g.Cursor = k.after()
	}
	for n := len(g.Text); n > 0 && g.Text[n-1] == 0 && p.screen.Char(g.X+n-1, y) == ' '; n-- {
		g.Text = g.Text[:n-1]
	}
	return g, len(g.Text) > 0 || g.Cursor != x
}
