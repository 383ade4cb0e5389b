package viewer

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"termhost/ptypool/vt"
)

// Programs set the flags of kitty's keyboard protocol in all viewers' terminals, by what they
// print. One that has not said that it knows the protocol gets nothing of that: old terminals
// mistake it for other functions. Once it has said so, the screen is drawn anew, with the flags.

// askKeys asks a terminal for its flags (kitty keyboard protocol, "Detection of support").
// Terminals without it ignore that, and answer DA1 alone.
const askKeys = "\x1b[?u"

// knownKeys are the beginnings of the names (TERM) of terminals that have the protocol.
var knownKeys = []string{"xterm-kitty", "xterm-ghostty", "ghostty", "foot", "alacritty"}

// Keys returns what is known of a peer's terminal before it has answered. asks: it is asked.
func Keys(io IO, asks bool) vt.KittyKeys {
	term, interactive := io.Terminal()
	switch {
	case !interactive:
		return vt.KeysUnsaid
	case io.Draws() && slices.ContainsFunc(knownKeys, func(name string) bool {
		return strings.HasPrefix(term, name)
	}):
		return vt.KeysKnown
	case asks && mayAsk(io):
		return vt.KeysAsked
	}
	return vt.KeysLacking
}

// keys is Keys with what the viewer's terminal has answered. The input loop's lock is held.
func (w *viewer) keys() vt.KittyKeys {
	switch w.answers.keys {
	case able:
		return vt.KeysKnown
	case unable:
		return vt.KeysLacking
	}
	return Keys(w.s, w.inquiry.asks)
}

// keyFlags writes to the viewer's terminal, and withholds kitty's keyboard protocol.
type keyFlags struct {
	out      io.Writer
	passes   bool // the terminal has the protocol, or nothing is drawn on it
	withheld bool // something was left out
}

// Write never changes p. A sequence is in one call as a whole, or was begun by a program that has
// stopped in its middle.
func (k *keyFlags) Write(p []byte) (int, error) {
	if k.passes {
		return k.out.Write(p)
	}
	left := withoutKeys(p)
	if len(left) < len(p) {
		k.withheld = true
	}
	if _, err := k.out.Write(left); err != nil {
		return 0, err
	}
	return len(p), nil
}

// withoutKeys returns p without what pushes, pops and sets the flags: CSI > u, CSI < u and CSI = u.
// If there is none it is p itself.
func withoutKeys(p []byte) []byte {
	var kept []byte
	from := 0
	for i := 0; ; {
		next := bytes.Index(p[i:], []byte("\x1b["))
		if next < 0 {
			break
		}
		i += next + 2
		if i == len(p) || p[i] < '<' || p[i] > '>' {
			continue
		}
		end := i + 1
		for end < len(p) && isNumberPart(p[end]) {
			end++
		}
		if end < len(p) && p[end] == 'u' {
			kept = append(kept, p[from:i-2]...)
			from = end + 1
		}
		i = end
	}
	if from == 0 {
		return p
	}
	return append(kept, p[from:]...)
}

// passKeys has the terminal get the flags from now on, if it has said that it knows them. What it
// has not got is drawn.
func (w *viewer) passKeys() {
	k := &w.flags
	k.passes = true
	if k.withheld {
		k.withheld, w.lost = false, true
	}
}
