package await

import (
	"bytes"
	"slices"

	"termhost/ptypool/vt"
)

// lineText makes lines of output, of which only the text counts. A line ends with \r, too: programs
// draw progress with it. It is used by one goroutine.
type lineText struct {
	strip vt.Stripper
	text  []byte // lines, each with a line feed, and the beginning of the next one
	ended int    // where the last of these lines ends
}

// maxLine bounds the line that has not ended, in bytes; of a longer one the end is kept.
const maxLine = 64 << 10

// add adds output.
func (l *lineText) add(p []byte) {
	from := len(l.text)
	l.text = l.strip.Append(l.text, p)
	for i := from; i < len(l.text); i++ {
		switch l.text[i] {
		case '\r':
			l.text[i] = '\n'
			fallthrough
		case '\n':
			l.ended = i + 1
		}
	}
}

// lines returns the lines that have ended, and rest what comes behind them. They are valid until
// add or next is called.
func (l *lineText) lines() []byte { return l.text[:l.ended] }
func (l *lineText) rest() []byte  { return l.text[l.ended:] }

// next drops the lines that have ended.
func (l *lineText) next() {
	rest := l.rest()
	rest = rest[max(0, len(rest)-maxLine):]
	if l.text = append(l.text[:0], rest...); cap(l.text) > 4*maxLine {
		l.text = bytes.Clone(l.text)
	}
	l.ended = 0
}

// tail returns the pieces at the end of output that hold its last line, or as much of that as
// counts. Output may begin in the middle of a sequence, but a line does not.
func tail(pieces [][]byte) [][]byte {
	from, size := len(pieces), 0
	for from > 0 && size < maxLine {
		from--
		size += len(pieces[from])
	}
	pieces = slices.Clone(pieces[from:])
	if from > 0 {
		if _, rest, found := bytes.Cut(pieces[0], []byte{'\n'}); found {
			pieces[0] = rest
		}
	}
	return pieces
}
