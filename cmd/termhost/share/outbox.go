package share

import (
	"slices"
	"sync"

	"termhost/ahp"
)

const (
	// outboxBytes is how much is kept that the host has not acknowledged, for when the connection
	// is lost and it must be sent again.
	outboxBytes = 1 << 20
	// windowBytes is how much may be sent and not acknowledged: a second's worth on a slow line,
	// and little enough that most of the outbox can still be dropped.
	windowBytes = 512 << 10
	// chunkBytes is how much output goes into one action. Even escaped, that fits into a frame.
	chunkBytes = 32 << 10
	// actionBytes is what an action without output counts.
	actionBytes = 128
)

// outbox holds the actions that the host has not acknowledged, in order. It never makes the
// program wait: what does not fit is dropped, and watchers are told so.
//
//	 sent, not acknowledged    dropped         to be sent
//	[----- inFlight ------] [---- gap ----] [---------------]
//	 items[0]                                     items[len-1]
//
// What is dropped is the oldest that is not in flight, so there is one gap at most. Output in it is
// lost; the gap keeps what it takes to bring the terminal's state across. All methods may be called
// concurrently.
type outbox struct {
	wake chan struct{} // 1 deep: there may be something to send

	mu            sync.Mutex // nothing else is locked while it is held
	items         []*item
	inFlight      int // how many of items were sent on this connection
	inFlightBytes int
	bytes         int // of all items
	gap           gap
	redraw        bool // watchers do not have the screen: it is due after the last item

	// running is the command that runs as far as the host has acknowledged; nil: none.
	running *ahp.TerminalCommandExecuted
}

// item is one action of the outbox.
type item struct {
	action ahp.Action
	size   int
	tried  bool  // it was sent, or is being sent, and may not change any more
	seq    int64 // the clientSeq that it was sent with; 0: not known
	lost   int   // for the text that stands for lost output: how much, in bytes; else 0
}

// outputBytes returns how much output the item is, or stands for, in bytes.
func (i *item) outputBytes() int {
	if i.lost > 0 {
		return i.lost
	}
	out, _ := i.action.(ahp.TerminalOutput)
	return len(out.Data)
}

// isIn reports whether the item is among what a host has that has accepted everything up to a
// clientSeq.
func (i *item) isIn(accepted int64) bool { return i.seq != 0 && i.seq <= accepted }

// resend prepares the item for being sent again, with a new clientSeq.
func (i *item) resend() { i.tried, i.seq = false, 0 }

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

// output appends what the terminal printed. p is not kept.
func (b *outbox) output(p []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(p) > 0 {
		n := ahp.WholeRunes(p, chunkBytes) // an action is text
		if last := b.openLocked(); last != nil {
			if out := last.action.(ahp.TerminalOutput); len(out.Data)+n <= chunkBytes {
				last.action = ahp.TerminalOutput{Data: append(out.Data, p[:n]...)}
				last.size += n
				b.bytes += n
				p = p[n:]
				continue
			}
		}
		b.appendLocked(ahp.TerminalOutput{Data: append([]byte(nil), p[:n]...)}, n)
		p = p[n:]
	}
	b.boundLocked()
	b.notify()
}

// openLocked returns the last item if more output can be added to it, else nil.
func (b *outbox) openLocked() *item {
	if len(b.items) == b.inFlight {
		return nil
	}
	last := b.items[len(b.items)-1]
	if _, ok := last.action.(ahp.TerminalOutput); !ok || last.tried {
		return nil
	}
	return last
}

// add appends an action that is not output.
func (b *outbox) add(a ahp.Action) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	if begun, ok := a.(ahp.TerminalCommandExecuted); ok {
		n = len(begun.CommandLine)
	}
	b.appendLocked(a, n)
	b.boundLocked()
	b.notify()
}

func (b *outbox) appendLocked(a ahp.Action, n int) {
	i := &item{action: a, size: actionBytes + n}
	b.items = append(b.items, i)
	b.bytes += i.size
}

// boundLocked drops the oldest items that are not in flight until the rest fits, but never the
// newest one.
func (b *outbox) boundLocked() {
	for b.bytes > outboxBytes && len(b.items) > b.inFlight+1 {
		i := b.items[b.inFlight]
		b.removeLocked(b.inFlight)
		b.gap.add(i)
		b.redraw = true
	}
}

// removeLocked takes out the item with that index.
func (b *outbox) removeLocked(index int) {
	i := b.items[index]
	b.items = slices.Delete(b.items, index, index+1)
	b.bytes -= i.size
	if index < b.inFlight {
		b.inFlight--
		b.inFlightBytes -= i.size
	}
}

func (b *outbox) notify() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// next returns the item to send now, which then is in flight. It returns nil if there is none, or
// if too much is in flight. drained reports that there is nothing left to send and that the screen
// is due.
func (b *outbox) next() (i *item, drained bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.inFlightBytes >= windowBytes {
		return nil, false
	}
	if b.closeGapLocked(); len(b.items) == b.inFlight {
		return nil, b.redraw
	}
	i = b.items[b.inFlight]
	i.tried = true
	b.inFlight++
	b.inFlightBytes += i.size
	return i, false
}

// closeGapLocked puts the items that stand for the gap in its place.
func (b *outbox) closeGapLocked() {
	items := b.gap.close()
	for _, i := range items {
		b.bytes += i.size
	}
	b.items = slices.Insert(b.items, b.inFlight, items...)
}

// sent records the clientSeq with which an item was sent.
func (b *outbox) sent(i *item, seq int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i.seq = seq
}

// redrawDue reports whether watchers do not have the screen.
func (b *outbox) redrawDue() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.redraw
}

// drawn records that the screen has been appended.
func (b *outbox) drawn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.redraw = false
}

// settled takes out an item that the host has acknowledged or refused.
func (b *outbox) settled(i *item) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if index := slices.Index(b.items[:b.inFlight], i); index >= 0 {
		b.removeLocked(index)
		b.arrivedLocked(i)
		b.notify()
	}
}

// arrivedLocked records that the host has an item.
func (b *outbox) arrivedLocked(i *item) {
	switch a := i.action.(type) {
	case ahp.TerminalCommandExecuted:
		b.running = &a
	case ahp.TerminalCommandFinished:
		b.running = nil
	}
}

// disconnected records that the connection was lost. Nothing is in flight any more; what was may
// have arrived.
func (b *outbox) disconnected() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.disconnectedLocked()
}

func (b *outbox) disconnectedLocked() {
	if b.inFlight > 0 {
		b.closeGapLocked() // it lies behind what was in flight
		b.inFlight, b.inFlightBytes = 0, 0
	}
}

// resume begins a connection to a host that has accepted everything up to a clientSeq. The rest is
// sent again.
func (b *outbox) resume(accepted int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.resumeLocked(accepted)
}

func (b *outbox) resumeLocked(accepted int64) {
	b.disconnectedLocked()
	for _, i := range b.gap.resume(accepted) {
		b.arrivedLocked(i)
	}
	for len(b.items) > 0 && b.items[0].isIn(accepted) {
		b.arrivedLocked(b.items[0])
		b.removeLocked(0)
	}
	for _, i := range b.items {
		i.resend()
	}
	b.notify()
}

// startOver begins a connection to a host that does not have the terminal any more. The new
// terminal gets the command that runs, what the outbox still holds, and then the screen.
func (b *outbox) startOver() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.resumeLocked(0)
	b.redraw = true
	if b.running == nil {
		return
	}
	begun := &item{action: *b.running, size: actionBytes + len(b.running.CommandLine)}
	b.gap.prepend(begun)
	b.running = nil
}

// empty reports whether the host has acknowledged everything.
func (b *outbox) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.items) == 0
}
