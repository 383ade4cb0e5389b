package vt

import "unicode/utf8"

// output passes the program's output on to viewers, without the parts that are removed, and events
// to the sink at their place in it. Except for tail it is used only during Feed and Flush.
type output struct {
	sink  Sink
	in    []byte // the caller's chunk
	start int    // Data has not got in[start:] yet
	at    int    // events of the present sequence come after in[:at]

	repl []byte // what replaces a sequence in Data

	tail [utf8.UTFMax - 1]byte // the last bytes of Data

	keys keyQuery // answers that wait
}

// verdict says what happens to a sequence in Data.
type verdict uint8

const (
	keep    verdict = iota // it is passed on unchanged
	drop                   // it is removed
	replace                // it is replaced by output.repl
)

// canceled cancels, in a viewer's terminal, a sequence of which Flush has released the beginning
// and which the viewer must not see.
var canceled = []byte{can}

// flush passes the rest of in[:end] to Data.
func (o *output) flush(end int) {
	if o.start < end {
		o.data(o.in[o.start:end])
	}
	o.start = max(o.start, end)
}

// data passes p to Data.
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

// removed separates what comes after a removed sequence from malformed UTF-8 before it: together
// they could make a rune, even a control character, that the program did not print.
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

// retracted separates the next output from the last. If viewers were given the beginning of a
// sequence (given), it cancels that.
func (o *output) retracted(given bool) {
	if given {
		o.data(canceled)
	}
	o.removed()
}

// event flushes Data up to the event, and returns the sink for another call.
func (o *output) event() Sink {
	o.flush(o.at)
	return o.sink
}
