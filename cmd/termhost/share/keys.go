package share

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"termhost/ahp/host"
)

const (
	// sharePrefix begins the keys that are for share: Ctrl-\, as while attached.
	sharePrefix = 0x1c
	// shareHelpAfter is how long the prefix alone waits before it shows its keys.
	shareHelpAfter = 500 * time.Millisecond
	// maxSequence bounds what a terminal sends for one key, in bytes.
	maxSequence = 64

	// Between them nothing is a key (xterm ctlseqs, "Bracketed Paste Mode").
	pasteStart = "\x1b[200~"
	pasteStop  = "\x1b[201~"
)

var (
	// wholeCSI and cutCSI match a control sequence and the beginning of one. Alt-[
	// alone, which could be the shortest, must not wait for more.
	wholeCSI = regexp.MustCompile(`^\x1b\[[0-?]*[ -/]*[@-~]`)
	cutCSI   = regexp.MustCompile(`^\x1b\[[0-?]+[ -/]*$`)
	// keyCSI matches an ordinary key that a terminal sends as a sequence, with its
	// modifiers and whether it is let go: CSI code;modifiers:event u (kitty keyboard
	// protocol, "Disambiguate escape codes") or CSI 27;modifiers;code ~ (xterm's
	// modifyOtherKeys).
	keyCSI = regexp.MustCompile(`^\x1b\[(?:(\d+)[:\d]*(?:;(\d*)(?::(\d))?)?(?:;[:\d]*)?u|27;(\d+);(\d+)~)$`)
)

// keyboard takes the keys that are for share out of what the user types. It is
// used by one goroutine.
type keyboard struct {
	typed   func(p []byte)      // to the program; p is not kept
	command func(key rune) bool // the key after the prefix; false: it is not one of ours
	help    func()

	pending []byte      // the prefix as it was typed; nil: it was not
	paste   bool        // inside brackets
	held    []byte      // the beginning of a sequence that may be one of ours
	timer   *time.Timer // until the help
}

// take handles what was read. p is not kept.
func (k *keyboard) take(p []byte) {
	p = append(k.held, p...)
	k.held = nil
	for len(p) > 0 {
		n := k.next(p)
		if n == 0 {
			k.held = bytes.Clone(p)
			return
		}
		p = p[n:]
	}
}

// next handles the beginning of p and returns its length; 0: more is needed.
func (k *keyboard) next(p []byte) int {
	if k.paste {
		return k.pasted(p)
	}
	if k.pending == nil {
		switch n := bytes.IndexAny(p, "\x1c\x1b"); {
		case n < 0:
			n = len(p)
			fallthrough
		case n > 0:
			k.typed(p[:n])
			return n
		}
	}
	n := keyLength(p)
	if n == 0 {
		return 0
	}
	key, released := decode(p[:n])
	switch {
	case k.pending != nil:
		k.commanded(p[:n], key, released)
	case key == sharePrefix && !released:
		k.pending = bytes.Clone(p[:n])
		k.timer = time.AfterFunc(shareHelpAfter, k.help)
	case key == sharePrefix: // what was pressed was not typed either
	default:
		k.typed(p[:n])
		k.paste = string(p[:n]) == pasteStart
	}
	return n
}

// pasted passes on what is pasted.
func (k *keyboard) pasted(p []byte) int {
	if n := bytes.Index(p, []byte(pasteStop)); n >= 0 {
		k.paste = false
		n += len(pasteStop)
		k.typed(p[:n])
		return n
	}
	n := len(p)
	for cut := min(len(pasteStop)-1, len(p)); cut > 0; cut-- {
		if strings.HasPrefix(pasteStop, string(p[len(p)-cut:])) {
			n -= cut
			break
		}
	}
	if n > 0 {
		k.typed(p[:n])
	}
	return n
}

// commanded handles what follows the prefix. What a terminal sends by itself, such
// as the mouse, is passed on, and the key is awaited further.
func (k *keyboard) commanded(raw []byte, key rune, released bool) {
	if report, _ := host.IsReport(raw); report || released {
		if !released {
			k.typed(raw)
		}
		return
	}
	prefix := k.pending
	k.pending = nil
	k.timer.Stop()
	switch {
	case key == sharePrefix:
		k.typed(raw)
	case key == 0 || !k.command(key):
		k.typed(prefix)
		k.typed(raw)
		k.paste = string(raw) == pasteStart
	}
}

// keyLength returns the length of the key that p begins with; 0: it is cut.
func keyLength(p []byte) int {
	switch {
	case p[0] != 0x1b:
		if !utf8.FullRune(p) {
			return 0
		}
		_, n := utf8.DecodeRune(p)
		return n
	case cutCSI.Match(p) && len(p) < maxSequence:
		return 0
	case wholeCSI.Match(p):
		return len(wholeCSI.Find(p))
	}
	return min(len(p), 2)
}

// decode returns the key that raw is, sharePrefix for that in any form and 0 for one
// without a letter, and whether it is let go.
func decode(raw []byte) (key rune, released bool) {
	if raw[0] != 0x1b {
		r, _ := utf8.DecodeRune(raw)
		return r, false
	}
	m := keyCSI.FindSubmatch(raw)
	if m == nil {
		return 0, false
	}
	code, modifiers := string(m[1])+string(m[5]), string(m[2])+string(m[4])
	n, _ := strconv.Atoi(code) // too large for one: no key of ours
	bits, _ := strconv.Atoi(modifiers)
	const (
		shift = 1
		ctrl  = 4
		locks = 0xc0 // caps lock, num lock
	)
	switch bits = max(bits-1, 0) &^ (shift | locks); {
	case bits == ctrl && n == '\\':
		key = sharePrefix
	case bits == 0:
		key = rune(n)
	}
	return key, string(m[3]) == "3"
}
