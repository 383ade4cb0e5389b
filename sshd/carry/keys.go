package carry

import (
	"bytes"
	"sync"
	"time"

	"termhost/ptypool/keyboard"
	"termhost/sshd/typed"
	"termhost/sshd/verbs"
)

// keys passes on what the peer sends to the session that runs. What comes while the host is silent,
// or between two sessions, is refused: it was typed at a picture that stands still.
//
// Behind the prefix, the keys that lead to other hosts are not passed on. They are read here, on
// the person's own host: another host cannot press them.
type keys struct {
	peer  verbs.Caller
	guide *verbs.Guide // nil: no key leads anywhere
	leave func(error)  // ends the run
	out   *outlet
	tell  func(string)
	help  func(keys string) // shows which keys are not refused
	// connecting tells the person for which terminal they wait, while the output is held.
	connecting func(name string)

	// Used by pass only.
	filter   keyboard.Filter
	prefixed bool          // the host has got the prefix key that was pressed last
	command  rune          // the key that leads away; 0: none was pressed
	sending  chan struct{} // closed when the host has taken what was typed last; nil: it has
	pasting  bool          // what comes next goes on with a paste
	into     *session      // that gets the paste; nil: its rest is refused
	cut      *session      // waits for the end of a paste whose rest was refused; nil: none does

	mu     sync.Mutex // a leaf
	s      *session   // nil: none runs
	silent bool
	hush   chan struct{} // closed while silent; never nil
	over   bool          // the peer's input has ended
	done   bool          // the run has ended
}

// to has a session get what comes; nil: none does.
func (k *keys) to(s *session) {
	k.mu.Lock()
	k.s = s
	k.silenceLocked(false)
	over := k.over
	k.mu.Unlock()
	if over {
		k.endOf(s)
	}
}

// endOf tells a session, unless it is nil, that nothing more is typed, once its host has taken what
// was. It does not wait for that: the host may be silent.
func (k *keys) endOf(s *session) {
	if s == nil {
		return
	}
	last := k.sending // nothing is typed any more, and so it stays
	k.peer.Go("ending the input of another host", func() {
		if last != nil {
			<-last
		}
		_ = s.ch.CloseWrite() // it fails when the session ends
	})
}

// refuse says whether the host is silent.
func (k *keys) refuse(silent bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.silenceLocked(silent)
}

// silenceLocked notes whether the host is silent; k.mu is held.
func (k *keys) silenceLocked(is bool) {
	switch {
	case is == k.silent:
	case is:
		close(k.hush)
	default:
		k.hush = make(chan struct{})
	}
	k.silent = is
}

// send has the session get p, which is not kept, and waits until it has, or is silent: a host that
// takes nothing must not keep the keys from being read that leave it. It returns false if p is
// refused, because what was typed before still waits.
func (k *keys) send(s *session, p []byte) bool {
	own := s.message(p) // with the knowledge of now, before the earlier keys are taken
	if !k.sent() {
		return false
	}
	done := make(chan struct{})
	k.sending = done
	k.peer.Go("typing on another host", func() {
		defer close(done)
		_, _ = s.ch.Write(own) // it fails when the session ends: nobody takes it
	})
	k.sent()
	return true
}

// message returns p, which is not kept, as the session's host takes it.
func (s *session) message(p []byte) []byte {
	if !s.typed {
		return bytes.Clone(p)
	}
	return typed.Message(s.heard(), p)
}

// sent waits until what was typed is taken, or the host is silent. It returns false then.
func (k *keys) sent() bool {
	if k.sending == nil {
		return true
	}
	select {
	case <-k.sending:
		k.sending = nil
		return true
	case <-k.hushed():
		return false
	}
}

// hushed returns a channel that is closed while the host is silent.
func (k *keys) hushed() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.hush
}

// open returns the session that gets what comes; nil: it is refused.
func (k *keys) open() *session {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.silent {
		return nil
	}
	return k.s
}

// showTime is how long a key waits for a host to say that it shows a terminal, which the host does
// before it sends the picture.
const showTime = 100 * time.Millisecond

// shows reports whether a terminal is shown, even if its host is silent.
func (k *keys) shows() bool {
	k.mu.Lock()
	s := k.s
	k.mu.Unlock()
	if s == nil {
		return false
	}
	late := time.NewTimer(showTime)
	defer late.Stop()
	select {
	case <-s.came:
	case <-s.ended:
	case <-late.C:
	}
	return s.showsNow().Name != ""
}

// pass passes on what the peer sends, to its end. That is passed on only if the peer is there: a
// connection that is lost ends the session, but not the input.
func (k *keys) pass() {
	buf := make([]byte, 32<<10)
	for {
		n, err := k.peer.Stdin().Read(buf)
		if n > 0 && k.take(buf[:n]) {
			return
		}
		if err != nil {
			k.end()
			return
		}
	}
}

// escape is typed instead of a key that leads nowhere: the host's viewer waits for one. It is the
// Escape of kitty's protocol, because what is typed behind ESC alone could belong to it.
const escape = "\x1b[27u"

// take passes on p, and reports whether the person has gone elsewhere.
func (k *keys) take(p []byte) (gone bool) {
	if k.guide == nil {
		k.Typed(p)
		return false
	}
	rest := k.filter.Feed(p, k)
	if k.command == 0 {
		return false
	}
	if len(rest) > 0 {
		k.guide.Unread(rest)
	}
	return k.follow()
}

// follow acts on the key that leads away. The output stands still meanwhile.
func (k *keys) follow() (gone bool) {
	key := k.command
	k.command = 0
	k.out.hold()
	led, err := k.guide.Key(key, k.connecting)
	switch {
	case err == nil && led == verbs.LedOn:
		k.out.shut()
		k.leave(errWentOn)
		if k.prefixed { // the host's viewer detaches, when it has taken what was typed before
			k.Typed([]byte("d"))
		}
		return true
	case err != nil || led == verbs.LedBack:
		k.out.release()
		k.Typed([]byte(escape))
		if s := k.open(); s != nil && led == verbs.LedBack {
			s.redraw()
		}
		if err != nil {
			k.tell(err.Error())
		}
	default:
		k.out.release()
		k.Typed([]byte(string(key)))
	}
	return false
}

// pasteEnd ends a paste (xterm ctlseqs, "Bracketed Paste Mode").
const pasteEnd = "\x1b[201~"

// give has the session get p, unless it is nil, and returns false if p is refused. Behind a gap all
// of a paste is refused: its lines would be typed. The session that has got the beginning is given
// the end before the next key, which it would take for pasted text.
func (k *keys) give(s *session, p []byte) bool {
	rest, into := k.pasting, k.into
	k.pasting, k.into = k.filter.Pasting(), nil
	if s != nil && s == k.cut {
		p = append([]byte(pasteEnd), p...)
	}
	if s == nil || rest && s != into || !k.send(s, p) {
		if rest && into != nil {
			k.cut = into
		}
		return false
	}
	k.cut = nil
	if k.pasting {
		k.into = s
	}
	return true
}

// Typed implements [keyboard.Handler].
func (k *keys) Typed(p []byte) {
	s := k.open()
	_, terminal := k.peer.Terminal()
	switch {
	case s != nil && !terminal:
		_, _ = s.ch.Write(p) // it fails when the session ends: nobody takes it
	case terminal && k.give(s, p):
	case terminal && bytes.IndexByte(p, keyboard.Interrupt) >= 0:
		k.leave(errLeft)
	case terminal:
		_, _ = k.out.stdout().Write([]byte("\a"))
	}
}

// Prefixed implements [keyboard.Handler]. The host's viewer shows help if nothing follows, or this
// host does.
func (k *keys) Prefixed() {
	if k.prefixed = k.open() != nil; k.prefixed {
		k.Typed(k.filter.Form())
		return
	}
	k.showHelp()
}

// showHelp shows what can follow the prefix while the host is silent.
func (k *keys) showHelp() {
	text := "after " + keyboard.ControlName(k.filter.Prefix) + ": "
	if k.shows() {
		text += "l list, n next, Tab last, "
	}
	k.help(text + "d leaves")
}

// Commanded implements [keyboard.Handler].
func (k *keys) Commanded(key rune, form, raw []byte) {
	leads := key == 'l' || key == 'n' || key == '\t' || key == keyboard.Tab
	switch {
	case leads && k.shows():
		k.command = key
		k.filter.Stop()
	case key == 'd' && k.open() == nil: // it is not there to be asked
		k.leave(errLeft)
	case key == '?' && k.open() == nil:
		k.showHelp()
	case k.prefixed:
		k.Typed(raw)
	default: // what is refused is refused whole
		k.Typed(bytes.Join([][]byte{form, raw}, nil))
	}
}

// end passes on the end of the peer's input.
func (k *keys) end() {
	k.mu.Lock()
	done := k.done
	k.mu.Unlock()
	if done || !k.peer.Answers() {
		return
	}
	k.mu.Lock()
	k.over = true
	s := k.s
	k.mu.Unlock()
	k.endOf(s)
}

// finish says that the run has ended: the input has not.
func (k *keys) finish() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.s, k.done = nil, true
}
