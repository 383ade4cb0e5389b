package viewer

import (
	"bytes"
	"sync/atomic"
)

// questions are what the peer's terminal has been asked and has not answered, by whichever viewer
// or list: the answers come in order, the last one to DA1, and to whatever is shown then. Its
// methods may be called concurrently.
type questions struct{ open atomic.Int32 } // how many rounds are not answered in full

// questions returns those of the session. The first call comes before there are other goroutines.
func (s *Session) questions() *questions {
	if s.questioned == nil {
		s.questioned = &questions{}
	}
	return s.questioned
}

// ask records a round of questions, which ends with DA1.
func (q *questions) ask() { q.open.Add(1) }

// answered takes an answer.
func (q *questions) answered(p []byte) {
	if n := q.open.Load(); n > 0 && isKind(p) {
		q.open.CompareAndSwap(n, n-1)
	}
}

// isKind reports whether p answers DA1.
func isKind(p []byte) bool {
	return bytes.HasPrefix(p, []byte("\x1b[?")) && p[len(p)-1] == 'c'
}

// asked reports whether p is an answer that is to come, or the beginning of one.
func (q *questions) asked(p []byte) bool {
	if q.open.Load() == 0 || len(p) > maxAnswer {
		return false
	}
	for i := range answerForms {
		if answerForms[i].begins(p) {
			return true
		}
	}
	return false
}

// answerForm is the form of an answer: how it begins, what it consists of, and how it may end.
type answerForm struct {
	intro string
	part  func(b byte) bool
	ends  []string
}

// answerForms are those of the answers to askColors and askKind.
var answerForms = [...]answerForm{
	{"\x1b]10;", isColorPart, stringEnds},
	{"\x1b]11;", isColorPart, stringEnds},
	{"\x1b]12;", isColorPart, stringEnds},
	{"\x1b]99;i=termhost:p=?;", isTextPart, stringEnds},
	{"\x1bP>|", isTextPart, stringEnds},
	{"\x1b[?", isNumberPart, []string{"c"}},
}

var stringEnds = []string{"\a", "\x1b\\"}

// isColorPart: such as rgb:ffff/ffff/ffff, rgba:ffff/ffff/ffff/ffff and #ffffff.
func isColorPart(b byte) bool {
	return bytes.IndexByte([]byte("0123456789abcdefABCDEFrg:/#"), b) >= 0
}

func isTextPart(b byte) bool { return b >= 0x20 && b != 0x7f }

func isNumberPart(b byte) bool { return b >= '0' && b <= '9' || b == ';' }

// begins reports whether p is of the form, or the beginning of what is.
func (f *answerForm) begins(p []byte) bool {
	if len(p) <= len(f.intro) {
		return bytes.HasPrefix([]byte(f.intro), p)
	}
	if !bytes.HasPrefix(p, []byte(f.intro)) {
		return false
	}
	p = p[len(f.intro):]
	for len(p) > 0 && f.part(p[0]) {
		p = p[1:]
	}
	for _, end := range f.ends {
		if bytes.HasPrefix([]byte(end), p) {
			return true
		}
	}
	return false
}
