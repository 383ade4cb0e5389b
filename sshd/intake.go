package sshd

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/authz/admit"
)

// x/crypto lets a peer send 2 MiB on each channel before any of it is read, and keeps that in
// memory; neither can be changed. A connection with ten SSH sessions and 64 forwards could make
// the host hold 150 MB, and more in packets of one byte. So the host knows for each connection how
// much has come that nobody has read. Beyond a budget it takes no more bytes from the connection,
// which slows an honest peer down until its programs have caught up, and it closes the channels
// that nobody reads.

const (
	// unreadPerAccount and unreadInAll are how many bytes may wait to be read by programs, on all
	// connections of one account and on all there are: a few full windows for one person, and
	// little enough for a machine with 256 MB.
	unreadPerAccount = 8 << 20
	unreadInAll      = 32 << 20
	// unreadStep is how many bytes come between two looks at the budgets. A connection that has no
	// more than unreadFree waiting is never held back.
	unreadStep = 64 << 10
	unreadFree = 512 << 10
	// unreadPatience is how long a channel may go unread while the budget is exceeded. A program
	// that takes its input slowly takes some of it more often.
	unreadPatience = 5 * time.Second
	// unreadPoll is how often a connection that is held back looks at the budgets: others may have
	// freed some.
	unreadPoll = 50 * time.Millisecond
)

// errUnread ends a channel that nobody reads.
var errUnread = errors.New("too much input of this key is waiting, and nothing reads this one")

// intake is what one connection has sent.
type intake struct {
	// unread is what all connections have unread, by account.
	unread   *admit.Tally
	patience time.Duration // unreadPatience
	// background runs f on a goroutine of the connection's, unless that is being closed.
	background func(doing string, f func())

	account string // set before there is any channel
	// observer is the peer if it is an observer, who has no use for sending much: it is read at
	// the pace of its account.
	observer atomic.Pointer[host.Conn]
	received atomic.Int64
	looked   int64 // received at the last look; of the goroutine that reads the connection

	mu      sync.Mutex // unread's is locked under it
	inlets  map[*inlet]struct{}
	waiting int   // of inlets, those whose reader waits for more
	base    int64 // what had been received when nothing was unread
	read    int64 // read since, with the weight of its packets
	counted int64 // of unread
}

// inlet is the input of one channel. Everything that reads the channel does so by its inlet.
type inlet struct {
	in      *intake
	ch      gossh.Channel
	onShut  func() // tells whoever should read the channel that it is over
	shut    atomic.Bool
	one     sync.Mutex // held while ch is read: at its end x/crypto wakes one reader only
	readers int        // in Read; guarded by intake.mu, as what follows
	since   time.Time  // when the last reader left
}

// open returns the inlet of a channel that has been accepted, which must be closed. If the channel
// goes unread for too long, onShut is called, and what still comes is thrown away.
func (in *intake) open(ch gossh.Channel, onShut func()) *inlet {
	i := &inlet{in: in, ch: ch, onShut: onShut, since: time.Now()}
	in.mu.Lock()
	in.inlets[i] = struct{}{}
	in.mu.Unlock()
	return i
}

// close forgets the inlet of a channel that has ended.
func (i *inlet) close() {
	in := i.in
	in.mu.Lock()
	defer in.mu.Unlock()
	if i.readers > 0 {
		in.waiting--
	}
	delete(in.inlets, i)
	in.settleLocked()
}

// packetWeight is the memory that a small packet takes, in bytes, and about its size on the wire.
const packetWeight = 48

// Read reads the channel's input.
func (i *inlet) Read(p []byte) (int, error) {
	if i.shut.Load() {
		return 0, errUnread
	}
	n, err := i.take(p)
	if i.shut.Load() {
		return 0, errUnread
	}
	return n, err
}

// take reads the channel's input, also when it is shut.
func (i *inlet) take(p []byte) (int, error) {
	i.entered(1)
	i.one.Lock()
	n, err := i.ch.Read(p)
	i.one.Unlock()
	i.in.took(n)
	i.entered(-1)
	return n, err
}

// took notes that n bytes have been read.
func (in *intake) took(n int) {
	if n > 0 {
		in.mu.Lock()
		in.read += int64(n + n>>10 + packetWeight)
		in.mu.Unlock()
	}
}

// entered notes that a reader has come or gone.
func (i *inlet) entered(n int) {
	in := i.in
	in.mu.Lock()
	defer in.mu.Unlock()
	before := i.readers > 0
	i.readers += n
	if _, open := in.inlets[i]; !open {
		return
	}
	switch after := i.readers > 0; {
	case after && !before:
		in.waiting++
		in.settleLocked()
	case before && !after:
		in.waiting--
		i.since = time.Now()
	}
}

// settleLocked notes when nothing is unread: somebody waits for more on every channel.
func (in *intake) settleLocked() {
	if in.waiting < len(in.inlets) {
		return
	}
	in.base, in.read = in.received.Load(), 0
	if in.counted != 0 {
		in.unread.Add(in.account, -in.counted)
		in.counted = 0
	}
}

// discard reads the channel to its end and throws all of it away.
func (i *inlet) discard() { drain(i.take) }

// discardErrors does so with what the peer sends as error output, which only a server has.
func (i *inlet) discardErrors() {
	errs := i.ch.Stderr()
	drain(func(p []byte) (int, error) {
		n, err := errs.Read(p)
		i.in.took(n)
		return n, err
	})
}

// drain reads to the end.
func drain(read func([]byte) (int, error)) {
	buf := make([]byte, 1<<10) // there may be many of these, and it need not be fast
	for {
		if _, err := read(buf); err != nil {
			return
		}
	}
}

// arrived notes that n bytes have come from the peer, and waits while too much is unread. stop
// ends the wait.
func (in *intake) arrived(n int, stop <-chan struct{}) {
	if now := in.received.Add(int64(n)); now-in.looked < unreadStep {
		return
	}
	for {
		in.looked = in.received.Load()
		if !in.over() {
			return
		}
		timer := time.NewTimer(unreadPoll)
		select {
		case <-timer.C:
		case <-stop:
			timer.Stop()
			return
		}
	}
}

// over reports whether more is unread than may be. It shuts the channel that has gone unread for
// too long.
func (in *intake) over() bool {
	in.mu.Lock()
	in.settleLocked()
	held := int64(0)
	if len(in.inlets) > 0 {
		held = max(in.received.Load()-in.base-in.read, 0)
	}
	own, all := in.unread.Add(in.account, held-in.counted)
	over := (own > unreadPerAccount || all > unreadInAll) && held > unreadFree
	in.counted = held
	var victim *inlet
	if over {
		for i := range in.inlets {
			if i.readers == 0 && !i.shut.Load() && (victim == nil || i.since.Before(victim.since)) {
				victim = i
			}
		}
	}
	late := victim != nil && time.Since(victim.since) >= in.patience
	in.mu.Unlock()
	if late && !victim.shut.Swap(true) {
		in.background("discarding input", func() {
			victim.onShut()
			victim.discard()
		})
	}
	return over
}

// leave forgets what the connection has unread.
func (in *intake) leave() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.unread.Add(in.account, -in.counted)
	in.counted = 0
}
