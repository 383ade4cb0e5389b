package predict

import (
	"time"
	"unicode/utf8"

	"termhost/ptypool/keyboard"
	"termhost/ptypool/vt/width"
)

const (
	// maxTyped is how many bytes come together at most from a person who types, also if this
	// process was busy meanwhile; more were pasted.
	maxTyped = 16
	// maxFlight bounds the keys of which the host has not said yet that they were taken. Nobody
	// types that many within the time for which predictions are shown.
	maxFlight = 256
)

// kind is what a key does, as far as that is predicted.
type kind uint8

const (
	other kind = iota // it may do anything
	quiet             // it is no key, but what a terminal sends by itself
	put               // it types its character
	erase             // it removes the character before the cursor
)

// key is something that was typed and is on the way.
type key struct {
	kind  kind
	r     rune      // what a put types
	end   uint64    // how many bytes were typed with it
	at    time.Time // when
	acked time.Time // when the host had said that the program was given it; zero: it has not

	placed  bool // it has a column, in the row of the run
	x       int  // its character's
	undone  bool // a later erase removes it again
	arrived bool // the screen shows it
}

// before returns the column of the cursor before a placed key, and after that behind it.
func (k *key) before() int {
	if k.kind == erase {
		return k.x + 1
	}
	return k.x
}

func (k *key) after() int {
	if k.kind == erase {
		return k.x
	}
	return k.x + 1
}

// credits reports whether the key's echo tells that the program shows what is typed. A space may
// have been there before, and a star stands for any key where a program hides a password so.
func (k *key) credits() bool {
	return k.kind == put && k.arrived && !k.undone && k.r != ' ' && k.r != '*'
}

// keysOf returns what was typed as keys, after so many bytes.
func (p *Predictor) keysOf(typed []byte, before uint64, now time.Time) (keys []key) {
	all := key{kind: other, end: before + uint64(len(typed)), at: now}
	pasting := p.pasting()
	p.paste.Feed(typed, ignored{})
	has, rest := keyboard.HasKeys(typed)
	switch {
	case pasting || p.pasting() || len(typed) > maxTyped:
		return []key{all}
	case !has && len(rest) == 0:
		all.kind = quiet
		return []key{all}
	case typed[0] == 0x1b:
		return []key{all}
	}
	for i := 0; i < len(typed); {
		r, n := utf8.DecodeRune(typed[i:])
		i += n
		k := key{kind: other, r: r, end: before + uint64(i), at: now}
		switch {
		case r == 0x7f || r == '\b':
			k.kind = erase
		case predictable(r):
			k.kind = put
		}
		keys = append(keys, k)
	}
	return keys
}

// predictable reports whether a character takes one cell in every terminal: of ASCII, and of the
// Latin, Greek and Cyrillic scripts.
func predictable(r rune) bool {
	const firstLetter, lastLetter = 0xc0, 0x52f
	return r >= ' ' && r <= '~' ||
		r >= firstLetter && r <= lastLetter && width.Of(r) == width.Narrow
}

// pasting reports whether the last input has begun or continued a bracketed paste.
func (p *Predictor) pasting() bool { return p.paste.Pasting() }

// ignored is a handler of keys for a filter that only tells whether they are pasted.
type ignored struct{}

// Typed, Prefixed and Commanded implement [keyboard.Handler].
func (ignored) Typed([]byte)                   {}
func (ignored) Prefixed()                      {}
func (ignored) Commanded(rune, []byte, []byte) {}
