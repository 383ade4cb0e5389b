package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"termhost/ptypool/keyboard"
	"termhost/sshd/viewer"
)

// typingPause is how long the user must type nothing before keys are meant for the shell here
// again: longer than between the keys of a line, and enough to notice a notice.
const typingPause = time.Second

// localKeys passes what the user types to a command of the host. When the host is lost in the
// middle of a line, the rest of the line must not run in the user's own shell: it is dropped, and
// shown to the user with what the host had not taken before.
type localKeys struct {
	in      io.Reader
	swallow bool          // in is a terminal, and what is typed when the host has gone is dropped
	taken   *inputTaken   // what the host says of that
	ended   chan struct{} // closed when passTo has returned
	refused chan struct{} // 1 deep: a key was dropped

	mu    sync.Mutex // a leaf, but for taken's
	at    time.Time  // when a key was typed last
	gone  bool       // the host has gone
	wrote uint64     // how many bytes were given to the host
	sent  []byte     // the last of those; the host has not taken them, if it says what it takes
	lost  []byte     // what was typed since the host has gone: the beginning
	more  int        // how many bytes of that are not in lost
}

// maxLost bounds what is kept, in bytes, of what is typed when the host has gone: more than is
// shown.
const maxLost = 1 << 10

func newLocalKeys(in io.Reader, swallow bool, taken *inputTaken) *localKeys {
	return &localKeys{in: in, swallow: swallow, taken: taken, ended: make(chan struct{}),
		refused: make(chan struct{}, 1)}
}

// passTo gives to what is typed. It returns with the end of the input or, unless it swallows the
// rest, when to fails. It must be called once.
func (k *localKeys) passTo(to io.Writer) {
	defer close(k.ended)
	buf := make([]byte, 32<<10)
	for {
		n, err := k.in.Read(buf)
		if n > 0 && k.typed(buf[:n]) {
			if _, failed := to.Write(buf[:n]); failed != nil {
				if !k.swallow {
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

// typed records that p was typed, and reports whether the host is to have it.
func (k *localKeys) typed(p []byte) bool {
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
		case k.refused <- struct{}{}:
		default:
		}
	}
	return false
}

// trim forgets what the host has taken, and reports whether the host says what it takes. k.mu is
// held.
func (k *localKeys) trim() bool {
	bytes, _, known := k.taken.latest()
	if !known || !k.swallow {
		return false
	}
	left := min(k.wrote-min(bytes, k.wrote), uint64(len(k.sent)))
	k.sent = k.sent[uint64(len(k.sent))-left:]
	return true
}

// lose records that the host has gone: what is typed from now on is dropped.
func (k *localKeys) lose() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gone = true
}

// settle is called when the host has gone: what is typed from now on is dropped. It returns when
// the user has typed nothing for the typingPause or cannot type any more, however long that takes,
// or a signal comes. When a key has been lost, it calls say once, so that the user learns of it.
func (k *localKeys) settle(signals <-chan os.Signal, say func()) (sig os.Signal) {
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
		case <-k.refused:
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

// missing returns the beginning of what was typed and is lost; nil: nothing is. k.mu is held.
func (k *localKeys) missing() []byte {
	p := slices.Concat(k.sent, k.lost)
	if keys, _ := keyboard.HasKeys(p); !keys {
		return nil
	}
	return p
}

// maxShownLost is how much of what is lost is shown, in cells: some lines.
const maxShownLost = 400

// notTyped says what was typed and is lost, in a line; "": nothing is. It waits for the last of
// what the host has said, so the connection must have ended.
func (k *localKeys) notTyped() string {
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
		viewer.QuoteKeys(p, len(p)+k.more, maxShownLost))
}
