package vt

import "unicode/utf8"

// parser is the state of Feed. The first group lives between calls.
type parser struct {
	state    seqState
	hold     []byte                // the held-back beginning of a rune or sequence
	released int                   // bytes of hold that Flush has already given to Data
	tail     [utf8.UTFMax - 1]byte // the last bytes of Data

	// Valid during Feed only.
	sink  Sink
	in    []byte // the caller's chunk
	start int    // in[start:] has not been given to Data yet
	at    int    // events of the sequence being applied come after in[:at]

	repl []byte // what replaces a sequence in Data
	csi  csiSeq
}

// verdict is what becomes of a sequence in Data.
type verdict uint8

const (
	keep    verdict = iota // stays as it is
	drop                   // is removed
	replace                // becomes parser.repl
)

// canceled makes a viewer's terminal forget a sequence whose beginning it has
// been given by Flush and whose end it must not see.
var canceled = []byte{can}

// Feed applies a chunk of the program's output to the screen and tells s what it
// found; a nil s wants only the screen. p is read during the call and not kept.
func (t *Terminal) Feed(p []byte, s Sink) {
	if s == nil {
		s = discard{}
	}
	t.sink, t.in, t.start = s, p, 0
	for i := 0; i < len(p); {
		switch t.state {
		case inGround:
			i = t.ground(i)
		case inRune:
			i = t.resumeRune(i)
		default:
			i = t.resume(i)
		}
	}
	t.flushSpan(len(p))
	t.sink, t.in = nil, nil
}

// Pending reports whether Flush would release something: a partial rune, or
// a partial escape or control sequence, that Data has not been given.
//
// A partial string (OSC, DCS and the like) does not count. It shows nothing
// before its end, and its beginning may turn out to be a marker, a query or
// a clipboard, none of which a viewer may see.
func (t *Terminal) Pending() bool {
	return t.state != inGround && t.state < inString && t.released < len(t.hold)
}

// PendingRune reports whether what Flush would release is the beginning of a
// UTF-8 sequence. For AHP, which carries text, that would destroy the rune, so
// there is reason to wait longer.
func (t *Terminal) PendingRune() bool { return t.state == inRune && t.Pending() }

// Flush gives a held-back partial rune or sequence to s.Data, so that it is not
// held for ever (the caller's timer) or lost (the end of the output). The parser
// stays in the middle of it: what follows completes it on the screen, and if
// it then proves to be something viewers must not see, Data gets CAN, which makes
// their terminals forget what they were given.
func (t *Terminal) Flush(s Sink) {
	if !t.Pending() || s == nil {
		return
	}
	p := t.hold[t.released:]
	t.released = len(t.hold)
	t.sink = s
	t.data(p)
	t.sink = nil
}

// ground handles in[i:] outside any sequence, until the end or until a sequence
// is cut off, and returns how far it came.
func (t *Terminal) ground(i int) int {
	p := t.in
	for i < len(p) && t.state == inGround {
		switch b := p[i]; {
		case b >= 0x20 && b < del:
			i += t.printASCII(p[i:])
		case b == esc:
			i = t.escape(i)
		case b >= 0x80:
			i = t.decode(i)
		case b == '\n':
			i = t.skim(t.control(i))
		default:
			i = t.control(i)
		}
	}
	return i
}

// flushSpan gives Data what has not been given of in[:end].
func (t *Terminal) flushSpan(end int) {
	if t.start < end {
		t.data(t.in[t.start:end])
	}
	t.start = max(t.start, end)
}

// data gives p to Data.
func (t *Terminal) data(p []byte) {
	t.sink.Data(p)
	n := min(len(p), len(t.tail))
	copy(t.tail[:], t.tail[n:])
	copy(t.tail[len(t.tail)-n:], p[len(p)-n:])
}

// removed keeps what comes after something removed apart from malformed UTF-8 before
// it: together they could make a rune, even a control character, that was not there.
func (t *Terminal) removed() {
	for i := len(t.tail) - 1; i >= 0; i-- {
		if b := t.tail[i]; b < utf8.RuneSelf {
			return
		} else if utf8.RuneStart(b) {
			if !utf8.FullRune(t.tail[i:]) {
				t.data(canceled)
			}
			return
		}
	}
}

// event makes Data current before another method of the sink is called.
func (t *Terminal) event() Sink {
	t.flushSpan(t.at)
	return t.sink
}

// control applies the control character at in[i].
func (t *Terminal) control(i int) int {
	switch b := t.in[i]; b {
	case enq: // a query (answerback); xterm's default answer is empty
		t.cut(i, i+1)
	case bel:
		t.flushSpan(i + 1)
		t.sink.Bell()
	default:
		t.execute(b)
	}
	return i + 1
}

// escape handles the sequence that begins with ESC at in[i].
func (t *Terminal) escape(i int) int {
	p := t.in
	s := inEsc
	j := i + 1
	if j < len(p) && p[j] == '[' { // the common case, without step
		s = inCSI
		for j++; j < len(p) && p[j]-0x20 < 0x20; j++ {
		}
	}
	for ; j < len(p); j++ {
		next, o := step(s, p[j])
		switch o {
		case more:
			s = next
		case done:
			t.inline(i, j+1)
			return j + 1
		case cancel:
			return t.cut(i, j+1)
		case reparse:
			return t.cut(i, j)
		case reescape:
			return t.cut(i, j-1)
		case execute:
			t.holdBack(i, j, s)
			return j
		}
	}
	t.holdBack(i, j, s)
	return j
}

// cut removes in[i:j] from Data.
func (t *Terminal) cut(i, j int) int {
	t.flushSpan(i)
	t.removed()
	t.start = j
	return j
}

// inline applies the complete sequence in[i:j].
func (t *Terminal) inline(i, j int) {
	t.at = i
	switch t.dispatch(t.in[i:j]) {
	case keep:
	case drop:
		t.cut(i, j)
	case replace:
		t.cut(i, j)
		t.data(t.repl)
	}
}

// decode handles the UTF-8 sequence at in[i]. A malformed one is one U+FFFD per
// maximal subpart, as Unicode recommends (section 3.9), and stays in Data.
func (t *Terminal) decode(i int) int {
	p := t.in[i:]
	r, n := utf8.DecodeRune(p)
	if r == utf8.RuneError && n == 1 {
		n = subpart(p)
		if n == len(p) && !utf8.FullRune(p) {
			t.holdBack(i, i+n, inRune)
			return i + n
		}
	}
	if r < 0xa0 {
		t.flushSpan(i)
		t.start = i + n
		t.control8(r)
		return i + n
	}
	t.printRune(r)
	return i + n
}

// subpart returns the length of the longest beginning of p that is also the
// beginning of a well-formed rune, or 1.
func subpart(p []byte) int {
	n := 1
	for n < len(p) && n < utf8.UTFMax && !utf8.FullRune(p[:n]) {
		n++
		if utf8.FullRune(p[:n]) {
			return n - 1
		}
	}
	return n
}

// control8 handles a C1 control as its seven-bit form, ESC and a byte of @ to _;
// in[:start] has been dealt with.
func (t *Terminal) control8(r rune) {
	seq := [2]byte{esc, byte(r) - 0x40}
	t.state, _ = step(inEsc, seq[1])
	t.hold = t.hold[:0]
	if t.state.held() {
		t.hold = append(t.hold, seq[:]...)
	}
	if t.state != inGround {
		return
	}
	t.at = t.start
	switch t.dispatch(seq[:]) {
	case keep:
		t.data(seq[:])
	case drop:
		t.removed()
	case replace:
		t.data(t.repl)
	}
}
