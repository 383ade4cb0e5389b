package host

import (
	"termhost/ahp/store"
	"termhost/ptypool/vt"
)

// ScreenPart is how much of a terminal's state a peer is sent with its screen.
type ScreenPart struct {
	Scrollback int // lines before the screen, at most
	Commands   int // the last ones, at most
}

// SubscribeScreen is [Conn.Subscribe] for a peer that wants screens: see
// [store.Subscriber.WantScreens]. The content of a terminal's state is what draws its screen.
func (c *Conn) SubscribeScreen(ref string, p ScreenPart,
	answer func(dst []byte, v store.View) []byte) error {
	return c.subscribe(ref, func(ch *store.Channel) error {
		t := c.host.lookup(ch.URI())
		if t == nil || t.ch != ch { // the root, or a terminal that is just going
			return c.sub.Subscribe(ch, answer)
		}
		return c.sub.SubscribeScreen(ch, func(take func() (store.View, bool)) store.View {
			t.term.Lock()
			defer t.term.Unlock()
			t.kept.loadLocked()
			v, fresh := take()
			if !fresh { // the screen follows
				return v.Screen(nil, 0)
			}
			return v.Screen(t.drawnLocked(p.Scrollback), p.Commands)
		}, answer)
	})
}

// Redraw has the peer read a terminal's screen instead of what it has not read of the log. It is
// for a peer that wants screens, or has fallen behind. Its writer calls it.
func (c *Conn) Redraw(ch *store.Channel, p ScreenPart) {
	t := c.host.lookup(ch.URI())
	if t == nil || t.ch != ch {
		c.sub.Redraw(ch, nil, 0)
		return
	}
	t.term.Lock()
	defer t.term.Unlock()
	t.kept.loadLocked()
	c.sub.Redraw(ch, t.drawnLocked(p.Scrollback), p.Commands)
}

// drawnLocked returns what draws the screen on a blank terminal of its size, behind at most so many
// lines of scrollback. The Term's lock is held.
func (t *Terminal) drawnLocked(scrollback int) []byte {
	screen := t.term.Screen()
	return screen.AppendRedraw(nil,
		vt.Redraw{Update: true, Scrollback: min(scrollback, screen.HistoryLines()), Live: true})
}
