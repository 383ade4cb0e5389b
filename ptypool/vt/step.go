package vt

import "bytes"

// seqState is the parser's state. The string states come in groups of strStride: body, body after
// ESC, body after 0xC2 (half of a C1 terminator).
type seqState uint8

const (
	inGround   seqState = iota
	inRune              // a UTF-8 sequence has begun
	inEsc               // ESC
	inEscInter          // ESC and intermediates
	inCSI               // ESC [
	inLongCSI           // a CSI beyond maxCSI: removed
	inString            // first of the string states

	strStride = 3
)

const (
	inOSC      = inString             // ends with BEL or ST
	inDCS      = inOSC + strStride    // ends with ST
	inAPC      = inDCS + strStride    // ends with ST
	inIgnore   = inAPC + strStride    // SOS, PM or an oversized DCS or APC: removed
	inLongOSC  = inIgnore + strStride // an oversized OSC: removed up to BEL or ST
	strAfter1B = 1                    // offset: ESC seen
	strAfterC2 = 2                    // offset: 0xC2 seen
)

// group returns the first state of a string state's group.
func (s seqState) group() seqState { return s - (s-inString)%strStride }

// held reports whether the bytes of a sequence in this state are held.
func (s seqState) held() bool {
	return s != inGround && s != inLongCSI && s < inIgnore
}

// bound returns the greatest length, in bytes, of a sequence in this state that is interpreted.
func (s seqState) bound() int {
	switch {
	case s < inString:
		return maxCSI
	case s.group() == inOSC:
		return maxOSC
	}
	return maxDCS
}

// overlong returns the state of a sequence that is too long to be interpreted and is removed.
func (s seqState) overlong() seqState {
	switch {
	case s < inString:
		return inLongCSI
	case s.group() == inOSC:
		return s - inOSC + inLongOSC
	}
	return s - s.group() + inIgnore
}

// breaksOff reports whether b, the byte n of a string, ends it because its own end is missing,
// unless it may be long.
func breaksOff(b byte, n int) bool { return n >= maxString && (b == '\n' || b == '\r') }

// mayBeLong reports whether a string that begins with head is a picture or a clipboard.
func mayBeLong(head []byte) bool {
	return isPicture(head) || bytes.HasPrefix(head, []byte("\x1b]52;"))
}

// outcome is the effect of one byte on a sequence.
type outcome uint8

const (
	more     outcome = iota // the sequence continues
	done                    // the byte ends it
	cancel                  // the byte (CAN or SUB) cancels it
	reparse                 // it is cancelled before the byte, which is read again
	reescape                // it is cancelled before the ESC that preceded the byte
	execute                 // the byte is a control character inside it
)

const (
	enq = 0x05
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	del = 0x7f
)

// step advances a sequence by one byte. It is the DEC/ANSI state machine (Williams,
// vt100.net/emu/dec_ansi_parser) reduced to finding boundaries, with strings ended by BEL (OSC
// only), ESC \ or U+009C as in xterm.
func step(s seqState, b byte) (seqState, outcome) {
	if s >= inString {
		return stepString(s, b)
	}
	switch {
	case b == esc:
		return inGround, reparse
	case b == can || b == sub:
		return inGround, cancel
	case b < 0x20 || b == del:
		return s, execute
	case b >= 0x80:
		return inGround, reparse
	}
	switch s {
	case inEsc:
		switch b {
		case '[':
			return inCSI, more
		case ']':
			return inOSC, more
		case 'P':
			return inDCS, more
		case '_':
			return inAPC, more
		case 'X', '^':
			return inIgnore, more
		}
		if b < 0x30 {
			return inEscInter, more
		}
	case inEscInter:
		if b < 0x30 {
			return s, more
		}
	default:
		if b < 0x40 {
			return s, more
		}
	}
	return inGround, done
}

// stepString is step inside OSC, DCS, SOS, PM and APC. An ESC that does not begin ST cancels the
// string and begins a new sequence, so that an unterminated string does not swallow the following
// output.
func stepString(s seqState, b byte) (seqState, outcome) {
	g := s.group()
	if s == g+strAfter1B {
		if b == '\\' {
			return inGround, done
		}
		return inGround, reescape
	}
	switch b {
	case esc:
		return g + strAfter1B, more
	case can, sub:
		return inGround, cancel
	case bel:
		if g == inOSC || g == inLongOSC {
			return inGround, done
		}
	case 0xc2:
		return g + strAfterC2, more
	case 0x9c:
		if s == g+strAfterC2 {
			return inGround, done
		}
	}
	return g, more
}
