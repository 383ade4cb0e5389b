package idle

import (
	"bytes"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ptypool"
	"termhost/ptypool/foreground"
	"termhost/ptypool/ticks"
	"termhost/ptypool/vt"
)

// When to look, counted from the last activity: output, or something typed. Most programs print a
// question and read the answer at once, so the first look finds them. The second and the third find
// those that take a while before they read. A program may also begin to wait without any activity,
// so the looks continue, less and less often; but not while a shell is at its prompt, which it
// leaves only with activity. So a terminal in which nothing runs costs nothing.
const (
	firstLook  = 50 * time.Millisecond
	secondLook = 200 * time.Millisecond
	thirdLook  = time.Second
	// seldomLook is about the longest time between two looks: with a command running silently in
	// each of 500 terminals there are 10 looks in a second, all at once (see [ticks.Wait]).
	seldomLook = 50 * time.Second
	// heldLooks is how long a program that waits for input counts as about to get what is held
	// until it reads. That takes some milliseconds, but on a very busy machine.
	heldLooks = 2 * time.Second
)

// Answers are the keys that end a line, the program or the input: Enter, ctrl-C and ctrl-D.
const Answers = "\r\n\x03\x04"

// maxQuestion is how much of what a program asks listings have, in bytes.
const maxQuestion = 120

// Active records a sign of life: something was printed or typed. If arm is true, the next look is
// due after wait, and not when it was due before.
func (p *Program) Active(at time.Time) (wait time.Duration, arm bool) {
	l := &p.looks
	l.signs++
	l.last = at
	if p.needs.rest { // until a look finds it so again
		p.set(at, "", func(n *needs) { n.rest = false })
	}
	if l.armed && l.due.Sub(at) <= firstLook {
		return 0, false
	}
	return p.arm(at, firstLook), true
}

// arm records that the next look is due after d.
func (p *Program) arm(at time.Time, d time.Duration) time.Duration {
	p.looks.armed, p.looks.due = true, at.Add(d)
	return d
}

// Due returns for how long a look that was due is deferred, because there was activity just now; 0:
// it is due.
func (p *Program) Due(at time.Time) time.Duration {
	p.looks.armed = false
	if wait := firstLook - at.Sub(p.looks.last); wait > 0 {
		return p.arm(at, wait)
	}
	return 0
}

// Typed records that a user has typed data; keys: there are keys in it, and not only reports of the
// terminal. Those of [Answers] answer what the program waits for.
func (p *Program) Typed(now time.Time, by string, data []byte, keys bool) Change {
	l, answers := &p.looks, bytes.ContainsAny(data, Answers)
	if len(data) > 0 {
		l.typist, l.typed = by, strings.IndexByte(Answers, data[len(data)-1]) < 0
	}
	if answers {
		l.asked, p.restored = "", nil
	}
	return p.set(now, by, func(n *needs) {
		n.unsure, n.said = true, n.said && !keys
		if answers {
			n.program = None
		}
	})
}

// Typist returns the user who typed last, and whether a line was begun then and not ended.
func (p *Program) Typist() (by string, begun bool) { return p.looks.typist, p.looks.typed }

// Question returns text, which stands before the cursor, without the beginning of an answer to the
// question that the last look has found.
func (p *Program) Question(text string) string {
	if asked := p.looks.asked; asked != "" && strings.HasPrefix(text, asked) {
		return asked
	}
	return text
}

// AsksSecret reports whether the last look has found a question for a secret, in words, with which
// text still begins, which stands before the cursor.
func (p *Program) AsksSecret(text string) bool {
	asked := p.looks.asked
	return p.needs.program == Secret && asked != "" && strings.HasPrefix(text, asked)
}

// Look is a look that has begun. The owner's lock is not held while it goes on.
type Look struct {
	signs int
	line  ptypool.Line
}

// Sight is what a look has found.
type Sight struct {
	State foreground.State
	Text  string       // before the cursor, by Question, when the look began
	Line  ptypool.Line // when the look has ended
	Read  bool         // all that was typed had been read, at the beginning and at the end
	Held  bool         // input of agents is held until the program reads
}

// Begin begins a look at a terminal with such a line.
func (p *Program) Begin(line ptypool.Line) Look { return Look{p.looks.signs, line} }

// Unchanged reports whether a look has found state as the last one had, and there was no activity:
// then the line has not changed during the look.
func (p *Program) Unchanged(l Look, state foreground.State) bool {
	is := &p.looks
	return l.signs == is.signs && l.signs == is.seen && l.line == is.line && state == is.state
}

// TooEarly reports whether something has changed during a look, or is about to: more output comes,
// or the program is about to read an answer. Then the next look is due after wait.
func (p *Program) TooEarly(at time.Time, l Look, s Sight) (wait time.Duration, early bool) {
	is := &p.looks
	waits := s.State == foreground.Input || s.State == foreground.Secret
	switch {
	case l.signs != is.signs, s.Line != l.line, s.Line.Unread && waits:
	case waits && !s.Read:
	case s.State == foreground.Input && s.Held && at.Sub(is.last) < heldLooks:
	default:
		return 0, false
	}
	return p.arm(at, firstLook), true
}

// Found records what a look has found that was not too early.
func (p *Program) Found(now time.Time, l Look, s Sight) Change {
	is := &p.looks
	is.line, is.state = l.line, s.State
	if is.seen != is.signs {
		is.seen, is.count = is.signs, 0
	}
	is.count++
	program := None
	switch s.State {
	case foreground.Input:
		program = Input
	case foreground.Secret:
		program = Secret
	}
	if is.asked = ""; program != None {
		is.asked = s.Text
	}
	by := ""
	if p.needs.unsure {
		by = is.typist
	}
	is.atRest = s.State == foreground.Idle
	rest := is.atRest && s.Read && !s.Held
	question := vt.Printable(is.asked[:ahp.WholeRunes(is.asked, maxQuestion)])
	return p.set(now, by, func(n *needs) {
		if !is.typed || question == "" { // else a part of it is the answer
			n.question = question
		}
		n.program, n.rest, n.unsure = program, rest, false
	})
}

// Next returns the time until the next look, after Found; ok is false if none is needed before
// there is activity.
func (p *Program) Next(at time.Time) (wait time.Duration, ok bool) {
	if p.needs.rest && !p.stopped.on { // nobody is told when that ends
		return 0, false
	}
	return p.arm(at, ticks.WaitAt(at, p.looks.pause())), true
}

// pause returns the time until the next look. There was a look since the last activity.
func (l *looks) pause() time.Duration {
	switch l.count {
	case 1:
		return secondLook - firstLook
	case 2:
		return thirdLook - secondLook
	}
	return min(thirdLook<<min(l.count-3, 10), seldomLook)
}

// Looks returns the number of looks since the last sign of life, and of all those signs.
func (p *Program) Looks() (count, signs int) {
	if p.looks.seen != p.looks.signs {
		return 0, p.looks.signs
	}
	return p.looks.count, p.looks.signs
}
