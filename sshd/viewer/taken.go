package viewer

import (
	"sync/atomic"
	"time"

	"termhost/ahp/host"
)

// A host that is killed loses input that it has not handed over, and that in the socket. A peer
// that counts its input, and knows how much has been taken, can show its person the rest.

// takenPause is how long after a look the viewer looks again whether a program has taken what was
// typed. Mostly it takes that at once.
const takenPause = 100 * time.Millisecond

// taken tells the viewer's peer how much of its input has been taken.
type taken struct {
	tell func(bytes uint64, shown bool) // Session.Taken

	// The input loop sets these.
	bytes atomic.Uint64            // of what was read, those that it is done with
	to    atomic.Pointer[delivery] // which may still keep some of them
	more  chan struct{}            // 1 deep: bytes has grown

	// Used by the viewer's loop only.
	told    bool
	last    uint64          // how much was told last
	shown   bool            // and whether keys are shown
	changes <-chan struct{} // closed when that may have changed; nil: it is not told
	due     time.Time       // of the next look; zero: none is due
}

// done says that the input loop is done with n more bytes.
func (k *taken) done(n int) {
	k.bytes.Add(uint64(n))
	select {
	case k.more <- struct{}{}:
	default:
	}
}

// look tells the peer how much of what it has sent cannot be lost with the host any more, if that
// has changed, and whether what is typed next is shown, at the terminal of a.
func (k *taken) look(a *host.Attach) {
	if k.tell == nil {
		return
	}
	k.changes = a.WaitsChanged() // before the state is looked at
	shown, bytes := a.ShowsInput(), k.bytes.Load()
	k.due = time.Time{}
	if bytes != k.last && !(k.to.Load().empty() && a.InputKept()) {
		bytes, k.due = k.last, time.Now().Add(takenPause)
	}
	if !k.told || bytes != k.last || shown != k.shown {
		k.told, k.last, k.shown = true, bytes, shown
		k.tell(bytes, shown)
	}
}
