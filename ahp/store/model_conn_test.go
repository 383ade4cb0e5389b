package store

import (
	"encoding/json"
	"fmt"
	"slices"

	"termhost/ahp"
)

// conn is a connection of the model, and the client at its other end.
type conn struct {
	m     *model
	id    string
	raw   bool
	shape ahp.Shape
	sub   *Subscriber

	offline bool
	synced  map[string]uint64 // of the connection that was cut

	mirrors   map[string]*mirror
	lastSeen  uint64 // the serverSeq of the newest action it got
	floor     uint64 // actions up to this one may not come any more
	posted    int    // how many messages it posted
	written   int    // how many of them were written
	clientSeq int64
	echoes    []int64 // the clientSeqs of outputs whose echo is due
	excused   []int64 // those of which the echo may come or not
	answers   []int64 // the clientSeqs of which the answer is due
	unstarted []*Subscription
	left      map[string]int // how often it unsubscribed from a channel
}

// mirror is a client's own copy of a channel's state.
type mirror struct {
	of       *terminal // nil: the root
	fromSeq  uint64    // of the snapshot that it began with
	terminal ahp.TerminalState
	root     ahp.RootState
	text     string // of a raw reader
}

// subscribe subscribes to some channels. Their mirrors are made when the answer is written.
func (c *conn) subscribe() {
	m := c.m
	var channels []*Channel
	var of []*terminal
	if m.c.N(4) == 0 && !c.raw {
		channels, of = append(channels, m.s.Root()), append(of, nil)
	}
	for _, tm := range m.terms {
		if !tm.gone && !tm.retired && m.c.N(2) == 0 {
			channels, of = append(channels, tm.ch), append(of, tm)
		}
	}
	m.did("%s subscribes to %d", c.name(), len(channels))
	if c.raw {
		c.drain() // its mirrors do not tell a removed terminal from its successor
		for i, ch := range channels {
			c.draw(ch, of[i])
		}
		return
	}
	for i, ch := range channels {
		c.subscribeTo(ch, of[i])
	}
}

func (c *conn) subscribeTo(ch *Channel, of *terminal) {
	m, left := c.m, c.left[ch.uri]
	var sn *Subscription
	received := func(v View) {
		i := slices.Index(c.unstarted, sn)
		c.unstarted = slices.Delete(c.unstarted, i, i+1)
		mi := c.receiveView(v, of)
		if c.left[ch.uri] == left && c.sub.Subscribed(ch) {
			c.mirrors[ch.uri] = mi // else it has unsubscribed, or the channel is gone
		}
	}
	c.excuseEchoes() // the view takes the place of what was not read
	var got View
	answer := c.post(m.s.Seq(), func() { received(got) })
	err := c.sub.Subscribe(ch, func(dst []byte, v View) []byte {
		got = v
		return answer(dst)
	})
	if err != nil {
		m.fail("Subscribe: %v", err)
	}
	starts := c.sub.cursors[ch.uri].starts
	sn = starts[len(starts)-1]
	c.unstarted = append(c.unstarted, sn)
}

// draw makes a raw reader's mirror from the state. Nothing is appended meanwhile; an SSH
// viewer holds the Term's lock for that.
func (c *conn) draw(ch *Channel, of *terminal) {
	if err := c.sub.Follow(ch); err != nil {
		c.m.fail("Follow: %v", err)
	}
	st, _ := ch.Terminal()
	c.mirrors[ch.uri] = &mirror{of: of, text: textOf(&st)}
}

func (c *conn) receiveView(v View, of *terminal) *mirror {
	var w ahp.Snapshot
	if err := json.Unmarshal(v.AppendJSON(nil, c.shape), &w); err != nil {
		c.m.fail("a view is no JSON: %v", err)
	}
	mi := &mirror{of: of, fromSeq: v.Seq}
	into := json.Unmarshaler(&mi.terminal)
	if of == nil {
		into = &mi.root
	}
	if err := into.UnmarshalJSON(w.State); err != nil || w.FromSeq != v.Seq || w.Resource != v.URI {
		c.m.fail("view of %s at %d came as %s at %d: %v", v.URI, v.Seq, w.Resource, w.FromSeq, err)
	}
	return mi
}

// post returns a message that checks its place among the others and then calls do.
func (c *conn) post(seq uint64, do func()) Post {
	c.posted++
	n, sub := c.posted, c.sub
	return func(dst []byte) []byte {
		if sub != c.sub {
			c.m.fail("a post of an earlier connection was pulled")
		}
		if c.written++; c.written != n {
			c.m.fail("post %d was written as number %d", n, c.written)
		}
		if c.lastSeen > seq {
			c.m.fail("a post made at %d comes after the action %d", seq, c.lastSeen)
		}
		c.floor = max(c.floor, seq)
		do()
		return append(dst, "{}"...)
	}
}

func (c *conn) unsubscribe() {
	list := c.sub.Channels()
	if len(list) == 0 {
		return
	}
	slices.SortFunc(list, func(a, b *Channel) int { return int(a.born) - int(b.born) })
	m := c.m
	ch := list[m.c.N(len(list))]
	// A client waits for its answers before it unsubscribes, except if it has just
	// subscribed.
	if c.mirrors[ch.uri] != nil || len(c.sub.cursors[ch.uri].starts) == 0 || m.c.N(2) == 0 {
		c.drain()
	} else {
		c.excuseEchoes()
	}
	if !c.sub.Subscribed(ch) {
		return // it was removed and has been read to the end
	}
	m.did("%s unsubscribes from %s", c.name(), ch.uri)
	c.left[ch.uri]++
	c.sub.Unsubscribe(ch)
	delete(c.mirrors, ch.uri)
	if c.sub.Subscribed(ch) {
		c.m.fail("still subscribed")
	}
}

func (c *conn) answer() {
	if c.raw {
		return
	}
	c.clientSeq++
	o := &ahp.Origin{ClientID: c.id, ClientSeq: c.clientSeq}
	c.answers = append(c.answers, c.clientSeq)
	c.m.did("answer %d to %s", c.clientSeq, c.name())
	if c.m.c.N(2) == 0 {
		c.sub.Answer("ahp-terminal:/t0", ahp.TerminalResized{Cols: 1, Rows: 1}, o, "no")
	} else {
		c.sub.Answer("ahp-terminal:/t0", ahp.TerminalInput{}, o, "")
	}
	c.sub.Post(c.post(c.m.s.Seq(), func() {}), 0)
}

// stall has the reader stall, or go on.
func (c *conn) stall() {
	if c.raw {
		return
	}
	if c.m.c.N(2) == 0 {
		c.sub.Flow()
		c.m.did("%s flows", c.name())
		return
	}
	c.m.did("%s stalls: %t", c.name(), c.sub.Stall(nothingOwn))
}

// pull pulls and writes everything that was pulled.
func (c *conn) pull() {
	limit := 1 + c.m.c.N(200)*20
	items := c.sub.Pull(nil, limit)
	c.m.did("%s pulls %d of %d items", c.name(), limit, len(items))
	c.write(items)
}

func (c *conn) drain() {
	c.sub.Flow()
	for {
		items := c.sub.Pull(nil, 1<<20)
		if len(items) == 0 {
			break
		}
		c.write(items)
	}
	if c.sub.Pending() {
		c.m.fail("%s has pulled everything and something is pending", c.name())
	}
}

func (c *conn) write(items []Item) {
	for i, it := range items {
		switch {
		case it.Entry != nil:
			c.receive(it.Entry)
		case it.Post != nil:
			it.Post(nil)
			fallthrough
		default:
			if i != len(items)-1 {
				c.m.fail("a post or a lag is not the last item")
			}
		}
		if it.Lagged != nil {
			if mi := c.mirrors[it.Lagged.uri]; !c.raw || mi == nil {
				c.m.fail("%s is told to draw %s", c.name(), it.Lagged.uri)
			} else {
				st, _ := it.Lagged.Terminal()
				mi.text = textOf(&st)
				c.sub.Skip(it.Lagged)
			}
		}
	}
}

// receive applies an action as it comes over the wire.
func (c *conn) receive(e *Entry) {
	if e.Seq() <= c.lastSeen || e.Seq() <= c.floor {
		c.m.fail("%s got %d after %d and a post at %d", c.name(), e.Seq(), c.lastSeen, c.floor)
	}
	c.lastSeen = e.Seq()
	if c.raw {
		c.receiveRaw(e)
		return
	}
	raw := e.AppendEnvelope(nil, c.shape)
	var w ahp.Envelope
	if err := json.Unmarshal(raw, &w); err != nil {
		c.m.fail("%s: %v", raw, err)
	}
	a, err := ahp.DecodeAction(w.Action)
	if err != nil || w.ServerSeq != e.Seq() || w.Channel != e.Channel() {
		c.m.fail("%d came as %s: %v", e.Seq(), raw, err)
	}
	c.checkOrigin(a, w)
	mi := c.mirrors[w.Channel]
	switch {
	case mi != nil && e.Seq() <= mi.fromSeq:
		c.m.fail("%s got %d of %s, of which it has the state at %d",
			c.name(), e.Seq(), w.Channel, mi.fromSeq)
	case w.RejectionReason != "" || a.Type() == "terminal/input":
	case mi == nil && a.Type() == "terminal/output" && len(a.(ahp.TerminalOutput).Data) == 0:
	case mi == nil:
		c.m.fail("%s got %s of %s without its state", c.name(), a.Type(), w.Channel)
	case mi.of == nil:
		mi.root.Apply(a)
	default:
		mi.terminal.ApplyCopy(a)
	}
}

// checkOrigin checks that answers come once and in order, and that only the owner of a
// terminal gets the echoes of its output.
func (c *conn) checkOrigin(a ahp.Action, w ahp.Envelope) {
	if o := w.Origin; o == nil || o.ClientID != c.id {
		if o != nil || a.Type() == "terminal/output" {
			c.m.fail("%s was shown %s of somebody else", c.name(), a.Type())
		}
		return
	}
	if a.Type() == "terminal/output" {
		c.echo(w.Origin.ClientSeq)
		return
	}
	if len(c.answers) == 0 || c.answers[0] != w.Origin.ClientSeq {
		c.m.fail("%s got the answer to %d, due are %v", c.name(), w.Origin.ClientSeq, c.answers)
	}
	c.answers = c.answers[1:]
}

// echo checks that the echo of an output comes once.
func (c *conn) echo(clientSeq int64) {
	for _, list := range []*[]int64{&c.echoes, &c.excused} {
		if i := slices.Index(*list, clientSeq); i >= 0 {
			*list = slices.Delete(*list, i, i+1)
			return
		}
	}
	c.m.fail("%s got the echo of %d, due are %v", c.name(), clientSeq, c.echoes)
}

// excuseEchoes is called when echoes that have not arrived may never do so.
func (c *conn) excuseEchoes() { c.excused, c.echoes = append(c.excused, c.echoes...), nil }

func (c *conn) receiveRaw(e *Entry) {
	mi := c.mirrors[e.Channel()]
	switch a := e.Action().(type) {
	case ahp.TerminalData:
		mi.text += string(a.Data)
	case ahp.TerminalCleared:
		mi.text = ""
	}
}

// cut drops the connection, perhaps in the middle of a batch. It comes back when
// it is next used.
func (c *conn) cut() {
	m := c.m
	items := c.sub.Pull(nil, 1+m.c.N(200)*20)
	arrived := m.c.N(len(items) + 1)
	m.did("%s is cut after %d of %d items", c.name(), arrived, len(items))
	for _, it := range items[:arrived] {
		if it.Lagged == nil { // a raw reader draws anew when it comes back
			c.write([]Item{it})
		}
	}
	c.synced = c.sub.Close()
	if left := c.sub.Pull(nil, 1<<20); len(left) > 0 || c.sub.Pending() {
		m.fail("a closed subscriber gave %d items", len(left))
	}
	c.offline = true
	c.excuseEchoes()
	c.posted, c.written, c.answers, c.unstarted = 0, 0, nil, nil
	if m.c.N(2) == 0 {
		c.comeBack()
	}
}

func (c *conn) comeBack() {
	if !c.offline {
		return
	}
	c.offline = false
	c.sub = c.m.s.NewSubscriber(c.raw)
	c.sub.Identify(c.id)
	if !c.raw {
		c.reconnect(c.synced)
		return
	}
	c.lastSeen, c.floor = 0, 0
	for uri, mi := range c.mirrors {
		delete(c.mirrors, uri)
		if !mi.of.gone {
			c.draw(mi.of.ch, mi.of)
		}
	}
}

func (c *conn) reconnect(synced map[string]uint64) {
	m := c.m
	var channels []*Channel
	for uri, mi := range c.mirrors {
		ch := m.s.Lookup(uri)
		// Another terminal of the same URI is not the one the client knows.
		if ch == nil || mi.of != nil && mi.of.ch != ch { // it is told that it is missing
			delete(c.mirrors, uri)
			continue
		}
		channels = append(channels, ch, nil, ch) // a client may say it twice
	}
	c.floor = 0
	m.did("%s reconnects at %d to %d channels", c.name(), c.lastSeen, len(channels)/3)
	var list []*Entry
	c.sub.Post(c.post(m.s.Seq(), func() {
		c.floor = 0
		for _, e := range list {
			c.receive(e)
		}
	}), 0)
	list = c.sub.Reconnect(channels, c.lastSeen, synced)
	if m.c.N(3) == 0 {
		return // the answer may be lost as well
	}
	c.pull()
}

func (c *conn) name() string {
	if c.raw {
		return fmt.Sprintf("raw%d", slices.Index(c.m.conns, c))
	}
	return c.id
}
