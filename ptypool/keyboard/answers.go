package keyboard

import (
	"bytes"
	"strings"
	"time"
)

const (
	// maxHeldAnswer bounds what Answers holds back, in bytes. A longer one was not typed: it is
	// dropped up to its end.
	maxHeldAnswer = 1 << 10
	// maxHeldKeys is the same for input that does not look like an answer: more than a person types
	// after Alt-] without a pause.
	maxHeldKeys = 64
	// escapeTime is how long Escape is held back: too short to be noticed, and enough for the next
	// packet.
	escapeTime = 25 * time.Millisecond
	// beginTime is how long what may be a key is held back: Alt-] is the beginning of an answer,
	// too. A slow link takes less between two pieces of one.
	beginTime = 150 * time.Millisecond
	// restTime is how long an answer that nobody has asked for may take to its end, once its
	// beginning cannot have been typed.
	restTime = 10 * time.Second
	// restBytes is the least that counts as the rest of an answer whose first key was passed on.
	// Keys that are typed one by one are fewer.
	restBytes = 3
)

// Answers removes answers to queries from the input of a viewer's terminal, whenever they come:
// they are for the host, and never keys. These are
//
//   - the strings OSC, DCS, APC, PM and SOS, which end with ST or BEL;
//   - control sequences with a private marker (CSI ? or > or =, with parameters), such as those to
//     DA, DECRQM, DECXCPR and kitty's CSI ? u, and the reports CSI ... n, t, x, R and $y;
//   - reports of the focus (CSI I and O), unless the program has asked for them.
//
// CSI 1 ; 2 R to CSI 1 ; 16 R are passed on: they may be reports of the cursor's position, or F3
// with modifiers. Mouse reports are passed on as well, and bracketed pastes with all of their
// content.
//
// An answer may come in pieces, so its beginning is held back for as long as Wait says. Escape,
// alone or with the character that begins an answer, may be a key, so it is passed on soon. If the
// rest of an answer follows then, that is removed. What is the beginning of an answer that was
// asked for is held for as long as what follows continues it.
type Answers struct {
	// Found, if not nil, gets every complete answer. p is valid only during the call.
	Found func(p []byte)
	// Asked reports whether p is an answer that was asked for and has not come, or the beginning of
	// one, if only ESC; nil: none is.
	Asked func(p []byte) bool
	// Focused, if not nil, is told when a report of the focus comes, whether it is for the program
	// or not.
	Focused func(in bool)
	// Focus reports whether the program has asked for reports of the focus; nil: it has.
	Focus func() bool
	// Now is the clock. It must be set.
	Now func() time.Time

	held     []byte
	passed   int       // how much of held was passed on already: a key, or nothing
	stale    bool      // nothing has followed the key that was passed on for a while
	swallows bool      // in an answer that is too long to be held
	until    time.Time // when the rest of the answer that has begun must have come; zero: see Wait
	waits    bool      // for the rest of an answer that was asked for, whenever it comes
	paste    pasteScan
}

// Take returns the parts of p that are not answers. It does not retain p.
func (a *Answers) Take(p []byte) (typed []byte) {
	if !a.until.IsZero() && !a.Now().Before(a.until) {
		typed = a.Release()
	}
	if a.waits && a.passed < len(a.held) && len(p) > 0 && !a.goesOn(p[0]) {
		a.drop()
	}
	p = append(a.held, p...)
	skip, stale := a.passed, a.stale
	a.held, a.passed, a.stale = nil, 0, false
	for i := 0; i < len(p); {
		n, is := a.next(p[i:], skip, stale)
		switch {
		case is == answerCut:
			return append(typed, a.hold(p[i:], skip, stale)...)
		case is == answerWhole && a.Found != nil:
			a.Found(p[i : i+n])
		case is == answerNone:
			typed = append(typed, p[i+min(skip, n):i+n]...)
		}
		if !a.swallows {
			a.until, a.waits = time.Time{}, false
		}
		i += n
		skip = max(skip-n, 0)
	}
	if a.swallows && a.until.IsZero() {
		a.until = a.Now().Add(restTime)
	}
	return typed
}

// hold holds back p, which may be the beginning of an answer and of which skip bytes were passed
// on. It returns the part of it that is not held.
func (a *Answers) hold(p []byte, skip int, stale bool) (typed []byte) {
	if stale && len(p)-skip < restBytes {
		typed, skip = bytes.Clone(p[skip:]), len(p)
		if len(p) > keyBytes {
			return typed
		}
	}
	a.held, a.passed, a.stale = bytes.Clone(p), skip, stale
	if begun(p, skip) && a.until.IsZero() && !a.waits {
		a.until = a.Now().Add(restTime)
	}
	return typed
}

// asked reports whether what is held begins an answer that was asked for.
func (a *Answers) asked() bool {
	return len(a.held) > 0 && !a.swallows && a.Asked != nil && a.Asked(a.held)
}

// goesOn reports whether b continues the answer that was asked for.
func (a *Answers) goesOn(b byte) bool { return a.Asked(append(bytes.Clone(a.held), b)) }

// Held returns what is held and was not passed on. It must not be changed.
func (a *Answers) Held() []byte { return a.held[a.passed:] }

// Wait returns for how long Release must not be called unless something is read; 0: it need not be
// called at all.
func (a *Answers) Wait() time.Duration {
	switch {
	case a.waits:
		return 0
	case !a.until.IsZero():
		return max(a.until.Sub(a.Now()), 1)
	case len(a.held) == 0 && !a.swallows:
		return 0
	case a.stale:
		return restTime
	case len(a.held) == 1 && a.passed == 0 && !a.asked():
		return escapeTime
	}
	return beginTime
}

// Release returns held input that is not an answer, because nothing has followed. Wait says when to
// call it next.
func (a *Answers) Release() (typed []byte) {
	if !a.swallows && !certain(a.held, a.passed) {
		typed = a.held[a.passed:]
	}
	if len(a.held) <= keyBytes && !a.stale && !a.swallows { // its rest may still come
		a.stale = len(a.held) > 1 || a.passed == len(a.held)
		a.passed = len(a.held)
		return typed
	}
	if (len(typed) == 0 || len(typed) >= restBytes) && a.asked() {
		a.waits, a.until = true, time.Time{}
		return nil
	}
	a.drop()
	return typed
}

// drop forgets what is held.
func (a *Answers) drop() {
	a.held, a.passed, a.stale, a.swallows, a.waits = nil, 0, false, false, false
	a.until = time.Time{}
}

// keyBytes is how long the keys are that are the beginning of an answer, too: Escape and Alt-].
const keyBytes = 2

// begun reports whether p is more than a key that begins an answer, of which skip bytes were passed
// on.
func begun(p []byte, skip int) bool {
	return certain(p, skip) ||
		len(p) > keyBytes && p[1] == '[' && (skip == 0 || len(p)-skip >= restBytes)
}

// certain reports whether p is the beginning of an answer and nothing that is typed, although skip
// bytes of it were passed on as a key: after Escape, an editor may be given P and 0.
func certain(p []byte, skip int) bool {
	switch {
	case skip == 0 || !answers(p):
		return answers(p)
	case p[1] == ']':
		return numbered(p)
	case p[1] == 'P':
		return len(p) > 3 && bytes.IndexByte([]byte("|$+"), p[3]) >= 0
	case p[1] == '_':
		return len(p) > 4 && p[4] == '='
	}
	return len(p) > 3
}

// numbered reports whether a string that begins as the answers do is no OSC, or an OSC with its
// whole number.
func numbered(p []byte) bool { return p[1] != ']' || bytes.IndexByte(p, ';') > 0 }

// What next finds.
type answerKind int

const (
	answerNone  answerKind = iota // something else
	answerWhole                   // an answer
	answerPart                    // a part of one that is too long to be held
	answerCut                     // what may be the beginning of one
)

// next returns the length and the kind of p's first item. The first skip bytes of p were passed on
// as a key, so that the rest counts as keys unless it can only be an answer. stale: that was a
// while ago.
func (a *Answers) next(p []byte, skip int, stale bool) (n int, is answerKind) {
	switch {
	case a.swallows:
		return a.swallow(p, 0)
	case a.paste.inside:
		return a.paste.end(p), answerNone
	case p[0] != 0x1b:
		if n = bytes.IndexByte(p, 0x1b); n < 0 {
			n = len(p)
		}
		return n, answerNone
	case len(p) == 1:
		return 1, answerCut
	case p[1] == '[':
		return a.control(p, skip)
	case bytes.IndexByte([]byte("]P_^X"), p[1]) < 0:
		return 1, answerNone
	}
	return a.str(p, skip)
}

// str is next for strings.
func (a *Answers) str(p []byte, skip int) (n int, is answerKind) {
	known, follows := answers(p), skip > 0
	end, cut := stringEnd(p[2:], known)
	switch {
	case end > 0:
		return 2 + end, answerWhole
	case !cut && certain(p, skip) && numbered(p): // it breaks off
		return 2 + bytes.IndexFunc(p[2:], func(r rune) bool { return r < ' ' }), answerPart
	case !cut, !known && (len(p) > maxHeldKeys || follows && len(p) > 2):
		return 1, answerNone
	case follows && (p[1] == '^' || p[1] == 'X'): // no terminal answers with these
		return 1, answerNone
	case len(p) > maxHeldAnswer:
		a.swallows = true
		return a.swallow(p, 2)
	}
	return len(p), answerCut
}

// stringEnd returns the length of a string with its end, ST or, if bell, BEL; 0 if it has none. cut
// says that it may come yet; other control characters are not in a string.
func stringEnd(p []byte, bell bool) (n int, cut bool) {
	for i, c := range p {
		switch {
		case c == 0x07 && bell:
			return i + 1, false
		case c == 0x1b && i+1 == len(p):
			return 0, true
		case c == 0x1b && p[i+1] == '\\':
			return i + 2, false
		case c < 0x20:
			return 0, false
		}
	}
	return 0, true
}

// swallow is next in an answer that is too long to be held, of which p[from:] has not been looked
// at.
func (a *Answers) swallow(p []byte, from int) (n int, is answerKind) {
	end, cut := stringEnd(p[from:], true)
	switch {
	case end > 0:
		a.swallows = false
		return from + end, answerPart
	case !cut: // it breaks off
		a.swallows = false
		return from + bytes.IndexFunc(p[from:], func(r rune) bool { return r < ' ' }), answerPart
	case p[len(p)-1] != 0x1b:
		return len(p), answerPart
	case len(p) == 1:
		return 1, answerCut
	}
	return len(p) - 1, answerPart
}

// answers reports whether p begins like an answer of a terminal, and unlike typed input.
func answers(p []byte) bool {
	if len(p) < 3 || p[0] != 0x1b {
		return false
	}
	switch p[1] {
	case ']': // OSC 10 ; rgb:..., l title, L icon
		return p[2] >= '0' && p[2] <= '9' || p[2] == 'l' || p[2] == 'L'
	case 'P': // DECRPSS, XTGETTCAP, XTVERSION, DA3
		return bytes.IndexByte([]byte("01>!"), p[2]) >= 0
	case '_': // kitty's graphics
		return p[2] == 'G'
	case '[':
		return bytes.IndexByte([]byte("?>="), p[2]) >= 0
	}
	return false
}

// control is next for control sequences, of which skip bytes were passed on.
func (a *Answers) control(p []byte, skip int) (n int, is answerKind) {
	if len(p) > 2 && p[2] == 'M' { // X10 mouse: three bytes follow, which may be anything
		return min(6, len(p)), answerNone
	}
	i := 2
	for i < len(p) && p[i] >= 0x20 && p[i] < 0x40 {
		i++
	}
	switch {
	case i == len(p) && answers(p) && i > maxHeldAnswer:
		return i, answerPart
	case i == len(p) && !answers(p) && i > maxSequence:
		return i, answerNone
	case i == len(p):
		return i, answerCut
	case p[i] < 0x20 || p[i] == 0x7f:
		return 1, answerNone
	case string(p[:i+1]) == PasteBegin:
		a.paste.begin()
		return i + 1, answerNone
	case skip > 0 && i+1-skip < restBytes-1: // typed
		return i + 1, answerNone
	case isAnswer(p[2:i], p[i]):
		return i + 1, answerWhole
	case skip == 0 && i == 2 && (p[i] == 'I' || p[i] == 'O'):
		if a.Focused != nil {
			a.Focused(p[i] == 'I')
		}
		if a.Focus != nil && !a.Focus() {
			return i + 1, answerPart
		}
	}
	return i + 1, answerNone
}

// isAnswer reports whether a control sequence answers a query.
func isAnswer(params []byte, final byte) bool {
	if len(params) == 0 {
		return false
	}
	switch final {
	case 'n', 't', 'x', 'c':
		return true
	case 'y':
		return params[len(params)-1] == '$'
	case 'R':
		return !isF3(params)
	}
	return bytes.IndexByte([]byte("?>="), params[0]) >= 0
}

// isF3 reports whether these parameters, with R, are F3 with modifiers (xterm ctlseqs, "PC-Style
// Function Keys"; kitty's keyboard protocol adds the kind of the event behind a colon), and not a
// report of the cursor's position.
func isF3(params []byte) bool {
	row, mods, _ := strings.Cut(string(params), ";")
	mods, _, kind := strings.Cut(mods, ":")
	n := number(mods)
	return row == "1" && (n > 1 && n <= 16 || kind)
}

// pasteScan looks for the bracket that ends a paste, which may come in pieces.
type pasteScan struct {
	inside bool
	tail   []byte // the last bytes of it, fewer than the bracket has
}

func (s *pasteScan) begin() { s.inside, s.tail = true, nil }

// end returns how much of p belongs to the paste.
func (s *pasteScan) end(p []byte) int {
	seen := append(s.tail, p...)
	if at := bytes.Index(seen, []byte(pasteEnd)); at >= 0 {
		n := at + len(pasteEnd) - len(s.tail)
		s.inside, s.tail = false, nil
		return n
	}
	s.tail = bytes.Clone(seen[max(0, len(seen)-len(pasteEnd)+1):])
	return len(p)
}
