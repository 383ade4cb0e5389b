package verbs

import (
	"bytes"
	"errors"
	"fmt"

	"termhost/ptypool/keyboard"
)

// ahead reads what a person types while a terminal is made ready for them. Those keys are for that
// terminal: it gets them when it is shown, and otherwise nobody does. Ctrl-C, and the prefix with
// d, end the wait. It is guarded by relay.mu.
type ahead struct {
	filter  keyboard.Filter
	cancel  func() // ends the wait; nil: there is none
	keys    int    // how many were typed; a paste is one
	pasting bool   // what comes next goes on with a paste
	form    []byte // the prefix key, if the next key has not followed yet
	dropped bool   // no terminal gets the keys
	left    bool   // the person does not wait
	behind  []byte // what is not for the other terminal then
}

// errNotAwaited is for a person who does not wait for a terminal.
var errNotAwaited = errors.New("you did not wait")

// feed reads what is typed next. p is not kept.
func (a *ahead) feed(p []byte) {
	if !a.left {
		p = a.filter.Feed(p, a)
	}
	if a.left {
		a.behind = append(a.behind, p...)
	}
}

// drop has no terminal get the keys, and returns what is for the one that is shown.
func (a *ahead) drop() []byte {
	a.dropped = true
	if a.left {
		return a.behind
	}
	return a.form
}

// skip returns what is left of p behind the paste whose beginning was dropped.
func (a *ahead) skip(p []byte) []byte { return a.filter.Feed(p, a) }

// leave ends the wait; rest is for the terminal that is shown.
func (a *ahead) leave(rest ...[]byte) {
	a.left, a.behind = true, bytes.Join(rest, nil)
	a.filter.Stop()
	a.cancel()
}

// Typed implements [keyboard.Handler].
func (a *ahead) Typed(p []byte) {
	rest := a.pasting
	a.pasting = a.filter.Pasting()
	switch keys, _ := keyboard.HasKeys(p); {
	case rest && a.dropped && !a.pasting:
		a.filter.Stop()
		return
	case rest:
		return
	case a.pasting:
		a.keys++
		return
	case !keys:
		return
	}
	for len(p) > 0 {
		k, n := keyboard.Read(p)
		if n == 0 { // the rest of the character is on its way
			return
		}
		p = p[n:]
		if a.cancel != nil && k == (keyboard.Key{Code: 'c', Mods: keyboard.Ctrl}) {
			a.leave(p)
			return
		}
		a.keys++
	}
}

// Prefixed implements [keyboard.Handler].
func (a *ahead) Prefixed() { a.form = a.filter.Form() }

// Commanded implements [keyboard.Handler].
func (a *ahead) Commanded(k rune, form, raw []byte) {
	a.form, a.pasting = nil, a.filter.Pasting()
	if k == 'd' && a.cancel != nil {
		a.leave(form, raw)
		return
	}
	a.keys += 2
}

// NotTyped adds to why keys were dropped how many.
func NotTyped(why string, keys int) string {
	switch keys {
	case 0:
		return why
	case 1:
		return why + "; not typed: 1 key"
	}
	return fmt.Sprintf("%s; not typed: %d keys", why, keys)
}

// hold keeps all keys that are not read yet, and those to come, until settle is called. cancel is
// called if the person does not wait; nil: that takes no time. Nothing is read from the leg
// meanwhile.
func (l *leg) hold(prefix byte, cancel func()) *ahead {
	r := l.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	a := &ahead{filter: keyboard.Filter{Prefix: prefix}, cancel: cancel}
	if l.over {
		return a
	}
	r.ahead = a
	a.feed(r.unread)
	return a
}

// settle ends the hold. If a terminal is ready, it gets what was typed, unless settle returns an
// error: the person has not waited.
func (l *leg) settle(a *ahead, ready bool) error {
	r := l.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ahead != a:
		return errLegOver
	case ready && !a.left:
		r.ahead = nil
		return nil
	}
	r.dropLocked()
	if a.left {
		return errNotAwaited
	}
	return nil
}

// dropLocked drops what is held; r.mu is held.
func (r *relay) dropLocked() {
	a := r.ahead
	r.ahead = nil
	keep := bytes.Clone(a.drop())
	r.lostLocked(len(r.unread) - len(keep))
	r.unread = keep
	if !a.left && a.pasting {
		r.skips = a
	}
	r.changed.Broadcast()
}

// lostLocked counts input that no leg reads; r.mu is held.
func (r *relay) lostLocked(n int) {
	r.taken += uint64(n)
	r.dropped += uint64(n)
}

// skipLocked returns what is left of p behind a paste that is dropped; r.mu is held.
func (r *relay) skipLocked(p []byte) []byte {
	if r.skips == nil {
		return p
	}
	rest := r.skips.skip(p)
	if !r.skips.pasting {
		r.skips = nil
	}
	r.lostLocked(len(p) - len(rest))
	return rest
}
