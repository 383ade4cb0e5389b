package host

import (
	"bytes"

	"termhost/ptypool/vt"
)

// lineText makes lines of output, of which only the text counts. A line ends with \r, too: programs
// draw progress with it. It is used by one goroutine.
type lineText struct {
	strip vt.Stripper
	text  []byte // lines, each with a line feed, and the beginning of the next one
	ended int    // where the last of these lines ends
}

// maxMatchLine bounds the line that has not ended, in bytes; of a longer one the end is kept.
const maxMatchLine = 64 << 10

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
	rest = rest[max(0, len(rest)-maxMatchLine):]
	if l.text = append(l.text[:0], rest...); cap(l.text) > 4*maxMatchLine {
		l.text = bytes.Clone(l.text)
	}
	l.ended = 0
}
