package vt

import (
	"slices"
	"unicode/utf8"
)

// parser finds where sequences end: escape and control sequences, strings, and runes that a chunk
// cuts. It holds the beginning of a sequence until its end comes, and knows nothing of its meaning.
type parser struct {
	state    seqState
	held     []byte // the beginning of a rune or sequence that has not ended
	released int    // how many bytes of held viewers have got already; see Screen.Flush
	size     int    // of the string before this chunk, in bytes
	long     bool   // it is not held any more, but may be long: see mayBeLong
	large    []byte // the beginning of a picture that has just outgrown its bound; nil: none has
}

// found is the parser's result for some bytes.
type found uint8

const (
	unfinished  found = iota // they belong to an unfinished sequence
	complete                 // they end a sequence, which must be applied
	dropped                  // they end a sequence, or its held part, which is removed
	retracted                // as dropped, but viewers have got its beginning
	interrupted              // a control character follows within the sequence
)

// scan finds the end of the sequence at the beginning of p, which is an ESC, and returns how many
// bytes of p belong to it. It holds an unfinished one; see collecting.
func (ps *parser) scan(p []byte) (n int, f found) {
	s := inEsc
	n = 1
	if len(p) > 1 && p[1] == '[' { // the common case, without step
		s = inCSI
		for n = 2; n < len(p) && p[n]-0x20 < 0x20; n++ {
		}
	}
	for ; n < len(p); n++ {
		if s >= inString && breaksOff(p[n], n) && !mayBeLong(p[:n]) {
			return n, dropped
		}
		next, o := step(s, p[n])
		switch o {
		case more:
			if s = next; n == len(controlMode)-1 && string(p[:n+1]) == controlMode {
				return n + 1, complete
			}
		case done:
			return n + 1, complete
		case cancel:
			return n + 1, dropped
		case reparse:
			return n, dropped
		case reescape:
			return n - 1, dropped
		case execute:
			ps.keep(s, p[:n])
			return n, unfinished
		}
	}
	ps.keep(s, p)
	return n, unfinished
}

// resume finds the end of the held sequence, which continues in p.
func (ps *parser) resume(p []byte) (n int, f found) {
	defer func() { ps.size += n }()
	for ; n < len(p); n++ {
		if ps.breaksOff(p, n) {
			return n, ps.drop(inGround)
		}
		next, o := step(ps.state, p[n])
		switch o {
		case more:
			if next == inIgnore && ps.state < inString {
				return n + 1, ps.drop(next)
			}
			ps.state = next
			if next != inDCS || len(ps.held)+n+1 != len(controlMode) ||
				string(ps.held)+string(p[:n+1]) != controlMode {
				continue
			}
			fallthrough
		case done:
			if !ps.collect(p[:n+1]) {
				return n + 1, ps.drop(inGround)
			}
			ps.state = inGround
			return n + 1, complete
		case cancel:
			return n + 1, ps.drop(inGround)
		case reparse:
			return n, ps.drop(inGround)
		case reescape:
			f = ps.drop(inEsc)
			ps.held = append(ps.held, esc)
			return n, f
		case execute:
			if ps.collecting() && !ps.collect(p[:n]) {
				return n, ps.drop(ps.state.overlong())
			}
			return n, interrupted
		}
	}
	if ps.collecting() && !ps.collect(p) {
		return n, ps.drop(ps.state.overlong())
	}
	return n, unfinished
}

// breaksOff is [breaksOff] for p[n] in the held sequence, which continues in p.
func (ps *parser) breaksOff(p []byte, n int) bool {
	if ps.state < inString || ps.long || !breaksOff(p[n], ps.size+n) {
		return false
	}
	return !mayBeLong(slices.Concat(ps.held[:min(len(ps.held), maxHead)], p[:min(n, maxHead)]))
}

// maxHead is as long as the beginnings of strings are that say what these are, in bytes.
const maxHead = 64

// begin begins a sequence with a C1 control's seven-bit form, ESC and a byte. It returns false if
// these are all of the sequence.
func (ps *parser) begin(seq []byte) (goesOn bool) {
	ps.state, _ = step(inEsc, seq[1])
	ps.held, ps.size = ps.held[:0], len(seq)
	if ps.state.held() {
		ps.held = append(ps.held, seq...)
	}
	return ps.state != inGround
}

// keep holds the beginning of a sequence.
func (ps *parser) keep(s seqState, p []byte) {
	ps.state, ps.held, ps.released, ps.size = s, ps.held[:0], 0, len(p)
	if ps.collecting() && !ps.collect(p) {
		ps.drop(ps.state.overlong())
	}
}

// collecting reports whether the bytes of the unfinished sequence are held.
func (ps *parser) collecting() bool { return ps.state.held() }

// collect adds p to the held bytes. It returns false if bytes of this kind of sequence are not
// held, or if it has outgrown its bound.
func (ps *parser) collect(p []byte) bool {
	if !ps.collecting() {
		return false
	}
	ps.held = append(ps.held, p...)
	if len(ps.held) <= ps.state.bound() {
		return true
	}
	if ps.state < inString || !isPicture(ps.held) {
		return false
	}
	if len(ps.held) > maxPicture {
		ps.large = slices.Clone(ps.held[:maxCSI])
	}
	return ps.large == nil
}

// drop discards the held bytes; s is the state from now on.
func (ps *parser) drop(s seqState) found {
	f := dropped
	if ps.released > 0 {
		f = retracted
	}
	long := s >= inString && mayBeLong(ps.held)
	ps.clear()
	ps.state, ps.long = s, long
	return f
}

// clear empties the held bytes.
func (ps *parser) clear() {
	ps.released, ps.long = 0, false
	if cap(ps.held) > keepHeld {
		ps.held = nil
	}
	ps.held = ps.held[:0]
}

// resumeRune continues the held partial rune with p. It returns how many bytes of p belong to it,
// and the rune if it is complete or malformed.
func (ps *parser) resumeRune(p []byte) (r rune, n int, ok bool) {
	before := len(ps.held)
	ps.held = append(ps.held, p[0])
	if !utf8.FullRune(ps.held) {
		return 0, 1, false
	}
	ps.state = inGround
	r, size := utf8.DecodeRune(ps.held)
	if size <= before { // p[0] does not continue the rune
		ps.held = ps.held[:before]
		return utf8.RuneError, 0, true
	}
	return r, 1, true
}

// pending reports whether held bytes may be released: all but those of strings, which show nothing
// before their end.
func (ps *parser) pending() bool {
	return ps.state != inGround && ps.state < inString && ps.released < len(ps.held)
}

// unreleased returns the held bytes that have not been released.
func (ps *parser) unreleased() []byte { return ps.held[ps.released:] }

// given returns the part of the unfinished sequence that has been released.
func (ps *parser) given() []byte { return ps.held[:ps.released] }
