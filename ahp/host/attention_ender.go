package host

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"termhost/ptypool/keyboard"
)

// ender knows the person that has just typed a program's end, and so need not be told of it. It
// goes by the last key of anybody, and keeps of a line only the beginning of one of endWords. The
// Term's lock guards it.
type ender struct {
	person string    // as of [authz.Person]; "": an agent, or the last key ends nothing
	at     time.Time // when the key was typed, or the end came
	text   string    // the longest end of the line so far with which one of endWords begins
}

// endsWithin is how long after such a key the end of a program counts as its effect. A server may
// take some seconds to end.
const endsWithin = 10 * time.Second

// endWords are the lines that end shells and other programs with a command line.
var endWords = []string{"exit", "logout", "quit", "bye", "q", "exit()", "quit()", ":q", ":q!",
	":qa", ":qa!", ":wq", ":wqa", ":x", `\q`, ".exit", ".quit"}

// endKeys are keys that end a full-screen program at once: less, top and htop; vi.
var endKeys = []string{"q", "ZZ", "ZQ"}

// typed records that a person typed p, keys; "": an agent did.
func (e *ender) typed(person string, p []byte, now time.Time) {
	ends := false
	for len(p) > 0 {
		k, n := keyboard.Read(p)
		if n == 0 {
			break
		}
		p = p[n:]
		ends = e.reads(k)
	}
	if e.person = ""; ends {
		e.person, e.at = person, now
	}
}

// knows records that a person knows of an end that comes now.
func (e *ender) knows(person string, now time.Time) { e.person, e.at = person, now }

// reads reports whether a key ends a program, perhaps with those before it.
func (e *ender) reads(k keyboard.Key) (ends bool) {
	switch {
	case k.Code == keyboard.Enter, k == keyboard.Key{Code: 'j', Mods: keyboard.Ctrl}:
		ends = slices.Contains(endWords, e.text)
		e.text = ""
	case k.Types():
		e.text = longestBeginning(e.text + string(k.Code))
		ends = slices.Contains(endKeys, e.text)
	default:
		e.text = ""
		ends = k.Mods == keyboard.Ctrl && strings.ContainsRune(`cdx\`, k.Code) // x: nano
	}
	return ends
}

// longestBeginning returns the longest end of text with which one of endWords or endKeys begins.
func longestBeginning(text string) string {
	begins := func(word string) bool { return strings.HasPrefix(word, text) }
	for text != "" && !slices.ContainsFunc(endWords, begins) &&
		!slices.ContainsFunc(endKeys, begins) {
		_, n := utf8.DecodeRuneInString(text)
		text = text[n:]
	}
	return text
}

// by returns the person that ends the program that ends now; "": nobody, or it is not known.
func (e *ender) by(now time.Time) string {
	if now.Sub(e.at) > endsWithin {
		return ""
	}
	return e.person
}
