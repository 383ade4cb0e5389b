package vt

import "unicode/utf8"

// Feed applies a chunk of the program's output to the screen and tells s what it found; a nil s
// wants only the screen. p is read during the call and not kept.
func (t *Terminal) Feed(p []byte, s Sink) {
	if s == nil {
		s = Discard{}
	}
	t.output.sink, t.output.in, t.output.start = s, p, 0
	for i := 0; i < len(p); {
		switch t.parser.state {
		case inGround:
			i = t.ground(i)
		case inRune:
			i = t.resumeRune(i)
		default:
			i = t.resume(i)
		}
	}
	t.output.flush(len(p))
	t.output.sink, t.output.in = nil, nil
}

// InSequence reports whether the output so far ends in the middle of a rune, an escape sequence or
// a string (OSC, DCS and the like), whether or not a part of it has been released. What anybody but
// the program fed or wrote there would become a part of it, or end it so that its rest is taken for
// text.
func (t *Terminal) InSequence() bool { return t.parser.state != inGround }

// Pending reports whether Flush would release something: a partial rune, or a partial escape or
// control sequence, that Data has not been given.
//
// A partial string (OSC, DCS and the like) does not count. It shows nothing before its end, and its
// beginning may turn out to be a shell-integration mark, a query or a clipboard, none of which a
// viewer may see.
func (t *Terminal) Pending() bool { return t.parser.pending() }

// PendingRune reports whether what Flush would release is the beginning of a UTF-8 sequence. For
// AHP, which carries text, that would destroy the rune, so there is reason to wait longer.
func (t *Terminal) PendingRune() bool { return t.parser.state == inRune && t.Pending() }

// Flush gives a held-back partial rune or sequence to s.Data, so that it is not held for ever (the
// caller's timer) or lost (the end of the output). The parser stays in the middle of it: what
// follows completes it on the screen, and if it then proves to be something that viewers must not
// see, Data gets CAN, which makes their terminals forget what they were given.
func (t *Terminal) Flush(s Sink) {
	if !t.Pending() || s == nil {
		return
	}
	p := t.parser.unreleased()
	t.parser.released = len(t.parser.held)
	t.output.sink = s
	t.output.data(p)
	t.output.sink = nil
}

// ground handles in[i:] outside any sequence, until the end or until a sequence is cut off, and
// returns how far it came.
func (t *Terminal) ground(i int) int {
	p := t.output.in
	for i < len(p) && t.parser.state == inGround {
		switch b := p[i]; {
		case b >= 0x20 && b < del:
			i += t.screen.printASCII(p[i:])
		case b == esc:
			i = t.escape(i)
		case b >= 0x80:
			i = t.decode(i)
		case b == '\n':
			t.control(i)
			i = t.flood.scroll(&t.screen, p, i+1)
		default:
			t.control(i)
			i++
		}
	}
	return i
}

// control applies the control character at in[i].
func (t *Terminal) control(i int) {
	switch b := t.output.in[i]; b {
	case enq: // a query (answerback); xterm's default answer is empty
		t.output.cut(i, i+1)
	case bel:
		t.output.flush(i + 1)
		t.output.sink.Bell()
	default:
		t.screen.execute(b)
	}
}

// escape handles the sequence that begins with ESC at in[i].
func (t *Terminal) escape(i int) int {
	o := &t.output
	n, f := t.parser.scan(o.in[i:])
	end := i + n
	switch f {
	case complete:
		o.at = i
		switch t.apply(o.in[i:end]) {
		case keep:
		case drop:
			o.cut(i, end)
		case replace:
			o.cut(i, end)
			o.data(o.repl)
		}
	case unfinished:
		o.flush(i)
		o.start = end
		if !t.parser.collecting() {
			o.removed()
		}
	default:
		o.cut(i, end)
	}
	return end
}

// resume continues the sequence that the parser keeps with in[i:].
func (t *Terminal) resume(i int) int {
	o := &t.output
	n, f := t.parser.resume(o.in[i:])
	end := i + n
	o.start = end
	switch f {
	case complete:
		t.complete(end)
	case dropped, retracted:
		o.retracted(f == retracted)
	case interrupted:
		t.control(end)
		end++
		o.flush(end)
	}
	return end
}

// complete applies the sequence that the parser keeps and that ends before in[end].
func (t *Terminal) complete(end int) {
	o, ps := &t.output, &t.parser
	o.at = end
	v := t.apply(ps.held)
	switch v {
	case keep:
		o.data(ps.unreleased())
	case drop:
		o.retracted(ps.released > 0)
	case replace:
		o.retracted(ps.released > 0)
		o.data(o.repl)
	}
	ps.clear()
}

// decode handles the UTF-8 sequence at in[i]. A malformed one is one U+FFFD per maximal subpart, as
// Unicode recommends (section 3.9), and stays in Data.
func (t *Terminal) decode(i int) int {
	p := t.output.in[i:]
	r, n := utf8.DecodeRune(p)
	if r == utf8.RuneError && n == 1 {
		n = subpart(p)
		if n == len(p) && !utf8.FullRune(p) {
			t.parser.keep(inRune, p)
			t.output.flush(i)
			t.output.start = i + n
			return i + n
		}
	}
	if r < 0xa0 {
		t.output.flush(i)
		t.output.start = i + n
		t.control8(r)
		return i + n
	}
	t.screen.printRune(r)
	return i + n
}

// subpart returns the length of the longest beginning of p that is also the beginning of a
// well-formed rune, or 1.
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

// control8 handles a C1 control as its seven-bit form, ESC and a byte of @ to _; in[:start] has
// been dealt with.
func (t *Terminal) control8(r rune) {
	seq := [2]byte{esc, byte(r) - 0x40}
	if t.parser.begin(seq[:]) {
		return
	}
	o := &t.output
	o.at = o.start
	switch t.apply(seq[:]) {
	case keep:
		o.data(seq[:])
	case drop:
		o.removed()
	case replace:
		o.data(o.repl)
	}
}

// resumeRune continues the partial rune that the parser keeps with in[i:].
func (t *Terminal) resumeRune(i int) int {
	o, ps := &t.output, &t.parser
	r, n, ok := ps.resumeRune(o.in[i:])
	i += n
	o.start = i
	switch {
	case !ok:
	case r < 0xa0:
		ps.clear()
		t.control8(r)
	default:
		if len(ps.unreleased()) > 0 {
			o.data(ps.unreleased())
		}
		ps.clear()
		t.screen.printRune(r)
	}
	return i
}
