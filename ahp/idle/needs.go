package idle

import (
	"strings"
	"time"

	"termhost/ahp/journal"
)

// set changes the needs. by is the name of the user who answered; "": nobody did.
func (p *Program) set(now time.Time, by string, change func(*needs)) (c Change) {
	n := &p.needs
	was := *n
	change(n)
	if n.shown = n.waits(); n.approval {
		n.shown = Approval
	}
	c = Change{Was: was.waits(), Now: n.waits()}
	if c.Was != c.Now && c.Was != None {
		c.By = by
	}
	c.Fresh = n.shown != was.shown
	c.Shown = c.Fresh || n.asks() != was.asks()
	if c.Fresh {
		p.begin(now)
	}
	if *n != was && n.changed != nil {
		close(n.changed)
		n.changed = nil
	}
	return c
}

// waits returns what the program waits for: as it says if nothing else is known, which is so of
// programs that fill the screen.
func (n *needs) waits() Waiting {
	if n.program == None && n.said {
		return Input
	}
	return n.program
}

// asks returns what the program asks for, for people; "": nothing, or an approval comes first.
func (n *needs) asks() string {
	switch {
	case n.approval:
		return ""
	case n.said && (n.program == None || n.question == ""):
		return n.words
	}
	return n.question
}

// begin sets the start of a wait that begins now. If the last host knew of the same wait, it may
// have gone on all the time.
func (p *Program) begin(now time.Time) {
	shown := p.needs.shown
	if shown == None {
		return
	}
	before := p.restored
	p.restored, p.since = nil, now
	if before != nil && before.For == string(shown) &&
		strings.HasPrefix(p.needs.asks(), before.Question) {
		p.since = before.Since
	}
}

// Says records whether the program says that it waits for somebody to type, and its words.
func (p *Program) Says(now time.Time, waits bool, words string) Change {
	return p.set(now, "", func(n *needs) { n.said, n.words = waits, words })
}

// AsksAnew records that the program says once more that it waits. That is a change if nothing else
// is known of it.
func (p *Program) AsksAnew(now time.Time) (c Change) {
	n := &p.needs
	if n.shown != Input || n.program != None {
		return c
	}
	p.begin(now)
	return Change{Was: n.waits(), Now: n.waits(), Shown: true, Fresh: true}
}

// Holds records whether something is held back until a person approves it.
func (p *Program) Holds(now time.Time, approval bool) Change {
	return p.set(now, "", func(n *needs) { n.approval = approval })
}

// End records that the program has ended, and removes the marks. stopped: its output was.
func (p *Program) End(now time.Time) (c Change, stopped, quiet bool) {
	stopped, quiet = p.setStopped(false), p.setQuiet(false, 0)
	return p.set(now, "", func(n *needs) {
		n.program, n.question, n.rest, n.unsure, n.said = None, "", false, false, false
	}), stopped, quiet
}

// Restore takes over what the program waited for with the last host, before anything is known.
func (p *Program) Restore(was *journal.Waits) { p.restored = was }

// Journaled returns what the program waits for, for the next host; nil: nothing. An approval, which
// is first, does not outlive this one.
func (p *Program) Journaled() *journal.Waits {
	if n := &p.needs; n.shown != None && n.shown != Approval {
		return &journal.Waits{For: string(n.shown), Question: n.asks(), Since: p.since.UTC()}
	}
	return nil
}

// Reads returns the program's wait as a look has found it, and Waits the one for which its own word
// counts as well.
func (p *Program) Reads() Waiting { return p.needs.program }
func (p *Program) Waits() Waiting { return p.needs.waits() }

// Shown returns what the terminal waits for, approvals included.
func (p *Program) Shown() Waiting { return p.needs.shown }

// Since returns when Shown became what it is. It means nothing if that is [None].
func (p *Program) Since() time.Time { return p.since }

// Asks returns what the program asks for, for people; "": nothing, or an approval comes first.
func (p *Program) Asks() string { return p.needs.asks() }

// Said reports whether the program says that it waits, and nobody has typed since.
func (p *Program) Said() bool { return p.needs.said }

// Unsure reports whether somebody has typed since the last look, which may have been the answer.
func (p *Program) Unsure() bool { return p.needs.unsure }

// Rests reports whether the last look found a shell at its prompt, or a full-screen program, all
// that was typed had been read, and nothing has happened since.
func (p *Program) Rests() bool { return p.needs.rest }

// Changed returns a channel that is closed when Waits, Asks, Unsure or Rests may have changed.
func (p *Program) Changed() <-chan struct{} {
	if p.needs.changed == nil {
		p.needs.changed = make(chan struct{})
	}
	return p.needs.changed
}
