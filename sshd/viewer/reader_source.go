package viewer

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ptypool/vt"
)

const (
	// linesAround is how many lines are read at once before and behind the one that is needed.
	linesAround = 200
	// maxLine bounds what is shown of one line, in bytes.
	maxLine = 16 << 10
	// mostFound bounds the matches that are looked for: the last ones.
	mostFound = 10_000
)

// printed is what a terminal had printed, as lines, when they were first read. Only those around
// the one that was needed last are kept: each reading shows the history again, from a keyframe.
type printed struct {
	conn *host.Conn
	from host.Source
	ctx  context.Context

	until    *history.Place    // where the lines end; nil: they have not been read
	total    int               // the number of lines
	cut      bool              // there were others before them
	commands []vt.CommandLines // oldest first
	gone     int               // lines at the beginning that went since somebody looked
	first    int               // the number of kept[0]
	kept     []string          // lines with their styles
}

// read calls do with the lines. Numbers of lines that were known before may be wrong then: see
// gone.
func (p *printed) read(do func(*host.Work, *history.Shown)) error {
	release, err := p.conn.WaitReading(p.ctx)
	if err != nil {
		return err
	}
	defer release()
	w := p.conn.Work(p.ctx)
	defer w.Rest()
	s, err := p.conn.History(w, p.from).Show(w, p.until, history.AllLines, time.Now())
	if err != nil {
		return err
	}
	if total := s.Lines(); p.until == nil || total < p.total {
		if p.until != nil { // the log has no room for its beginning any more
			p.gone += p.total - total
		}
		place := s.Place
		p.until, p.total, p.commands, p.kept = &place, total, s.Commands(), nil
	}
	p.cut = s.Cut()
	do(w, s)
	return w.Ended()
}

// again has the next reading read what has been printed until then.
func (p *printed) again() { p.until = nil }

// line returns a line with its styles; "": there is none, or it could not be read.
func (p *printed) line(i int) (line string, err error) {
	if i < 0 || i >= p.total {
		return "", nil
	}
	if i < p.first || i >= p.first+len(p.kept) {
		err = p.read(func(_ *host.Work, s *history.Shown) { p.keep(s, i) })
	}
	if i -= p.first; i < 0 || i >= len(p.kept) {
		return "", err
	}
	return p.kept[i], err
}

// keep keeps the lines around one.
func (p *printed) keep(s *history.Shown, line int) {
	p.first, p.kept = max(line-linesAround, 0), nil
	text := s.Styled(p.first, min(line+linesAround, p.total))
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if len(line) > maxLine { // CAN ends a sequence that is cut
			line = append(bytes.ToValidUTF8(line[:maxLine:maxLine], nil), "\x18\x1b[m …"...)
		}
		p.kept = append(p.kept, string(line))
	}
}

// find returns the numbers of the lines that have text; fold: in any case.
func (p *printed) find(text string, fold bool) (lines []int, err error) {
	pattern, release, err := p.conn.Pattern(regexp.QuoteMeta(text), fold)
	if err != nil {
		return nil, err
	}
	defer release()
	err = p.read(func(_ *host.Work, s *history.Shown) { lines, _, _ = s.Find(pattern, mostFound) })
	return lines, err
}

// text returns the lines from a number up to another as plain text, without the last line's end. It
// reads no more than most bytes: whole says whether that is all.
func (p *printed) text(from, to, most int) (text string, whole bool, err error) {
	var b strings.Builder
	whole = true
	err = p.read(func(w *host.Work, s *history.Shown) {
		var strip vt.Stripper
		for at := from; at < to && whole && w.Step() == nil; at += linesAround {
			for line := range bytes.Lines(s.Styled(at, min(at+linesAround, to))) {
				line = bytes.TrimRight(strip.Append(nil, line), " \n")
				if whole = whole && b.Len()+len(line) < most; !whole {
					return
				}
				b.Write(line)
				b.WriteByte('\n')
			}
		}
	})
	return strings.TrimSuffix(b.String(), "\n"), whole, err
}
