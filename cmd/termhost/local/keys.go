package local

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"termhost/ptypool/keyboard"
	"termhost/ptypool/vt/width"
)

// typingPause is how long the user must type nothing before keys are meant for the shell here
// again: longer than between the keys of a line, and enough to notice a notice.
const typingPause = time.Second

// typedKeys passes what the user types to a command of the host. When the host is lost in the
// middle of a line, the rest of the line must not run in the user's own shell: it is dropped, and
// shown to the user behind what the host had not taken before.
type typedKeys struct {
	in      io.Reader
	drops   bool          // in is a terminal: what is typed after the host is lost is dropped
	taken   *taken        // what the host says that it has taken
	ended   chan struct{} // closed when passTo has returned
	dropped chan struct{} // 1 deep: a key was dropped

	mu    sync.Mutex // a leaf, but for taken's
	at    time.Time  // when a key was typed last
	gone  bool       // the host has gone
	wrote uint64     // how many bytes were given to the host
	sent  []byte     // the last of those, which the host has not taken, if it says what it takes
	lost  []byte     // the beginning of what was typed since the host has gone
	more  int        // how many bytes followed lost
}

// maxLost bounds, in bytes, how much is kept of what is typed after the host has gone. It is more
// than is shown.
const maxLost = 1 << 10

func newTypedKeys(in io.Reader, drops bool, taken *taken) *typedKeys {
	return &typedKeys{in: in, drops: drops, taken: taken, ended: make(chan struct{}),
		dropped: make(chan struct{}, 1)}
}

// passTo writes what is typed to w. It returns with the end of the input or, unless it drops the
// rest, when w fails. It must be called once.
func (k *typedKeys) passTo(w io.Writer) {
	defer close(k.ended)
	buf := make([]byte, 32<<10)
	for {
		n, err := k.in.Read(buf)
		if n > 0 && k.typed(buf[:n]) {
			if _, failed := w.Write(buf[:n]); failed != nil {
				if !k.drops {
					return
				}
				k.lose()
			}
		}
		if err != nil {
			return
		}
	}
}

// typed records that the user typed p, and reports whether it is for the host.
func (k *typedKeys) typed(p []byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	keys, _ := keyboard.HasKeys(p)
	if keys {
		k.at = time.Now()
	}
	if !k.gone {
		k.wrote += uint64(len(p))
		if k.trim() {
			k.sent = append(k.sent, p...)
		}
		return true
	}
	kept := min(len(p), maxLost-len(k.lost))
	k.lost, k.more = append(k.lost, p[:kept]...), k.more+len(p)-kept
	if keys {
		select {
		case k.dropped <- struct{}{}:
		default:
		}
	}
	return false
}

// trim removes from sent what the host has taken, and reports whether the host says what it takes.
// k.mu is held.
func (k *typedKeys) trim() bool {
	bytes, _, known := k.taken.latest()
	if !known || !k.drops {
		return false
	}
	left := min(k.wrote-min(bytes, k.wrote), uint64(len(k.sent)))
	k.sent = k.sent[uint64(len(k.sent))-left:]
	return true
}

// lose records that the host has gone: from now on keys are dropped.
func (k *typedKeys) lose() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gone = true
}

// settle drops keys from now on, because the host has gone. It returns when the user has typed
// nothing for the typingPause, however long that takes, when the input ends, or with the signal
// that came. It calls say once if a key is lost, so that the user learns of it.
func (k *typedKeys) settle(signals <-chan os.Signal, say func()) (sig os.Signal) {
	began := time.Now()
	k.lose()
	for {
		k.mu.Lock()
		k.trim()
		wait := typingPause - time.Since(later(began, k.at))
		missing := len(k.missing()) > 0
		k.mu.Unlock()
		if missing && say != nil {
			say()
			say = nil
		}
		if wait <= 0 {
			return nil
		}
		due := time.Now().Add(wait)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
			if time.Since(due) > typingPause/4 { // this process was stopped, and has keys to read
				began = time.Now()
			}
		case <-k.dropped:
		case <-k.ended:
			return nil
		case sig = <-signals:
			return sig
		}
		timer.Stop()
	}
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// missing returns the beginning of what the user typed and the host has not taken; nil: there are
// no keys in it. k.mu is held.
func (k *typedKeys) missing() []byte {
	p := slices.Concat(k.sent, k.lost)
	if keys, _ := keyboard.HasKeys(p); !keys {
		return nil
	}
	return p
}

// maxShownLost is how much of what is lost is shown, in cells: some lines.
const maxShownLost = 400

// notTyped returns a line for the user about what is lost; "": nothing is. It waits for the last
// that the host has said, so the connection must have ended.
func (k *typedKeys) notTyped() string {
	<-k.taken.ended
	k.mu.Lock()
	defer k.mu.Unlock()
	k.trim()
	p := k.missing()
	if p == nil {
		return ""
	}
	if _, shown, known := k.taken.latest(); !known || !shown {
		return "termhost: what you typed last is dropped; type it again\n"
	}
	return fmt.Sprintf("termhost: not typed, as far as the host has said: %s\n",
		width.Quote(p, len(p)+k.more, maxShownLost))
}
