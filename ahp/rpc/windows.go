package rpc

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/ahp/store"
)

// windows are a peer's channels with flow control.
type windows struct {
	mu     sync.Mutex
	byURI  map[string]*window
	signal chan struct{} // 1 deep: the peer has consumed something

	// Of the writer.
	turns  []*window     // in the order in which they send a frame each
	begun  int           // bytes of the messages that have begun
	queued int64         // weight of the messages that have not
	full   bool          // there is no room for more
	retry  time.Duration // after which makeRoom may find some; 0: never

	grants *grants
}

// grants are the limits of a client's channels, for its next connection.
type grants struct {
	mu    sync.Mutex
	byURI map[string]receiveLimits
}

const (
	// maxBegun is how many bytes of text may have begun before the writer pulls more. A message
	// that has begun needs no more credit, so it does not stay there.
	maxBegun = pullBytes
	// maxQueued is how many bytes may be queued in all windows before no more channels are pulled:
	// those whose queue is empty wait until half of it is sent.
	maxQueued = 2 << 20
	// creditWait is how long a peer may leave a window without credit while others wait for room.
	// Then what is queued for it is dropped, and it gets the present state when credit comes. If
	// answers to the peer are too much, the channel is reset.
	creditWait = 2 * time.Second
)

// of returns the window of a channel; nil: it has none.
func (ws *windows) of(uri string) *window {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.byURI[uri]
}

// has reports whether a channel has a window.
func (ws *windows) has(uri string) bool { return ws.of(uri) != nil }

// drop ends a channel's window, if there is one, and what it has not sent.
func (ws *windows) drop(uri string) {
	ws.mu.Lock()
	w := ws.byURI[uri]
	if w != nil {
		w.dropped = true
		delete(ws.byURI, uri)
	}
	ws.mu.Unlock()
	if w != nil {
		ws.grants.set(uri, nil)
	}
}

// set records a channel's limits; nil: it has none any more.
func (g *grants) set(uri string, l *receiveLimits) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l == nil {
		delete(g.byURI, uri)
		return
	}
	if g.byURI == nil {
		g.byURI = map[string]receiveLimits{}
	}
	g.byURI[uri] = *l
}

// of returns a channel's limits; false: it had no flow control.
func (g *grants) of(uri string) (l receiveLimits, ok bool) {
	if g == nil {
		return receiveLimits{}, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	l, ok = g.byURI[uri]
	return l, ok
}

// inherit takes over the limits of channels, so that the client can reconnect once more if the
// answer does not reach it. uriOf returns the URI of a channel.
func (g *grants) inherit(before *grants, channels []ahp.ChannelCursor,
	uriOf func(ref string) (string, bool)) {
	for _, c := range channels {
		uri, _ := uriOf(string(c.Channel))
		if l, ok := before.of(uri); ok {
			g.set(uri, &l)
		}
	}
}

// openWindow begins the delivery of a channel that the peer has just subscribed to. The writer
// calls it while it writes the answer.
func (p *peer) openWindow(uri string, l receiveLimits, first ...queued) *window {
	ws := &p.windows
	p.pruneWindows()
	w := &window{uri: uri, limits: l, queue: first, credited: time.Now()}
	ws.queued += w.weight()
	ws.mu.Lock()
	if ws.byURI == nil {
		ws.byURI = map[string]*window{}
	}
	ws.byURI[uri] = w
	ws.mu.Unlock()
	ws.grants.set(uri, &l)
	ws.turns = append(ws.turns, w)
	p.hold(w, store.HeldUnsent)
	return w
}

// pruneWindows drops the windows of channels that are gone and have been sent.
func (p *peer) pruneWindows() {
	followed := map[string]bool{}
	for _, c := range p.conn.Subscriber().Channels() {
		followed[c.URI()] = true
	}
	for _, w := range p.windows.turns {
		if w.idle() && !followed[w.uri] && p.windows.of(w.uri) == w {
			p.windows.drop(w.uri)
		}
	}
}

// idle reports whether everything has been sent.
func (w *window) idle() bool { return len(w.queue) == 0 && w.text == nil }

// enqueue takes an item that is sent in frames, and reports whether it is one.
func (p *peer) enqueue(it store.Item) bool {
	if it.Entry == nil || len(p.windows.turns) == 0 {
		return false
	}
	w := p.windows.of(it.Entry.Channel())
	if w == nil {
		return false
	}
	p.hold(w, store.HeldUnsent)
	q := queued{entry: it}
	w.queue = append(w.queue, q)
	p.windows.queued += q.weight()
	return true
}

// sendFrames writes a frame of each channel that may be sent one, and reports whether there were
// any.
func (p *peer) sendFrames() (sent bool, err error) {
	ws := &p.windows
	if len(ws.turns) == 0 {
		return false, nil
	}
	for _, w := range ws.turns {
		did, err := p.sendFrame(w)
		if err != nil {
			return false, err
		}
		sent = sent || did
	}
	ws.turns = slices.DeleteFunc(ws.turns, p.forgetDropped)
	if err := p.makeRoom(); err != nil {
		return false, err
	}
	for _, w := range ws.turns {
		switch {
		case !w.idle():
		case p.mayPull(w):
			p.hold(w, store.NotHeld)
		default:
			p.hold(w, store.HeldSent)
		}
	}
	return sent, nil
}

// mayPull reports whether more of an idle window's channel may be pulled: it could be sent, and
// there is room for it. When there was none, half of it must be free again.
func (p *peer) mayPull(w *window) bool {
	ws := &p.windows
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return !ws.crowded() && w.mayBegin()
}

// crowded reports whether there is no room for more.
func (ws *windows) crowded() bool {
	ws.full = ws.queued >= maxQueued || ws.full && ws.queued > maxQueued/2
	return ws.full
}

// hold holds a window's channel, or lets it go on.
func (p *peer) hold(w *window, how store.Holding) {
	if w.held != how && p.windows.of(w.uri) == w {
		w.held = how
		p.conn.Subscriber().Hold(w.uri, how)
	}
}

// makeRoom drops what is queued in windows that have had no credit for long, if others wait for
// room, and sets retry. A channel is reset only when nothing but answers is left, in windows that
// have had no credit for long: no other way leads to room.
func (p *peer) makeRoom() error {
	ws := &p.windows
	ws.retry = 0
	if !ws.crowded() {
		return nil
	}
	moves := false // something may be sent yet, or will be dropped
	var largest *window
	for _, w := range ws.turns {
		if len(w.queue) == 0 {
			continue
		}
		ws.mu.Lock()
		stuck, left := !w.mayBegin(), creditWait-time.Since(w.credited)
		ws.mu.Unlock()
		switch {
		case !stuck:
			moves = true
		case left > 0:
			moves = true
			if ws.retry == 0 || left < ws.retry {
				ws.retry = left
			}
		default:
			p.fall(w)
			if largest == nil || w.weight() > largest.weight() {
				largest = w
			}
		}
	}
	if !ws.crowded() || moves || largest == nil {
		return nil
	}
	p.log.Debug("a channel is reset: its peer does not consume answers", "channel", largest.uri)
	if err := p.giveUp(largest); err != nil {
		return err
	}
	return p.makeRoom()
}

// fall drops a window's queue, but for answers to its peer. The channel is then that of a reader
// that has fallen behind.
func (p *peer) fall(w *window) {
	id, kept := p.conn.ClientID(), w.queue[:0]
	for _, q := range w.queue {
		if q.message != nil || q.entry.Entry.From(id) {
			kept = append(kept, q)
		} else {
			p.windows.queued -= q.weight()
		}
	}
	clear(w.queue[len(kept):])
	w.queue = kept
	p.hold(w, store.HeldUnsent)
	p.conn.Subscriber().Fall(w.uri)
}

// forgetDropped reports whether a window has been dropped. Its messages do not count any more.
func (p *peer) forgetDropped(w *window) bool {
	ws := &p.windows
	ws.mu.Lock()
	dropped := w.dropped
	ws.mu.Unlock()
	if dropped {
		ws.begun -= len(w.text)
		ws.queued -= w.weight()
		w.queue, w.text = nil, nil
	}
	return dropped
}

// sendFrame writes a frame of a channel, if there is one to write and the peer receives it.
func (p *peer) sendFrame(w *window) (sent bool, err error) {
	ws := &p.windows
	if p.forgetDropped(w) || w.idle() {
		return false, nil
	}
	if w.text == nil {
		if w.queue[0].ready {
			err := p.writeMessage(w.queue[0].message)
			p.shift(w)
			return true, err
		}
		ws.mu.Lock()
		may := w.mayBegin() && ws.begun < maxBegun
		ws.mu.Unlock()
		if !may {
			return false, nil
		}
		text := p.text(&w.queue[0])
		p.shift(w)
		if len(text) == 0 {
			return true, nil // it says nothing to this peer
		}
		if err := p.begin(w, text); err != nil {
			p.log.Debug("a channel is reset", "channel", w.uri, "err", err)
			return true, p.giveUp(w)
		}
	}
	before := len(w.text)
	out := frames{to: p.transport}
	out.begin()
	out.buf = w.appendFrame(out.buf)
	out.end()
	ws.begun -= before - len(w.text)
	if w.text == nil {
		ws.mu.Lock()
		w.end()
		ws.mu.Unlock()
	}
	if err := out.flush(); err != nil {
		return false, err
	}
	return true, nil
}

// text returns a message.
func (p *peer) text(q *queued) []byte {
	if q.message != nil {
		return q.message(nil)
	}
	return p.encode(nil, q.entry)
}

// begin has the frames of a message follow.
func (p *peer) begin(w *window, text []byte) error {
	ws := &p.windows
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if err := w.begin(text); err != nil {
		return err
	}
	ws.begun += len(text)
	return nil
}

// shift removes the first of what has not begun.
func (p *peer) shift(w *window) {
	p.windows.queued -= w.queue[0].weight()
	w.queue[0] = queued{}
	if w.queue = w.queue[1:]; len(w.queue) == 0 {
		w.queue = nil
	}
}

// giveUp ends the subscription to a channel that cannot be delivered. The writer calls it.
func (p *peer) giveUp(w *window) error {
	ended := p.windows.of(w.uri) != w // meanwhile, by the peer
	if !ended {
		p.windows.drop(w.uri)
	}
	p.forgetDropped(w)
	if ended {
		return nil
	}
	p.conn.Unsubscribe(w.uri)
	return p.writeMessage(func(dst []byte) []byte {
		return channelNote(dst, ahp.MethodChannelReset, w.uri)
	})
}

// channelNote appends a notification that has only its channel.
func channelNote(dst []byte, method, channel string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"`+method+`","params":{"channel":`...)
	return append(ahp.AppendJSONString(dst, channel), `}}`...)
}

// channelReady is queued behind the first messages of a channel.
func channelReady(uri string) queued {
	return queued{ready: true, message: func(dst []byte) []byte {
		return channelNote(dst, ahp.MethodChannelReady, uri)
	}}
}

// channelSnapshot returns the message with a snapshot.
func channelSnapshot(v store.View, shape ahp.Shape) []byte {
	dst := append([]byte(nil), `{"jsonrpc":"2.0","method":"`+ahp.MethodChannelSnapshot+
		`","params":{"channel":`...)
	dst = append(ahp.AppendJSONString(dst, v.URI), `,"snapshot":`...)
	return append(v.AppendJSON(dst, shape), `}}`...)
}

// appendFlowControl appends what is granted for a channel.
func appendFlowControl(dst []byte, l receiveLimits) []byte {
	return append(dst, ahp.Encode(flowControl{Client: l, Host: hostReceives})...)
}

// offerOf returns what a subscriber offers to receive; false: it does not ask for flow control, or
// its limits are too low.
func offerOf(params json.RawMessage) (l receiveLimits, ok bool, e *ahp.Error) {
	var w struct {
		FlowControl *struct {
			Receive receiveLimits `json:"receive"`
		} `json:"flowControl"`
	}
	if e := ahp.DecodeParams(params, &w); e != nil || w.FlowControl == nil {
		return receiveLimits{}, false, e
	}
	if e := w.FlowControl.Receive.check("flowControl.receive"); e != nil {
		return receiveLimits{}, false, e
	}
	l, ok = granted(w.FlowControl.Receive)
	return l, ok, nil
}

// appendSubscribed appends the result of subscribe. The writer calls it.
func (p *peer) appendSubscribed(dst []byte, v store.View, l receiveLimits, ok bool) []byte {
	p.windows.drop(v.URI) // a subscription begins anew
	p.conn.Subscriber().Hold(v.URI, store.NotHeld)
	shape := p.conn.Shape()
	if ok {
		if text := channelSnapshot(v, shape); sizeUTF16(text) <= l.Message {
			w := p.openWindow(v.URI, l, channelReady(v.URI))
			_ = p.begin(w, text) // it fits
			return append(appendFlowControl(append(dst, `{"flowControl":`...), l), '}')
		}
	}
	return append(v.AppendJSON(append(dst, `{"snapshot":`...), shape), '}')
}
