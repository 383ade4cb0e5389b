package predict

import (
	"bytes"
	"time"

	"termhost/ptypool/keyboard"
	"termhost/ptypool/vt"
)

const (
	// settleTime is how long after the host has said that a program was given a key its echo may
	// come: as in mosh, for which 50 ms are enough for almost all programs and machines.
	settleTime = 50 * time.Millisecond
	// What was typed is shown for at most so many round trips without an answer, and leastShown: a
	// person must not type for long to a host that is gone, or to a program that hangs.
	tripsShown = 4
	leastShown = time.Second
)

// Predictor predicts what a terminal will show. It is not safe for concurrent use. What its methods
// append is sent to the person's terminal, at once and in the order of the calls.
type Predictor struct {
	when   When
	screen *vt.Screen // what the terminal shows, without predictions
	known  bool       // it does
	tail   []byte     // the end of the output while it is not
	rtt    trips

	typed uint64          // bytes, so far
	paste keyboard.Filter // finds pastes
	shows bool            // the host says that input is shown

	flight []key // what is on the way, the oldest first; those that have no place are the last
	run    run

	drawn bool // guess is drawn
	guess vt.Guess
}

// run is a place in which the person types.
type run struct {
	on   bool // there is one
	y    int  // its row
	from int  // the column in which it has begun
	next int  // the column in which the cursor is after the last key that has settled
	last rune // the character before that
	sure bool // a character of it was echoed
}

// New returns a Predictor for a terminal of cols by rows cells, on a connection on which a round
// trip took trip at first; 0: that is unknown.
func New(cols, rows int, when When, trip time.Duration) *Predictor {
	p := &Predictor{when: when, screen: vt.New(cols, rows, vt.Options{})}
	if trip > 0 {
		p.rtt.add(trip)
	}
	return p
}

// Typed tells that the person has typed keys, which go to the host.
func (p *Predictor) Typed(dst, keys []byte, now time.Time) []byte {
	if len(keys) == 0 {
		return dst
	}
	p.flight = append(p.flight, p.keysOf(keys, p.typed, now)...)
	p.typed += uint64(len(keys))
	if len(p.flight) > maxFlight {
		p.flight = []key{{kind: other, end: p.typed, at: now}}
		p.run = run{}
	}
	return p.follow(dst, now)
}

// Printed tells that the terminal is sent the host's output. What it returns is sent before and
// after that; mostly it is nothing. It does not retain out.
func (p *Predictor) Printed(out []byte, now time.Time) (before, after []byte) {
	before = p.takeAway(nil)
	p.screen.Feed(out, nil)
	if !p.known {
		p.look(out)
	}
	return before, p.follow(nil, now)
}

// Taken tells the host's word on the input: the program was given so many bytes of it. shows: the
// terminal echoes the next ones.
func (p *Predictor) Taken(dst []byte, given uint64, shows bool, now time.Time) []byte {
	var newest *key
	for i := range p.flight {
		if k := &p.flight[i]; k.end <= given && k.acked.IsZero() {
			k.acked, newest = now, k
		}
	}
	if newest != nil {
		p.rtt.add(now.Sub(newest.at))
	}
	if p.shows = shows; !shows {
		p.giveUp()
	}
	return p.follow(dst, now)
}

// Tick tells the time, when [Predictor.Due] says.
func (p *Predictor) Tick(dst []byte, now time.Time) []byte { return p.follow(dst, now) }

// Due returns when Tick must be called unless something else is told before; zero: it need not be.
func (p *Predictor) Due() time.Time {
	switch {
	case len(p.flight) == 0:
		return time.Time{}
	case !p.flight[0].acked.IsZero():
		return p.flight[0].acked.Add(settleTime)
	case p.drawn:
		return p.oldest().Add(p.bound())
	}
	return time.Time{}
}

// Resize tells that the terminal has another size. What it shows of predictions is drawn over by
// the host, which draws the screen then.
func (p *Predictor) Resize(cols, rows int) {
	p.giveUp()
	p.screen.Resize(cols, rows)
	p.drawn, p.known, p.tail = false, false, nil
}

// Clear takes predictions away, and ends them: the connection has ended.
func (p *Predictor) Clear(dst []byte) []byte {
	p.giveUp()
	p.flight, p.shows = nil, false
	return p.takeAway(dst)
}

// look looks for the host's first drawing, with which the terminal shows what the screen does.
func (p *Predictor) look(out []byte) {
	p.tail = append(p.tail, out...)
	p.known = bytes.Contains(p.tail, []byte(vt.DrawingBegins))
	p.tail = bytes.Clone(p.tail[max(0, len(p.tail)-len(vt.DrawingBegins)+1):])
}

// follow draws what is to be seen now.
func (p *Predictor) follow(dst []byte, now time.Time) []byte {
	p.settle(now)
	if p.drawn && now.Sub(p.oldest()) >= p.bound() {
		p.giveUp()
	}
	p.place()
	return p.draw(dst)
}

// bound returns for how long a prediction is drawn that is not answered.
func (p *Predictor) bound() time.Duration { return max(tripsShown*p.rtt.least(), leastShown) }

// oldest returns when the oldest key was typed that is drawn.
func (p *Predictor) oldest() time.Time {
	for i := range p.flight {
		if k := &p.flight[i]; k.placed && !k.arrived {
			return k.at
		}
	}
	return time.Time{}
}

// draw has the terminal show the guess that can be made now, if there is one.
func (p *Predictor) draw(dst []byte) []byte {
	g, ok := p.guessed()
	if !ok {
		return p.takeAway(dst)
	}
	if p.drawn {
		was := &p.guess
		if g.Y != was.Y || g.X > was.X || g.End() < was.End() {
			dst = p.takeAway(dst)
		} else if g.X == was.X && g.Cursor == was.Cursor && string(g.Text) == string(was.Text) {
			return dst
		}
	}
	p.drawn, p.guess = true, g
	return p.screen.AppendGuess(dst, g)
}

// takeAway takes the guess away that is drawn.
func (p *Predictor) takeAway(dst []byte) []byte {
	if !p.drawn {
		return dst
	}
	p.drawn = false
	return p.screen.AppendGuessAway(dst, p.guess)
}
