package history

import (
	"bytes"
	"math"
	"slices"
	"time"

	"termhost/ptypool/vt"
)

// Shown is what a terminal, or a recording, showed at a place of its history: the screen after all
// items before that place, with scrollback.
type Shown struct {
	Place     Place     // up to the last item
	Time      time.Time // of that item
	Truncated bool      // the history's beginning is gone
	screen    *vt.Screen
	work      Work
	lines     int // see Lines; -1: they have not been counted
}

// AllLines keeps the whole scrollback of a [Shown].
const AllLines = math.MaxInt32

// DefaultCols and DefaultRows are the size of a screen of unknown size.
const (
	DefaultCols = 80
	DefaultRows = 24
)

// Show returns the screen at a place of the log; nil: at its end, at the time now. It keeps at most
// lines of the scrollback. Methods of the Shown belong to the work, too: after its end their
// results are incomplete. Errors are those of [Log.Read]. Show never returns nil.
func (l *Log) Show(w Work, until *Place, lines int, now time.Time) (*Shown, error) {
	within := func(p Place) bool { return until == nil || !p.behind(*until) }
	r := newReader(l, w, nil)
	r.visit = func(i *Item) bool { return within(r.place.next(i.At)) }
	r.shown = &canvas{keeps: lines}
	err := r.read(func(s *state) bool { return within(s.place) })
	s := &Shown{Truncated: r.truncated, screen: r.shown.screen, work: w, lines: -1}
	if s.screen == nil {
		s.screen = r.shown.blank(DefaultCols, DefaultRows)
	} else {
		s.Place, s.Time = r.place, r.time
		if until == nil {
			s.screen.Tick(now, nil)
		}
	}
	return s, err
}

// Size returns the screen's size in cells.
func (s *Shown) Size() (cols, rows int) { return s.screen.Size() }

// Redraw returns a sequence that draws the screen, and the kept scrollback, on a blank terminal of
// its size.
func (s *Shown) Redraw() []byte {
	return s.screen.AppendRedraw(nil,
		vt.Redraw{Update: true, Scrollback: s.screen.HistoryLines(), Still: true})
}

// Lines returns the number of lines from the first one that is kept to the last one on the main
// screen that is not blank. A wrapped line counts as one.
func (s *Shown) Lines() int {
	if s.lines < 0 {
		defer s.work.Rest()
		s.lines = s.screen.HistoryTextLines(goesOn(s.work))
	}
	return s.lines
}

// Cut reports whether lines before the first one are gone.
func (s *Shown) Cut() bool { return s.Truncated || s.screen.HistoryCut() }

// Styled returns the lines of the range [from, to), counted from 0, with their styles: see
// [vt.Screen.AppendHistoryLines]. Each ends with a line feed.
func (s *Shown) Styled(from, to int) []byte {
	to = min(to, s.Lines())
	defer s.work.Rest()
	return s.screen.AppendHistoryLinesWhile(nil, from, to, goesOn(s.work))
}

// Commands returns where the commands of the shell stand in the lines, oldest first: those that
// were on the main screen when they began.
func (s *Shown) Commands() []vt.CommandLines {
	defer s.work.Rest()
	return s.screen.HistoryCommands(goesOn(s.work))
}

// Find returns the numbers, from 0, of the last lines that match a pattern, and how many matches
// each has: see [Pattern.Count]. They have at most most matches together. more: there are others
// before these.
func (s *Shown) Find(pattern *Pattern, most int) (lines, counts []int, more bool) {
	defer s.work.Rest()
	text, line, before := s.screen.AppendHistoryTextWhile(nil, goesOn(s.work)), 0, 0
	var block Block
	block.Set(text)
	var matching [][]byte
	for from := 0; from < len(text); {
		start, found, err := pattern.Next(s.work, &block, from)
		if err != nil || start == len(text) {
			break
		}
		line += bytes.Count(text[before:start], []byte{'\n'})
		before, from = start, start+len(found)+1
		lines, matching = append(lines, line), append(matching, found)
	}
	first := len(lines)
	for ; first > 0 && most > 0; first-- {
		n := pattern.Count(s.work, matching[first-1], most+1)
		if more = n > most; more {
			n = most
		}
		counts, most = append(counts, n), most-n
	}
	slices.Reverse(counts)
	return lines[first:], counts, more || first > 0
}

// canvas is a screen that items are drawn on. A nil canvas shows nothing.
type canvas struct {
	screen *vt.Screen // nil: no item has come
	keeps  int        // lines of scrollback, at most
}

// shownBytes bounds the memory of a canvas's scrollback, in bytes. Scrollback is larger than the
// log only if a program provokes it.
const shownBytes = 64 << 20

func (c *canvas) blank(cols, rows int) *vt.Screen {
	return vt.New(cols, rows, vt.Options{ScrollbackLines: c.keeps, ScrollbackBytes: shownBytes,
		HideFrames: true})
}

// take draws an item.
func (c *canvas) take(i *Item) {
	if c == nil {
		return
	}
	if c.screen == nil {
		c.screen = c.blank(max(i.Cols, 1), max(i.Rows, 1)) // the first item is the size
	}
	c.screen.Tick(i.Time, nil)
	i.draw(c.screen)
}

// lines returns how many lines of scrollback are kept; -1: there is no screen.
func (c *canvas) lines() int {
	if c == nil {
		return -1
	}
	return c.keeps
}

func (c *canvas) clone() *canvas {
	if c == nil {
		return nil
	}
	return &canvas{c.screen.Clone(), c.keeps}
}

func (c *canvas) memory() int {
	if c == nil || c.screen == nil {
		return 0
	}
	return c.screen.Memory()
}

// spill moves the scrollback out of memory, if that is possible.
func (c *canvas) spill(save Spill) {
	if c != nil && c.screen != nil {
		_ = c.screen.SpillHistory(save) // if it fails, the scrollback counts as memory
	}
}
