package host

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"time"

	"termhost/ahp"
	"termhost/ptypool/vt"
)

// Place is a place in a history: behind the first Items of the items at the position At. It stays
// the same when the terminal goes on and when the host is restarted.
type Place struct {
	At    int64 `json:"at"`
	Items int   `json:"items"`
}

// Shown is what a terminal, or a recording of it, has shown from the beginning of its history up to
// a place, as a terminal shows it to which all items before it were given.
type Shown struct {
	Place     Place     // up to the last item
	Time      time.Time // of that item
	Truncated bool      // the history's beginning is gone
	Text      []byte    // see Lines
	screen    *vt.Terminal
}

// shownBytes bounds what lines take that have left the screen of a Shown, in bytes. More than the
// log has they are only if the program repeats itself on purpose.
const shownBytes = 64 << 20

// Show returns what a history shows up to a place, or if that is nil, to its end. At most lines of
// what has left the screen are kept.
func (read HistoryReader) Show(ctx context.Context, until *Place, lines int) (*Shown, *ahp.Error) {
	s := &Shown{}
	options := vt.Options{ScrollbackLines: lines, ScrollbackBytes: shownBytes}
	truncated, e := read(ctx, func(i *HistoryItem) bool {
		place := Place{i.At, 1}
		if s.screen != nil && s.Place.At == i.At {
			place.Items += s.Place.Items
		}
		if until != nil && (i.At > until.At || i.At == until.At && place.Items > until.Items) {
			return false
		}
		if s.screen == nil {
			s.screen = vt.New(max(i.Cols, 1), max(i.Rows, 1), options) // the first item is the size
		}
		s.Place, s.Time = place, i.Time
		s.take(i)
		return true
	})
	s.Truncated = truncated
	if s.screen == nil {
		s.screen = vt.New(defaultCols, defaultRows, options)
	}
	return s, e
}

// take draws an item.
func (s *Shown) take(i *HistoryItem) {
	switch i.Kind {
	case HistoryData:
		s.screen.Feed(i.Data, nil)
	case HistoryResized:
		s.screen.Resize(i.Cols, i.Rows)
	case HistoryGap:
		s.screen.Feed(i.gapText(), nil)
	}
}

// gapText is what is shown where output is missing. CAN ends whatever sequence was begun.
func (i *HistoryItem) gapText() []byte {
	return fmt.Appendf(nil, "\x18\x1b[m\r\n[termhost: %d bytes are missing here: %s]\r\n",
		i.Missing, i.Reason)
}

// Size returns the screen's size in cells.
func (s *Shown) Size() (cols, rows int) { return s.screen.Size() }

// Redraw returns what draws the screen, with what is kept of the lines before it, on a terminal of
// its size that is blank.
func (s *Shown) Redraw() []byte {
	return s.screen.AppendRedraw(nil,
		vt.Redraw{Update: true, Scrollback: s.screen.HistoryLines()})
}

// Lines returns how many lines there are, from the first one that is kept to the last one on the
// main screen that is not blank. Lines that were wrapped are one.
func (s *Shown) Lines() int { return bytes.Count(s.text(), []byte{'\n'}) }

// Cut reports whether lines before the first one are gone.
func (s *Shown) Cut() bool { return s.Truncated || s.screen.HistoryCut() }

// text returns the lines as plain text.
func (s *Shown) text() []byte {
	if s.Text == nil {
		s.Text = s.screen.AppendHistoryText([]byte{})
	}
	return s.Text
}

// Styled returns lines from one, counted from 0, to another one (exclusively), with their styles:
// see [vt.Terminal.AppendHistoryLines]. Each ends with a line feed.
func (s *Shown) Styled(from, to int) []byte {
	return s.screen.AppendHistoryLines(nil, from, min(to, s.Lines()))
}

// Find returns the numbers of the lines that match a pattern, counted from 0: the last most of
// them. more: there are others before.
func (s *Shown) Find(pattern *SearchPattern, most int) (lines []int, more bool) {
	text, line, before := s.text(), 0, 0
	pattern.begin(text)
	for from := 0; from < len(text); {
		start, found := pattern.next(text, from)
		if start == len(text) {
			break
		}
		line += bytes.Count(text[before:start], []byte{'\n'})
		before, from = start, start+len(found)+1
		lines = append(lines, line)
	}
	if more = len(lines) > most; more {
		lines = lines[len(lines)-most:]
	}
	return lines, more
}

// AllLines keeps all lines of a Shown that have left its screen.
const AllLines = math.MaxInt32
