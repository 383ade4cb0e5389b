package main

import (
	"bytes"
	"time"
)

const (
	// sharePrefix begins the keys that are for share: Ctrl-\, as while attached.
	sharePrefix = 0x1c
	// sharePrefixKitty is the same key in the kitty keyboard protocol.
	sharePrefixKitty = "\x1b[92;5u"
	// shareHelpAfter is how long the prefix alone waits before it shows its keys.
	shareHelpAfter = 500 * time.Millisecond
)

// keyboard takes the keys that are for share out of what the user types. It is
// used by one goroutine.
type keyboard struct {
	typed   func(p []byte) // to the program; p is not kept
	toggle  func()         // pause, or go on
	help    func()
	pending []byte      // the prefix as it was typed; nil: it was not
	timer   *time.Timer // until the help
}

// take handles what was read.
func (k *keyboard) take(p []byte) {
	for len(p) > 0 {
		if k.pending != nil {
			p = k.command(p)
			continue
		}
		i, n := bytes.IndexByte(p, sharePrefix), 1
		if j := bytes.Index(p, []byte(sharePrefixKitty)); j >= 0 && (i < 0 || j < i) {
			i, n = j, len(sharePrefixKitty)
		}
		if i < 0 {
			k.typed(p)
			return
		}
		if i > 0 {
			k.typed(p[:i])
		}
		k.pending = bytes.Clone(p[i : i+n])
		k.timer = time.AfterFunc(shareHelpAfter, k.help)
		p = p[i+n:]
	}
}

// command handles the key after the prefix and returns what follows it.
func (k *keyboard) command(p []byte) (rest []byte) {
	prefix := k.pending
	k.pending = nil
	k.timer.Stop()
	switch {
	case p[0] == 'p':
		k.toggle()
		return p[1:]
	case p[0] == sharePrefix:
		k.typed(p[:1])
		return p[1:]
	case bytes.HasPrefix(p, []byte(sharePrefixKitty)):
		k.typed(p[:len(sharePrefixKitty)])
		return p[len(sharePrefixKitty):]
	}
	k.typed(prefix)
	return p
}
