package viewer

import (
	"bytes"
	"sync"
	"time"
)

// questions are what the peer's terminal has been asked and has not answered, by whichever viewer
// or list: the answers come in order, the last one to DA1, and to whatever is shown then. Its
// methods may be called concurrently.
type questions struct {
	mu      sync.Mutex    // a leaf
	open    int           // how many rounds are not answered in full
	since   time.Time     // when the last one was asked
	done    chan struct{} // closed when open is 0 again; nil: nothing was ever asked
	reports bool          // the terminal tells when it turns dark or light
}

// questions returns those of the session. The first call comes before there are other goroutines.
func (s *Session) questions() *questions {
	if s.questioned == nil {
		s.questioned = &questions{}
	}
	return s.questioned
}

// ask records a round of questions, which ends with DA1.
func (q *questions) ask() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open == 0 {
		q.done = make(chan struct{})
	}
	q.open++
	q.since = time.Now()
}

// answered takes an answer.
func (q *questions) answered(p []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open == 0 || !isKind(p) {
		return
	}
	if q.open--; q.open == 0 {
		close(q.done)
	}
}

// pending returns a channel that is closed when all is answered, and when the last question was
// asked; nil: nothing ever was.
func (q *questions) pending() (done <-chan struct{}, since time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.done, q.since
}

// setReports records whether the terminal tells when it turns dark or light.
func (q *questions) setReports(on bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.reports = on
}

// isKind reports whether p answers DA1.
func isKind(p []byte) bool {
	return bytes.HasPrefix(p, []byte("\x1b[?")) && p[len(p)-1] == 'c'
}

// asked reports whether p is an answer that is to come, or the beginning of one. A report of the
// theme may come at any time; Escape alone and with [ is a key then.
func (q *questions) asked(p []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(p) > maxAnswer {
		return false
	}
	if q.reports && len(p) > len("\x1b[") && themeForm.begins(p) {
		return true
	}
	if q.open == 0 {
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
	{"\x1b[?1016;", isNumberPart, []string{"$y"}},
	{"\x1b[?2027;", isNumberPart, []string{"$y"}},
	{"\x1b[?", isNumberPart, []string{"c", "u"}},
}

// themeForm is that of the members of lightOrDark.
var themeForm = answerForm{"\x1b[?997;", isNumberPart, []string{"n"}}

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
