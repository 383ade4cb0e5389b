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
	l.found = l.found || bytes.IndexByte(p, interruptKey) >= 0
}

// Prefixed implements [keyboard.Handler].
func (l *leaving) Prefixed() {}

// Commanded implements [keyboard.Handler].
func (l *leaving) Commanded(k rune, _, _ []byte) {
	l.found = l.found || k == 'd' || k == interruptKey
}
