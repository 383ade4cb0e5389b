package acp

import (
	"sync"
	"unicode/utf8"
)

// MaxOutput bounds the output that terminal/output returns, in bytes, whatever the agent asked for.
// As JSON, where a control character takes six bytes, that stays below the 10 MiB that the ACP Go
// SDK takes as one message.
const MaxOutput = 1 << 20

// tail keeps the end of a terminal's output.
type tail struct {
	limit int // how many bytes of it are wanted at most

	mu    sync.Mutex // held for copying only; no other lock is taken while it is held
	buf   []byte     // the end of the output, at most one and a half times the limit
	total int64      // how many bytes of output there have been
	cut   bool       // there was more, before that
}

// write appends p, which it copies.
func (t *tail) write(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total += int64(len(p))
	p = p[max(0, len(p)-t.limit):]
	if len(t.buf)+len(p) > t.limit+t.limit/2 {
		n := copy(t.buf, t.buf[max(0, len(t.buf)-(t.limit-len(p))):])
		t.buf = t.buf[:n]
	}
	t.buf = append(t.buf, p...)
}

// missed records that output is missing, or its beginning.
func (t *tail) missed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cut = true
}

// text returns the end of the output as UTF-8, at most limit bytes, and whether output before it is
// left out. An invalid byte becomes U+FFFD.
func (t *tail) text() (s string, truncated bool) {
	t.mu.Lock()
	raw := t.buf[max(0, len(t.buf)-t.limit):]
	truncated = t.cut || int64(len(raw)) < t.total
	if truncated {
		raw = skipPartialRune(raw)
	}
	s = string(raw)
	t.mu.Unlock()
	if utf8.ValidString(s) {
		return s, truncated
	}
	s = string([]rune(s))
	for len(s) > t.limit {
		_, n := utf8.DecodeRuneInString(s)
		excess := len(s) - t.limit
		for n < excess {
			_, m := utf8.DecodeRuneInString(s[n:])
			n += m
		}
		s, truncated = s[n:], true
	}
	return s, truncated
}

// skipPartialRune drops the end of a rune whose beginning was cut off.
func skipPartialRune(p []byte) []byte {
	n := 0
	for n < len(p) && !utf8.RuneStart(p[n]) {
		if n++; n == utf8.UTFMax {
			return p // so many continuation bytes: this is not UTF-8
		}
	}
	return p[n:]
}
