package carry

import (
	"fmt"
	"io"
	"sync"
	"time"

	"termhost/ptypool/vt"
	"termhost/sshd/verbs"
)

// noticeTime is how long a person is told something: the time to read a line, for one
// who is busy with something else.
const noticeTime = 6 * time.Second

// notices is what is shown over another host's picture.
type notices struct {
	mu    sync.Mutex // a leaf
	until time.Time  // when the host is to draw the picture again; zero: nothing is to be removed
	text  string     // until then
	lost  int        // how many keys the text says that were not typed
	// helpUntil is until when help is shown in place of why keys are refused.
	helpUntil time.Time
}

// watch tells a person at a terminal when the host is silent, and when it is back, until stop is
// closed. Keys are refused meanwhile. It also removes what tell shows.
func (r *run) watch(s *session, stop <-chan struct{}) {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	said := ""
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		err := r.Fleet.Reachable(r.host)
		r.keys.refuse(err != nil)
		switch {
		case err != nil && err.Error() != said: // its seconds have changed
			said = err.Error()
			r.refusing(said)
			ticker.Reset(glance)
		case err != nil:
		case said != "" || r.told.over(time.Now()):
			said = ""
			// A host that takes nothing any more must not keep it from being watched.
			r.peer.Go("drawing another host's picture again", s.redraw)
			ticker.Reset(look)
		default: // the host may have drawn over it
			if text := r.told.now(); text != "" {
				r.notice(text)
			}
		}
	}
}

// over reports whether what tell has shown is to be removed now.
func (n *notices) over(now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.until.IsZero() || now.Before(n.until) {
		return false
	}
	n.until, n.text, n.lost = time.Time{}, "", 0
	return true
}

// now returns what tell shows; "": nothing.
func (n *notices) now() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text
}

// tell shows a text for a moment.
func (r *run) tell(text string) {
	r.told.mu.Lock()
	r.told.until, r.told.text, r.told.lost = time.Now().Add(noticeTime), text, 0
	r.told.mu.Unlock()
	r.notice(text)
}

// dropped tells a person how many keys their host has dropped, which has come back. It counts those
// together that it tells in one notice. Only the session's goroutine calls it.
func (r *run) dropped(keys int) {
	r.told.mu.Lock()
	keys += r.told.lost
	r.told.mu.Unlock()
	r.tell(verbs.NotTyped(r.host+" was silent", keys))
	r.told.mu.Lock()
	r.told.lost = keys
	r.told.mu.Unlock()
}

// refusing shows why keys are refused, unless help is shown, over the picture of a host that is
// silent.
func (r *run) refusing(why string) {
	if g := r.keys.guide; g != nil && r.peer.Draws() {
		_, _ = r.out.stdout().Write(g.Corner())
	}
	if !r.told.helping(time.Now()) {
		r.notice(why + "; keys are refused, Ctrl-C leaves")
	}
}

// help shows for a moment which keys are not refused.
func (r *run) help(keys string) {
	r.told.mu.Lock()
	r.told.helpUntil = time.Now().Add(noticeTime)
	r.told.mu.Unlock()
	r.notice(r.host + " is silent; " + keys)
}

// helping reports whether help is shown.
func (n *notices) helping(now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return now.Before(n.helpUntil)
}

// connecting shows for which terminal a person waits, while the output is held.
func (r *run) connecting(name string) {
	r.noticeTo(r.peer.Stdout(), "connecting to "+name+" ...")
}

// notice shows a text on the last row of the peer's window, or removes it.
func (r *run) notice(text string) { r.noticeTo(r.out.stdout(), text) }

// noticeTo is notice by a stream of its own. The cursor stays (DECSC, DECRC).
func (r *run) noticeTo(out io.Writer, text string) {
	if !r.peer.Draws() {
		return
	}
	size := r.peer.Window()
	if text != "" {
		// A full last row would scroll the picture.
		text = "\x1b[7m" + cut(" termhost: "+text, size.Cols-2) + " \x1b[0m"
	}
	_, _ = fmt.Fprintf(out, "\x1b7\x1b[%d;1H\x1b[0m\x1b[2K%s\x1b8", size.Rows, text)
}

// cut returns at most so many characters of text.
func cut(text string, most int) string {
	runes := []rune(text)
	return string(runes[:max(min(most, len(runes)), 0)])
}

// sane undoes what a session that was lost, or left, has left in the peer's terminal, and restores
// the title that its viewer has saved (xterm ctlseqs, "Window manipulation", 23).
func (r *run) sane(s *session) {
	if !r.peer.Draws() {
		return
	}
	text := vt.Sane
	if s.showsNow().Name != "" {
		text += "\x1b[23;2t"
	}
	_, _ = r.peer.Stdout().Write([]byte(text))
}
