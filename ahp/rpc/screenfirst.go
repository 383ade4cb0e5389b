package rpc

import (
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/store"
)

// screenFirst is how much a peer is sent with the screen of a terminal.
type screenFirst struct {
	Scrollback int `json:"scrollback"` // lines before it
	Commands   int `json:"commands"`   // the last ones
}

// maxScreenCommands bounds the commands that are sent with a screen: many times what a list shows.
const maxScreenCommands = 1000

// check refuses what is not possible. at names the field.
func (s screenFirst) check(at string) *ahp.Error {
	switch {
	case s.Scrollback < 0 || s.Scrollback > maxScrollback:
		return ahp.FieldProblem(at+".scrollback", "must be from 0 to 10000")
	case s.Commands < 0 || s.Commands > maxScreenCommands:
		return ahp.FieldProblem(at+".commands", "must be from 0 to 1000")
	}
	return nil
}

// screenOf returns how much of a channel's state the peer wants in the answer to subscribe; nil:
// all.
func (p *peer) screenOf(params []byte) (*host.ScreenPart, *ahp.Error) {
	var w struct {
		Meta struct {
			Screen   *screenFirst `json:"termhost/screenFirst"`
			Reserved *screenFirst `json:"x-termhost/screenFirst"`
		} `json:"_meta"`
	}
	if e := ahp.DecodeParams(params, &w); e != nil {
		return nil, e
	}
	screen := w.Meta.Screen
	if w.Meta.Reserved != nil {
		screen = w.Meta.Reserved
	}
	if screen == nil {
		return nil, nil
	}
	part := host.ScreenPart(*screen)
	return &part, screen.check("_meta." + p.conn.NameOf(ahp.MetaScreenFirst))
}

const (
	// freshTime is how old output may be that a peer is sent: what the line does not deliver in it
	// is left out, and the screen drawn instead.
	freshTime = 500 * time.Millisecond
	// scrollbackTime is how long the scrollback may take that is sent with such a screen, and
	// scrollbackLine how long a line of it is, about, in bytes.
	scrollbackTime = 100 * time.Millisecond
	scrollbackLine = 100
)

// leaveOut has the peer be sent the screens of those terminals of which more is to be sent than the
// line delivers in freshTime.
func (p *peer) leaveOut() {
	line := p.acks.line.Load()
	if line == nil || p.screenFirst.Load() == nil {
		return
	}
	if limit, known := line.delivers(freshTime); known {
		for _, ch := range p.conn.Subscriber().Behind(max(limit, leastRoom)) {
			p.redraw(ch)
		}
	}
}

// redraw has the peer be sent the screen of a terminal instead of what it has not been sent of the
// output.
func (p *peer) redraw(ch *store.Channel) {
	var part host.ScreenPart
	if want := p.screenFirst.Load(); want != nil {
		part = host.ScreenPart(*want)
	}
	if line := p.acks.line.Load(); line != nil {
		if room, known := line.delivers(scrollbackTime); known {
			part.Scrollback = min(part.Scrollback, room/scrollbackLine)
		}
	}
	p.conn.Redraw(ch, part)
}
