package host

import (
	"time"

	"termhost/ptypool/vt"
)

// A program that asks for kitty's keyboard protocol is answered if the terminal of the viewer that
// is followed has it. The flags that it sets are for all viewers' terminals that have the protocol.
// What the holder types reaches the program as their terminal sends it: from one without the
// protocol keys come as ever, also when the keyboard goes there from one with it.

// keysTime is how long a program that asks waits for a terminal that was just attached.
const keysTime = 2 * time.Second

// SetKittyKeys tells whether the viewer's own terminal has kitty's keyboard protocol.
func (a *Attach) SetKittyKeys(on bool) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	if a.keys = vt.KeysLacking; on {
		a.keys = vt.KeysKnown
	}
	a.fitLocked()
}

// settleKeys is called when no answer of the viewer's terminal is awaited any more.
func (a *Attach) settleKeys() {
	v := &a.t.viewers
	a.t.term.Lock()
	defer a.t.term.Unlock()
	if a.keys == vt.KeysAsked {
		a.keys = vt.KeysLacking
		a.fitLocked()
	}
	if v.keys == vt.KeysAsked { // the viewer is gone, and what has waited for it may not wait on
		v.fitKeys(vt.KeysLacking)
	}
}

// fitKeys takes the abilities of the terminal that is followed. Until it has answered, those of the
// one before go on. The Term's lock is held.
func (v *viewers) fitKeys(keys vt.KittyKeys) {
	if keys == vt.KeysUnsaid || keys == v.keys || keys == vt.KeysAsked && v.keys != vt.KeysUnsaid {
		return
	}
	v.keys = keys
	v.t.term.Screen().SetKittyKeys(keys, events{v.t})
}
