package vt

import "unicode/utf8"

// output passes the program's output on to viewers, without what is removed from it, and tells the
// sink of events at the place in it where they happened. It is in use during Feed and Flush, but
// for tail.
type output struct {
	sink  Sink
	in    []byte // the caller's chunk
	start int    // in[start:] has not been given to Data yet
	at    int    // events of the sequence that is being applied come after in[:at]

	repl []byte // what replaces a sequence in Data

	tail [utf8.UTFMax - 1]byte // the last bytes of Data
}

// verdict is what becomes of a sequence in Data.
type verdict uint8

const (
	keep    verdict = iota // stays as it is
	drop                   // is removed
	replace                // becomes output.repl
)

// canceled makes a viewer's terminal forget a sequence whose beginning it has been given by Flush
// and whose end it must not see.
var canceled = []byte{can}

// flush gives Data what has not been given of in[:end].
func (o *output) flush(end int) {
	if o.start < end {
		o.data(o.in[o.start:end])
	}
	o.start = max(o.start, end)
}

// data gives p to Data.
func (o *output) data(p []byte) {
	o.sink.Data(p)
	n := min(len(p), len(o.tail))
	copy(o.tail[:], o.tail[n:])
	copy(o.tail[len(o.tail)-n:], p[len(p)-n:])
}

// cut removes in[i:j] from Data.
func (o *output) cut(i, j int) {
	o.flush(i)
	o.removed()
	o.start = j
}

// removed keeps what comes after something removed apart from malformed UTF-8 before it: together
// they could make a rune, even a control character, that was not there.
func (o *output) removed() {
	for i := len(o.tail) - 1; i >= 0; i-- {
		if b := o.tail[i]; b < utf8.RuneSelf {
			return
		} else if utf8.RuneStart(b) {
			if !utf8.FullRune(o.tail[i:]) {
				o.data(canceled)
			}
			return
		}
	}
}

// retracted tells viewers to forget the sequence whose beginning they have been given, if they
// have, and keeps what follows apart from what was before it.
func (o *output) retracted(given bool) {
	if given {
		o.data(canceled)
	}
	o.removed()
}

// event makes Data current before another method of the sink is called.
func (o *output) event() Sink {
	o.flush(o.at)
	return o.sink
}

// reply sends an answer to the program.
func (o *output) reply(s string) { o.event().Reply([]byte(s)) }
