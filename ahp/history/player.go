package history

import (
	"sort"
	"time"

	"termhost/ptypool/vt"
)

const (
	// frameBytes is the most output in one frame: a flood is played in pieces.
	frameBytes = 2 << 10
	// playerFrameBytes is how much output is between keyframes: parsing it takes some 10 ms, less
	// than a person notices when going back.
	playerFrameBytes = 1 << 20
	// playerBytes bounds the memory of a player's keyframes, in bytes.
	playerBytes = 8 << 20
	// historyLines is how many lines of scrollback a player keeps. They come back when the screen
	// grows.
	historyLines = 1000
)

// Player shows a recording on a screen at any of its moments. Its methods must not be called
// concurrently.
type Player struct {
	events []Event
	played
	begin  played
	frames keyframes[played]
	more   func() bool
}

// played is a Player's position.
type played struct {
	next   int   // events[:next] have been played
	bytes  int64 // how much output these have
	screen *vt.Screen
}

func (p played) clone() played {
	p.screen = p.screen.Clone()
	return p
}

// NewPlayer returns a Player at the beginning of a recording. If idle is not 0, longer pauses are
// shortened to it. The events' bytes must not be modified while the Player is used.
func NewPlayer(h Header, events []Event, idle time.Duration) *Player {
	p := &Player{events: make([]Event, 0, len(events))}
	var before, skipped time.Duration
	for _, ev := range events {
		if pause := ev.At - before; idle > 0 && pause > idle {
			skipped += pause - idle
		}
		before = ev.At
		ev.At -= skipped
		for ev.Kind == Output && len(ev.Text) > frameBytes {
			head := ev
			head.Text, ev.Text = ev.Text[:frameBytes], ev.Text[frameBytes:]
			p.events = append(p.events, head)
		}
		p.events = append(p.events, ev)
	}
	p.screen = vt.New(h.Cols, h.Rows, vt.Options{ScrollbackLines: historyLines})
	p.begin = p.played.clone()
	p.frames.spacing = spacing{playerFrameBytes, framePerByte}
	return p
}

// While sets a function that is called before each event is played or searched. When it returns
// false, the method that called it ends early.
func (p *Player) While(more func() bool) { p.more = more }

// goesOn reports whether the next event may be played.
func (p *Player) goesOn() bool { return p.more == nil || p.more() }

// Screen returns the present screen. It belongs to the Player, and any other method may replace it.
func (p *Player) Screen() *vt.Screen { return p.screen }

// Length returns the time of the last event.
func (p *Player) Length() time.Duration {
	if len(p.events) == 0 {
		return 0
	}
	return p.events[len(p.events)-1].At
}

// At returns the time of the last event that has been played.
func (p *Player) At() time.Duration {
	if p.next == 0 {
		return 0
	}
	return p.events[p.next-1].At
}

// Due returns the time of the next event. It is false at the end.
func (p *Player) Due() (at time.Duration, ok bool) {
	if p.next == len(p.events) {
		return 0, false
	}
	return p.events[p.next].At, true
}

// Seek goes to a time: all events up to and including that time have been played.
func (p *Player) Seek(at time.Duration) {
	p.goTo(sort.Search(len(p.events), func(i int) bool { return p.events[i].At > at }))
}

// Advance is Seek, but never goes back.
func (p *Player) Advance(at time.Duration) {
	n := p.next
	for n < len(p.events) && p.events[n].At <= at {
		n++
	}
	p.goTo(n)
}

// Step plays the next frame: output or a new size, and the events before it. At the end it does
// nothing.
func (p *Player) Step() {
	for p.next < len(p.events) {
		kind := p.events[p.next].Kind
		p.goTo(p.next + 1)
		if kind == Output || kind == Resize {
			return
		}
	}
}

// NextCommand goes to where the next command begins, and reports whether there is one.
func (p *Player) NextCommand() bool {
	for i := p.next; i < len(p.events); i++ {
		if p.events[i].Kind == Marker {
			p.goTo(i + 1)
			return true
		}
	}
	return false
}

// PreviousCommand goes back to the beginning of the last command that began at least margin ago,
// or, if there is none, to the beginning of the recording.
func (p *Player) PreviousCommand(margin time.Duration) {
	now := p.At()
	for i := p.next - 2; i >= 0; i-- {
		if p.events[i].Kind == Marker && now-p.events[i].At >= margin {
			p.goTo(i + 1)
			return
		}
	}
	p.goTo(0)
}

// Command returns the line of the command that began last; "": none has begun.
func (p *Player) Command() string {
	for i := p.next - 1; i >= 0; i-- {
		if p.events[i].Kind == Marker {
			return string(p.events[i].Text)
		}
	}
	return ""
}

// goTo plays the events before events[n], from here or from a keyframe.
func (p *Player) goTo(n int) {
	from := p.frames.last(func(f *played) bool { return f.next <= n })
	if from == nil {
		from = &p.begin
	}
	if n < p.next || from.next > p.next {
		p.played = from.clone()
	}
	for p.next < n && p.goesOn() {
		p.play(&p.events[p.next])
		p.next++
		p.keep()
	}
}

// play applies an event to the screen.
func (p *Player) play(ev *Event) {
	switch ev.Kind {
	case Output:
		p.screen.Feed(ev.Text, nil)
		p.bytes += int64(len(ev.Text))
	case Resize:
		p.screen.Resize(ev.Cols, ev.Rows)
	}
}

// keep makes a keyframe if one is due.
func (p *Player) keep() {
	if !p.frames.due(p.bytes) {
		return
	}
	p.frames.add(keyframe[played]{p.bytes, p.screen.Memory(), p.clone()})
	for p.frames.bytes > playerBytes {
		p.frames.thin()
	}
}
