package store

import (
	"slices"

	"termhost/ahp"
)

// A reader that wants screens is one on a line so slow that most of a terminal's output would be
// old when it arrives, or nothing that anybody looks at. It gets a terminal's state as a drawing of
// the screen, and as many of its commands as it has asked for, without their output. What is left
// out it asks for when a person does.

// screenReplay bounds what a reader that wants screens is sent of a channel when it reconnects, in
// bytes: more takes longer than a screen, on a slow line much longer.
const screenReplay = 64 << 10

// WantScreens has the subscriber resynchronised by [Subscriber.Redraw] only. Where others are sent
// a terminal's content, Pull returns an Item with Lagged; and so it does behind each new size.
func (sub *Subscriber) WantScreens() {
	sub.store.mu.Lock()
	defer sub.store.mu.Unlock()
	sub.screens = true
}

// SubscribeScreen is [Subscriber.Subscribe] for a reader that wants screens. view is called by the
// writer, and calls take exactly once, which takes the state and starts the cursor there, and view
// returns that as it is to be sent. fresh: nothing has been applied since the state was taken, as
// long as the caller keeps others from it. Otherwise the reader is to be sent a screen behind the
// answer, and Pull returns an Item with Lagged.
func (sub *Subscriber) SubscribeScreen(c *Channel,
	view func(take func() (v View, fresh bool)) View,
	answer func(dst []byte, v View) []byte) error {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed || sub.closed {
		return ErrGone
	}
	sn := &Subscription{sub: sub}
	sub.postLocked(func(dst []byte) []byte {
		return answer(dst, view(func() (View, bool) {
			views, _ := sn.Start()
			return views[0], sn.fresh()
		}))
	}, 0, false)
	sn.addLocked(c)
	return nil
}

// fresh reports whether the state of the only channel, which has been started, is still the present
// one. If not, its reader falls behind.
func (sn *Subscription) fresh() bool {
	s := sn.sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	cur := sn.cursors[0]
	if sn.ends[0] == cur.ch.log.end() {
		return true
	}
	if sn.sub.cursorOnLocked(cur.ch) == cur && len(cur.starts) == 0 {
		since := cur.since
		cur.unreadyLocked()
		cur.fallLocked()
		cur.since = since // the echoes are answered
	}
	return false
}

// Screen returns v with the drawing of its screen as its content, and behind that the last
// commands, without their output: at most so many.
func (v View) Screen(drawing []byte, commands int) View {
	st := *v.Terminal
	st.Content = []ahp.Part{{Text: ahp.NewText(drawing)}}
	for _, p := range lastCommands(v.Terminal.Content, commands) {
		st.Content = append(st.Content, ahp.Part{Command: p.Command})
	}
	v.Terminal = &st
	return v
}

// commandBytes bounds the lines of the commands that are sent with a screen, in bytes for each that
// is asked for.
const commandBytes = 256

// lastCommands returns the last parts that are commands, at most so many.
func lastCommands(content []ahp.Part, most int) (list []*ahp.Part) {
	room := most * commandBytes
	for i := len(content) - 1; i >= 0 && len(list) < most && room > 0; i-- {
		if c := content[i].Command; c != nil {
			room -= len(c.Line) + len(c.Cwd)
			list = append(list, &content[i])
		}
	}
	slices.Reverse(list)
	return list
}

// fallBehindLocked has a reader that wants screens be drawn one behind what it has read. So it does
// where the terminal has another size: terminals differ on what becomes of the lines then.
func (cur *cursor) fallBehindLocked() {
	since := cur.pos
	cur.fallLocked()
	cur.since = since // the echoes before are read
}

// Behind returns the terminals of which the subscriber has more than so much to read, in the unit
// of [Subscriber.Lag]. Those that are held do not count, nor those that Pull will return as Lagged.
func (sub *Subscriber) Behind(limit int) (list []*Channel) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cur := range sub.ready {
		if !cur.ch.isRoot() && !cur.laggingLocked() && len(cur.starts) == 0 &&
			cur.ch.log.behind(cur.pos) > int64(limit) {
			list = append(list, cur.ch)
		}
	}
	return list
}

// Redraw has the subscriber read the present state of a terminal instead of what it has not read of
// the log: drawing draws the screen, and at most so many commands follow. Nobody may append to the
// channel meanwhile. drawing must not be modified afterwards; nil: it is read with all its content.
func (sub *Subscriber) Redraw(c *Channel, drawing []byte, commands int) {
	s := sub.store
	s.mu.Lock()
	defer s.mu.Unlock()
	cur := sub.cursorOnLocked(c)
	if cur == nil || len(cur.starts) > 0 || sub.closed {
		return
	}
	if !cur.laggingLocked() {
		cur.since = max(cur.since, cur.pos) // the echoes before are sent
	}
	sub.outbox.dropRebuild(c.uri)
	cur.unreadyLocked()
	if drawing == nil {
		cur.resyncLocked(c.rebuildLocked)
		return
	}
	cur.resyncLocked(func() []*Entry { return c.rebuildScreenLocked(drawing, commands) })
}

// rebuildScreenLocked is rebuildLocked with a drawing of the screen in place of the content. What
// draws comes behind the size that it is for.
func (c *Channel) rebuildScreenLocked(drawing []byte, commands int) (list []*Entry) {
	add := func(a ahp.Action) {
		e := &Entry{seq: c.store.nextLocked(), channel: c.uri, action: a}
		e.weight = e.weigh()
		list = append(list, e)
	}
	st := c.state
	add(ahp.TerminalCleared{})
	if st.Detection {
		add(ahp.TerminalCommandDetectionAvailable{})
	}
	if st.Cols > 0 && st.Rows > 0 {
		add(ahp.TerminalResized{Cols: st.Cols, Rows: st.Rows})
	}
	add(ahp.TerminalData{Data: append([]byte(ahp.ClearScreen), drawing...)})
	for _, p := range lastCommands(st.Content, commands) {
		part := ahp.Part{Command: p.Command}
		rebuildPart(&part, add)
	}
	add(ahp.TerminalTitleChanged{Title: st.Title})
	if st.Cwd != "" {
		add(ahp.TerminalCwdChanged{Cwd: st.Cwd})
	}
	add(ahp.TerminalClaimed{Claim: st.Claim})
	if st.Exited {
		add(ahp.TerminalExited{ExitCode: st.ExitCode})
	}
	return list
}
