package vt

import "unicode/utf8"

// Feed applies a chunk of the program's output to the screen and reports what it found to sink,
// unless that is nil. p is not retained.
func (s *Screen) Feed(p []byte, sink Sink) {
	if sink == nil {
		sink = Discard{}
	}
	s.output.sink, s.output.in, s.output.start = sink, p, 0
	s.frame.last = unknown
	fresh := false
	if s.zmodem.on {
		s.findZmodem(0)
	}
	for i := 0; i < len(p); {
		fresh = fresh || s.parser.state < inString
		switch s.parser.state {
		case inGround:
			i = s.ground(i)
		case inRune:
			i = s.resumeRune(i)
		default:
			i = s.resume(i)
		}
	}
	s.noteString(fresh)
	s.output.flush(len(p))
	s.output.sink, s.output.in = nil, nil
}

// InSequence reports whether the output so far ends in the middle of a rune, an escape sequence or
// a string (OSC, DCS and the like), even if a part of it has been released. Other output that was
// fed or written there would become a part of the sequence, or would end it, so that its rest would
// be taken for text.
func (s *Screen) InSequence() bool { return s.parser.state != inGround }

// Pending reports whether Flush would release something: a partial rune, or a partial escape or
// control sequence, that Data has not got yet.
//
// A partial string (OSC, DCS and the like) does not count. It shows nothing before its end, and may
// turn out to be a shell-integration mark, a query or a clipboard, which viewers must not see.
func (s *Screen) Pending() bool { return s.parser.pending() }

// PendingRune reports whether Flush would release the beginning of a UTF-8 sequence. AHP carries
// text, so releasing it would destroy the rune, and callers should wait longer.
func (s *Screen) PendingRune() bool { return s.parser.state == inRune && s.Pending() }

// Flush passes a held-back partial rune or sequence to sink.Data. Callers do that on a timer and at
// the end of the output. The parser stays in the middle of the sequence: later output completes it
// on the screen, and if viewers must not see the complete sequence, Data gets CAN, which cancels it
// in their terminals.
func (s *Screen) Flush(sink Sink) {
	if !s.Pending() || sink == nil {
		return
	}
	p := s.parser.unreleased()
	s.parser.released = len(s.parser.held)
	s.output.sink = sink
	s.output.data(p)
	s.output.sink = nil
}

// ground handles in[i:] outside any sequence, up to the end or to a sequence that the chunk cuts,
// and returns where it stopped.
func (s *Screen) ground(i int) int {
	p := s.output.in
	for i < len(p) && s.parser.state == inGround {
		switch b := p[i]; {
		case b >= 0x20 && b < del:
			i += s.model.printASCII(p[i:])
		case b == esc:
			i = s.escape(i)
		case b >= 0x80:
			i = s.decode(i)
		case b == '\n':
			s.control(i)
			i = s.flood.scroll(&s.model, p, i+1)
		default:
			s.control(i)
			i++
		}
	}
	return i
}

// control applies the control character at in[i].
func (s *Screen) control(i int) {
	switch b := s.output.in[i]; b {
	case enq: // a query (answerback); xterm's default answer is empty
		s.output.cut(i, i+1)
	case bel:
		s.output.flush(i + 1)
		s.output.sink.Bell()
	case can: // it ends nothing here
		s.output.cut(i, i+1)
		s.zmodem.begin()
		s.findZmodem(i + 1)
	default:
		s.model.execute(b)
	}
}

// findZmodem looks for the rest of a header of Zmodem at in[i].
func (s *Screen) findZmodem(i int) {
	if s.zmodem.feed(s.output.in[i:]) {
		s.output.flush(i)
		s.output.sink.Zmodem()
	}
}

// escape handles the sequence that begins with ESC at in[i].
func (s *Screen) escape(i int) int {
	o := &s.output
	n, f := s.parser.scan(o.in[i:])
	end := i + n
	switch f {
	case complete:
		o.at = i
		switch s.apply(o.in[i:end]) {
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
		if !s.parser.collecting() {
			o.removed()
		}
		s.showLarge(end)
	default:
		o.cut(i, end)
	}
	return end
}

// resume continues the sequence that the parser holds with in[i:].
func (s *Screen) resume(i int) int {
	o := &s.output
	n, f := s.parser.resume(o.in[i:])
	end := i + n
	o.start = end
	switch f {
	case complete:
		s.complete(end)
	case dropped, retracted:
		o.retracted(f == retracted)
		s.showLarge(end)
	case interrupted:
		s.control(end)
		end++
		o.flush(end)
	}
	return end
}

// complete applies the sequence that the parser holds and that ends before in[end].
func (s *Screen) complete(end int) {
	o, ps := &s.output, &s.parser
	o.at = end
	v := s.apply(ps.held)
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
func (s *Screen) decode(i int) int {
	p := s.output.in[i:]
	r, n := utf8.DecodeRune(p)
	if r == utf8.RuneError && n == 1 {
		n = subpart(p)
		if n == len(p) && !utf8.FullRune(p) {
			s.parser.keep(inRune, p)
			s.output.flush(i)
			s.output.start = i + n
			return i + n
		}
	}
	if r < 0xa0 {
		s.output.flush(i)
		s.output.start = i + n
		s.control8(r)
		return i + n
	}
	s.model.printRune(r)
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
// been handled.
func (s *Screen) control8(r rune) {
	seq := [2]byte{esc, byte(r) - 0x40}
	if s.parser.begin(seq[:]) {
		return
	}
	o := &s.output
	o.at = o.start
	switch s.apply(seq[:]) {
	case keep:
		o.data(seq[:])
	case drop:
		o.removed()
	case replace:
		o.data(o.repl)
	}
}

// resumeRune continues the partial rune that the parser holds with in[i:].
func (s *Screen) resumeRune(i int) int {
	o, ps := &s.output, &s.parser
	r, n, ok := ps.resumeRune(o.in[i:])
	i += n
	o.start = i
	switch {
	case !ok:
	case r < 0xa0:
		ps.clear()
		s.control8(r)
	default:
		if len(ps.unreleased()) > 0 {
			o.data(ps.unreleased())
		}
		ps.clear()
		s.model.printRune(r)
	}
	return i
}
