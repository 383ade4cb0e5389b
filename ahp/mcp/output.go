package mcp

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"termhost/ahp/history"
	"termhost/ahp/visible"
)

const (
	// defaultChars, mostChars and fewestChars bound the output in a result, in characters.
	defaultChars = 12_000
	mostChars    = 40_000
	fewestChars  = 100
)

// output collects the lines for a result: all of them if they have at most a number of characters,
// or else the first quarter and the last three quarters, at ends of lines, with the call between
// them that reads what is omitted. If it is read onwards from a cursor, its beginning comes first,
// and its end is omitted.
type output struct {
	terminal string // its NAME; "": what is omitted has no cursor
	chars    int
	onwards  bool

	head, tail         []outLine
	headSize, tailSize int   // in characters
	full               bool  // the head is
	omitted            int   // lines
	omittedAt          int64 // the cursor of the first of them
	lines              int   // the omitted ones included
	midLine            bool  // the next line is the rest of the last one
	begun              bool  // with midLine: something of the line can be seen
	unfinished         string
}

type outLine struct {
	from int64
	text string // with a line feed, unless the rest follows
	size int
}

// add adds a line. Marks are not added.
func (o *output) add(l *history.TextLine) {
	switch l.Mark {
	case history.Cleared:
		*o = output{terminal: o.terminal, chars: o.chars, onwards: o.onwards}
		return
	case history.Gap, "":
	default:
		return
	}
	if !o.midLine {
		o.lines++
		o.begun = false
	}
	text := visible.Clean(string(l.Text))
	if !o.begun {
		text = indented(text, l.Part)
	}
	o.begun = o.begun || asSeen(text) != ""
	if o.midLine = l.Part; !l.Part {
		text += "\n"
	}
	if o.unfinished = ""; l.Unfinished {
		o.unfinished = strings.TrimSuffix(text, "\n")
	}
	o.append(outLine{l.From, text, utf8.RuneCountInString(text)})
}

func (o *output) append(l outLine) {
	most := o.chars / 4
	if o.onwards {
		most = o.chars
	}
	if !o.full && (o.headSize+l.size <= most || o.onwards && o.headSize == 0) {
		o.head, o.headSize = append(o.head, l), o.headSize+l.size
		return
	}
	if o.full = true; o.onwards {
		o.omit(l)
		return
	}
	o.tail, o.tailSize = append(o.tail, l), o.tailSize+l.size
	for o.headSize+o.tailSize > o.chars && len(o.tail) > 1 {
		o.omit(o.tail[0])
		o.tailSize -= o.tail[0].size
		o.tail = o.tail[1:]
	}
}

func (o *output) omit(l outLine) {
	if o.omitted == 0 {
		o.omittedAt = l.from
	}
	o.omitted++
}

// next returns the cursor with which reading goes on, where otherwise is where it ends.
func (o *output) next(otherwise int64) int64 {
	if o.onwards && o.omitted > 0 {
		return o.omittedAt
	}
	return otherwise
}

// text returns the lines.
func (o *output) text() string {
	var b strings.Builder
	for _, l := range o.head {
		b.WriteString(l.text)
	}
	if o.omitted > 0 {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(o.omission())
	}
	begins := o.omitted > 0 // what may be the rest of a line begins one here
	for _, l := range o.tail {
		if begins {
			begins = asSeen(l.text) == ""
			l.text = indented(l.text, !strings.HasSuffix(l.text, "\n"))
		}
		if l.size > o.chars {
			b.WriteString(o.middleCut(l))
			continue
		}
		b.WriteString(l.text)
	}
	if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}

// omission says how the lines that are omitted are read.
func (o *output) omission() string {
	unit := "lines"
	if o.omitted == 1 {
		unit = "line"
	}
	if o.terminal == "" {
		return fmt.Sprintf("[... %d %s omitted ...]\n", o.omitted, unit)
	}
	return fmt.Sprintf("[... %d %s omitted: %s ...]\n", o.omitted, unit,
		callText("terminal_read", "terminal", o.terminal, "cursor", o.omittedAt))
}

// middleCut returns the first quarter and the last three quarters of a line, with the call that
// reads it.
func (o *output) middleCut(l outLine) string {
	runes := []rune(l.text)
	head := o.chars / 4
	tail := len(runes) - (o.chars - head)
	if o.terminal == "" {
		return fmt.Sprintf("%s[... %d characters omitted ...]%s", string(runes[:head]),
			tail-head, string(runes[tail:]))
	}
	return fmt.Sprintf("%s[... %d characters omitted: %s ...]%s", string(runes[:head]), tail-head,
		callText("terminal_read", "terminal", o.terminal, "cursor", l.from),
		string(runes[tail:]))
}
