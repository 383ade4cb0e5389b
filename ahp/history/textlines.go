package history

import (
	"bytes"
	"errors"

	"termhost/ahp"
	"termhost/ptypool/termlog"
	"termhost/ptypool/vt"
)

// TextLine is a line of what a terminal has printed, as [vt.Lines] makes it, or a mark between
// lines.
type TextLine struct {
	// From is where the line begins: how many bytes had been printed before it. Reading from there
	// yields it again.
	From int64
	// Text is the line without control characters, valid only during the call. nil: it is a mark.
	Text []byte
	// Part says that the next line is the rest of this one, which is long.
	Part bool
	// Unfinished says that the line may still change. Only the last one is.
	Unfinished bool

	// Mark is [Began] or [Finished] where a command's output begins or ends, [Gap] with a text for
	// display, or [Cleared], before which nothing is to be shown; "": it is a line.
	Mark Kind
	// ExitCode is the command's, for Finished; nil: unknown.
	ExitCode *int
}

// Extent is where text lines are.
type Extent struct {
	Oldest int64 // the first byte that is kept
	End    int64 // behind all that has been printed
	// Next is where reading continues: at the unfinished line, at the switch to the alternate
	// screen if the program is on that, or else at the end.
	Next int64
	// Alternate: the program is on the alternate screen, whose content is no lines.
	Alternate bool
}

const (
	// longText is how long a line may become, in bytes, before it is handed out in parts.
	longText = 512
	// longMark bounds the sequences in which marks are looked for, in bytes.
	longMark = 1024
)

// TextLines calls visit with the lines printed from a position on, which is one that was returned
// for this log, or 0. The text is read from there, and what is before it only passed over. visit
// returns false to end. Errors are those of [Log.Read].
func (l *Log) TextLines(w Work, from int64, visit func(*TextLine) bool) (Extent, error) {
	if err := l.allowed(); err != nil {
		return Extent{}, err
	}
	defer w.Rest()
	r := textReader{log: l, work: w, visit: visit, from: from, oldest: -1,
		marks: vt.NewMarks(l.Nonce)}
	err := l.Records(whole, func(rec termlog.Record) bool {
		r.walk.Take(rec, &r)
		return !r.stopped()
	})
	if errors.Is(err, ErrNotLogged) && l.Retained != nil && r.oldest < 0 {
		err = r.retained()
	}
	if err == nil {
		r.rest(true)
	}
	if r.err != nil {
		err = r.err
	}
	return r.extent(), err
}

// textReader reads text lines. It is a [Visitor].
type textReader struct {
	Ignore
	log   *Log
	work  Work
	visit func(*TextLine) bool
	from  int64
	over  bool
	err   error // of the work

	walk    Walker
	lines   vt.Lines
	text    []byte // lines that have ended
	reached bool   // the position to read from
	at      int64  // how far has been read
	begun   int64  // where the unfinished line begins
	oldest  int64  // -1: nothing has come
	end     int64  // of all that has come
	marks   *vt.Marks
	mark    []byte // the sequence so far
	markAt  int64  // where it begins
}

func (r *textReader) extent() Extent {
	e := Extent{Oldest: max(r.oldest, 0), End: r.end, Next: r.begun, Alternate: r.lines.Alternate()}
	if !r.reached {
		e.Next = max(min(r.from, r.end), e.Oldest)
	}
	return e
}

func (r *textReader) stopped() bool {
	if !r.over && r.err == nil {
		r.err = r.work.Step()
	}
	r.over = r.over || r.err != nil
	return r.over
}

// retained reads what is retained of a terminal without a log.
func (r *textReader) retained() error {
	ret, err := r.log.Retained()
	if err != nil {
		return err
	}
	at := int64(0)
	ret.visit(func(i *Item) bool {
		switch i.Kind {
		case Began, Finished:
			r.hand(&TextLine{From: at, Mark: i.Kind, ExitCode: i.Command.ExitCode})
		case Data:
			r.output(i.Data, at)
			at += int64(len(i.Data))
		}
		return !r.stopped()
	})
	return nil
}

// Begin is called with the screen as it was at the log's beginning, or after a gap.
func (r *textReader) Begin(checkpoint []byte) bool {
	if checkpoint == nil || r.walk.At.Pos < r.from {
		return true
	}
	c, ok := r.log.Format.Checkpoint(checkpoint)
	if !ok {
		return false
	}
	var before vt.Lines
	before.Append(nil, c.Redraw)
	if before.Alternate() {
		r.lines.Append(nil, []byte("\x1b[?1049h"))
	}
	return true
}

// Unfollowed reads output before the place from which the log can be followed.
func (r *textReader) Unfollowed(p []byte) { r.Data(p) }

// Data reads output.
func (r *textReader) Data(p []byte) { r.output(p, r.walk.At.Pos) }

// Event looks for a clearing.
func (r *textReader) Event(payload []byte) {
	if !bytes.Contains(payload, []byte(ahp.TerminalCleared{}.Type())) {
		return
	}
	if a, _ := r.log.Format.Event(payload); a != nil && a.Type() == (ahp.TerminalCleared{}).Type() {
		r.rest(false)
		r.hand(&TextLine{From: r.at, Mark: Cleared})
		r.begun = r.at
	}
}

// Gap is called where output is missing.
func (r *textReader) Gap(n int64, why string) {
	r.rest(false)
	if r.walk.At.Pos >= r.from {
		r.hand(&TextLine{From: r.at, Mark: Gap, Text: []byte(GapText(n, why))})
	}
	r.lines, r.mark = vt.Lines{}, nil
	r.at, r.begun = r.walk.At.Pos, r.walk.At.Pos
}

// output reads output that was printed at a position.
func (r *textReader) output(p []byte, at int64) {
	switch {
	case r.oldest < 0:
		r.oldest = at
	case at != r.end: // output is missing, and no record says so
		r.rest(false)
		r.lines, r.mark, r.reached = vt.Lines{}, nil, false
	}
	if r.end = at + int64(len(p)); r.end <= r.from {
		return
	}
	if at < r.from {
		p, at = p[r.from-at:], r.from
	}
	if !r.reached {
		r.reached, r.begun = true, at
	}
	r.at = at
	for len(p) > 0 && !r.over {
		n := r.piece(p)
		r.feed(p[:n])
		p = p[n:]
	}
}

// piece returns how much of p is read next, so that lines end where a piece does: up to a line feed
// or an escape sequence, which is read byte by byte.
func (r *textReader) piece(p []byte) int {
	if !r.lines.Between() {
		return 1
	}
	p = p[:min(len(p), longText)]
	switch n := bytes.IndexByte(p, 0x1b); {
	case n == 0:
		return 1
	case n > 0:
		p = p[:n]
	}
	if n := bytes.IndexByte(p, '\n'); n >= 0 {
		return n + 1
	}
	return len(p)
}

// feed reads a piece, and hands out the line that it ends.
func (r *textReader) feed(p []byte) {
	between, alternate := r.lines.Between(), r.lines.Alternate()
	if between {
		r.mark, r.markAt = r.mark[:0], r.at
	}
	r.text = r.lines.Append(r.text[:0], p)
	r.at += int64(len(p))
	r.ended(false)
	if part := false; r.lines.Between() {
		if r.text, part = r.lines.Cut(r.text[:0], longText); part {
			r.ended(true)
		}
	}
	switch {
	case r.lines.Alternate() && !alternate:
		r.begun = r.markAt
	case alternate && !r.lines.Alternate():
		r.begun = r.at
	}
	if !between && len(r.mark) < longMark || between && !r.lines.Between() {
		r.mark = append(r.mark, p...)
	}
	if !between && r.lines.Between() {
		r.marked(r.mark)
	}
}

// ended hands out the lines that have ended.
func (r *textReader) ended(part bool) {
	for len(r.text) > 0 {
		line, rest, _ := bytes.Cut(r.text, []byte{'\n'})
		r.hand(&TextLine{From: r.begun, Text: line, Part: part})
		r.text, r.begun = rest, r.at
	}
}

// marked looks for a mark of shell integration in a sequence.
func (r *textReader) marked(seq []byte) {
	found, ok := r.marks.Parse(seq)
	if !ok {
		return
	}
	r.rest(false)
	mark := TextLine{From: r.at, Mark: Began, ExitCode: found.ExitCode}
	if found.Finished {
		mark.Mark = Finished
	}
	r.hand(&mark)
	r.begun = r.at
}

// rest hands out the unfinished line, which may still change only at the end of the log.
func (r *textReader) rest(unfinished bool) {
	if r.text = r.lines.AppendRest(r.text[:0]); len(r.text) > 0 {
		line, _, _ := bytes.Cut(r.text, []byte{'\n'})
		r.hand(&TextLine{From: r.begun, Text: line, Unfinished: unfinished})
	}
}

func (r *textReader) hand(l *TextLine) {
	if !r.over {
		r.over = !r.visit(l)
	}
}
