package vt

import "unicode/utf8"

// holdBack keeps the unfinished in[i:j] for later.
func (t *Terminal) holdBack(i, j int, s seqState) {
	t.flushSpan(i)
	t.start = j
	t.state = s
	t.hold = t.hold[:0]
	t.released = 0
	if !s.held() {
		t.removed()
	}
	t.collect(t.in[i:j])
}

// collect adds to hold, and gives up a sequence that has outgrown its bound.
func (t *Terminal) collect(p []byte) {
	if !t.state.held() {
		return
	}
	t.hold = append(t.hold, p...)
	g := t.state
	if g >= inString {
		g = g.group()
	}
	if len(t.hold) <= seqBound(g) {
		return
	}
	switch g {
	case inOSC:
		t.state += inLongOSC - inOSC
	case inDCS:
		t.state += inIgnore - inDCS
	default:
		t.state = inLongCSI
	}
	t.forget(true)
}

// seqBound is the longest sequence of a kind that is looked at, in bytes.
func seqBound(g seqState) int {
	switch g {
	case inOSC:
		return maxOSC
	case inDCS:
		return maxDCS
	}
	return maxCSI
}

// forget empties hold. unseen tells that the sequence is not to be completed for
// viewers that were given its beginning.
func (t *Terminal) forget(unseen bool) {
	if unseen && t.released > 0 {
		t.data(canceled)
	}
	if unseen {
		t.removed()
	}
	t.released = 0
	if cap(t.hold) > keepHold {
		t.hold = nil
	}
	t.hold = t.hold[:0]
}

// resume continues the sequence in hold with in[i:].
func (t *Terminal) resume(i int) int {
	p := t.in
	for j := i; j < len(p); j++ {
		next, o := step(t.state, p[j])
		switch o {
		case more:
			if next == inIgnore && t.state < inString {
				t.forget(true)
				t.start = j + 1
				t.state = next
				return j + 1
			}
			t.state = next
			continue
		case done:
			return t.complete(i, j+1)
		case cancel:
			return t.abandon(j + 1)
		case reparse:
			return t.abandon(j)
		case reescape:
			t.abandon(j)
			t.state = inEsc
			t.hold = append(t.hold, esc)
			return j
		case execute:
			t.collect(p[i:j])
			t.start = j
			t.control(j)
			t.flushSpan(j + 1)
			return j + 1
		}
	}
	t.start = len(p)
	t.collect(p[i:])
	return len(p)
}

// abandon drops the held-back sequence; in[:end] belonged to it.
func (t *Terminal) abandon(end int) int {
	t.start = end
	t.state = inGround
	t.forget(true)
	return end
}

// complete applies the held-back sequence, of which in[i:end] is the rest.
func (t *Terminal) complete(i, end int) int {
	t.collect(t.in[i:end])
	ignored := !t.state.held()
	t.start, t.at, t.state = end, end, inGround
	if ignored {
		t.forget(true)
		return end
	}
	switch t.dispatch(t.hold) {
	case keep:
		t.data(t.hold[t.released:])
		t.forget(false)
	case drop:
		t.forget(true)
	case replace:
		t.forget(true)
		t.data(t.repl)
	}
	return end
}

// resumeRune continues the partial rune in hold with in[i:].
func (t *Terminal) resumeRune(i int) int {
	n := len(t.hold)
	t.hold = append(t.hold, t.in[i])
	t.start = i + 1
	if !utf8.FullRune(t.hold) {
		return i + 1
	}
	r, size := utf8.DecodeRune(t.hold)
	if size <= n { // in[i] does not continue it
		i--
		t.start--
		t.hold = t.hold[:n]
		r = utf8.RuneError
	}
	t.state = inGround
	if r < 0xa0 {
		t.forget(false)
		t.control8(r)
		return i + 1
	}
	if t.released < len(t.hold) {
		t.data(t.hold[t.released:])
	}
	t.forget(false)
	t.printRune(r)
	return i + 1
}
