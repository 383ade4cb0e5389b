package local

import (
	"bytes"

	"termhost/ptypool/keyboard"
)

const interruptKey = 0x03 // ^C

// leaving finds the keys by which the user ends the wait for a host: ^C, and the prefix key with d,
// by which one detaches.
type leaving struct {
	filter keyboard.Filter
	found  bool
	keys   int // the length of those keys and all behind them, in bytes
}

func newLeaving(prefix byte) *leaving {
	return &leaving{filter: keyboard.Filter{Prefix: prefix}}
}

// in reports whether what was typed now has such a key in it.
func (l *leaving) in(p []byte) bool {
	l.found = false
	l.filter.Feed(p, l)
	return l.found
}

// Typed implements [keyboard.Handler].
func (l *leaving) Typed(p []byte) {
	if i := bytes.IndexByte(p, interruptKey); i >= 0 && !l.found {
		l.found, l.keys = true, len(p)-i
	}
}

// Prefixed implements [keyboard.Handler].
func (l *leaving) Prefixed() {}

// Commanded implements [keyboard.Handler].
func (l *leaving) Commanded(k rune, form, raw []byte) {
	if (k == 'd' || k == interruptKey) && !l.found {
		l.found, l.keys = true, len(form)+len(raw)
	}
}
