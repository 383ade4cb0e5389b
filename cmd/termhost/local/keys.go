package local

import (
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"termhost/ptypool/keyboard"
	"termhost/ptypool/vt/width"
)

// typingPause is how long the user must type nothing before keys are meant for the shell here, or
// for a terminal that is shown again: longer than between the keys of a line, and enough to notice
// a notice.
const typingPause = time.Second

// typedKeys passes what the user types to a command of the host, and then to that of the next
// connection. When the host is lost in the middle of a line, the rest of the line must run neither
// in the user's own shell nor in a terminal that is shown again: it is dropped, and shown to the
// user behind what the host had not taken before.
type typedKeys struct {
	in      io.Reader
	drops   bool          // in is a terminal: what is typed after the host is lost is dropped
	ended   chan struct{} // closed when the input has ended
	dropped chan struct{} // 1 deep: a key was dropped
	left    chan struct{} // 1 deep: the user has ended the wait for the host

	mu      sync.Mutex     // a leaf, but for taken's and echo's queue
	w       io.WriteCloser // the command's input; nil: the host has gone
	reading bool           // the goroutine runs that reads
	over    bool           // the input has ended
	taken   *taken         // what the host says that it has taken
	echo    *echo          // what shows them at once; nil: nothing does
	at      time.Time      // when a key was typed last
	gone    bool           // keys are dropped, because the host has gone
	leaving *leaving       // finds the keys that end the wait for the host; nil: none does
	wrote   uint64         // how many bytes were given to the host
	sent    []byte         // the last of those, not taken by the host, if it says what it takes
	lost    []byte         // the beginning of what was typed since the host has gone
	more    int            // how many bytes followed lost
}

// maxLost bounds, in bytes, how much is kept of what is typed after the host has gone. It is more
// than is shown.
const maxLost = 1 << 10

func newTypedKeys(in io.Reader, drops bool) *typedKeys {
	return &typedKeys{in: in, drops: drops, ended: make(chan struct{}),
		dropped: make(chan struct{}, 1), left: make(chan struct{}, 1)}
}

// to passes what is typed from now on to w, which it closes at the end of the input, and tells echo
// of it, unless that is nil. taken is what w's host says. What was lost before is forgotten; keys
// are dropped until accept, if they were.
func (k *typedKeys) to(w io.WriteCloser, taken *taken, echo *echo) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.w, k.taken, k.echo, k.leaving = w, taken, echo, nil
	k.wrote, k.sent, k.lost, k.more = 0, nil, nil, 0
	switch {
	case k.over:
		w.Close()
	case !k.reading:
		k.reading = true
		go k.read() // a read of a terminal cannot be given up
	}
}

// accept has keys passed to w, unless its host has gone.
func (k *typedKeys) accept(w io.WriteCloser) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.w == w {
		k.gone = false
	}
}

// acceptSettled is accept if the user has typed nothing for the typingPause: what the user is shown
// next must not say that keys are passed on before they are.
func (k *typedKeys) acceptSettled(w io.WriteCloser) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.w == w && time.Since(k.at) >= typingPause {
		k.gone = false
	}
}

// read passes on what is typed until the input ends or, unless the rest is dropped, nobody takes
// it.
func (k *typedKeys) read() {
	defer close(k.ended)
	buf := make([]byte, 32<<10)
	for {
		n, err := k.in.Read(buf)
		if w := k.typed(buf[:n]); w != nil {
			if _, failed := w.Write(buf[:n]); failed != nil {
				if !k.drops {
					w.Close()
					return
				}
				k.lose(w)
			}
		}
		if err != nil {
			k.close()
			return
		}
	}
}

// close records the end of the input.
func (k *typedKeys) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	if k.w != nil {
		k.w.Close()
	}
}

// typed records that the user typed p, and returns whom it is for; nil: it is dropped. What the
// terminal sends by itself is never late.
func (k *typedKeys) typed(p []byte) io.WriteCloser {
	if len(p) == 0 {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	keys, _ := keyboard.HasKeys(p)
	if keys {
		k.at = time.Now()
	}
	if k.w != nil && !(k.gone && keys) {
		k.wrote += uint64(len(p))
		k.echo.typed(p)
		if k.trim() {
			k.sent = append(k.sent, p...)
		}
		return k.w
	}
	kept := min(len(p), maxLost-len(k.lost))
	k.lost, k.more = append(k.lost, p[:kept]...), k.more+len(p)-kept
	if k.leaving != nil && k.leaving.in(p) {
		if k.more == 0 { // they were meant for nobody else
			k.lost = k.lost[:max(len(k.lost)-k.leaving.keys, 0)]
		}
		signalOnce(k.left)
	}
	if keys {
		signalOnce(k.dropped)
	}
	return nil
}

func signalOnce(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// trim removes from sent the keys that the host has taken, and reports whether the host tells that
// at all. k.mu is held.
func (k *typedKeys) trim() bool {
	bytes, _, known := k.taken.latest()
	if !known || !k.drops {
		return false
	}
	left := min(k.wrote-min(bytes, k.wrote), uint64(len(k.sent)))
	k.sent = k.sent[uint64(len(k.sent))-left:]
	return true
}

// lose records that the host behind w has gone: from now on keys are dropped.
func (k *typedKeys) lose(w io.Writer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.w == w {
		k.w, k.gone = nil, true
	}
}

// loseAll is lose, whoever has what is typed.
func (k *typedKeys) loseAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.w, k.gone = nil, true
}

// dropping reports whether keys are dropped.
func (k *typedKeys) dropping() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.gone
}

// leaveBy has the user end the wait for a host by ^C, and by the prefix key and d.
func (k *typedKeys) leaveBy(prefix byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.leaving = newLeaving(prefix)
	select {
	case <-k.left:
	default:
	}
}

// settle returns when the user has typed nothing since began, and for the typingPause, however long
// that takes, when the input ends, or with the signal that came. It calls say once if a key is
// lost, so that the user learns of it.
func (k *typedKeys) settle(began time.Time, signals <-chan os.Signal, say func()) (sig os.Signal) {
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

// notTyped returns the notice about lost keys; "": there are none. It waits for the host's last
// word, so the connection must have ended.
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
		return "what you typed last is dropped; type it again"
	}
	what := "not typed"
	if keys, _ := keyboard.HasKeys(k.sent); keys { // the host may have been lost after it took them
		what = "perhaps not typed"
	}
	return what + ": " + width.Quote(p, len(p)+k.more, maxShownLost)
}
