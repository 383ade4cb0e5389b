package vt

import (
	"bytes"
	"time"

	"termhost/ptypool/keyboard"
)

// Options configures a Screen. The zero value is usable: no scrollback, no trusted command lines,
// default colours.
type Options struct {
	// Nonce is the secret of our shell integration: marks of commands (OSC 633 and 133) count only
	// with it as their last parameter. With an empty Nonce the marks of any program count, but no
	// command line (OSC 633;E) does.
	Nonce string

	// ScrollbackLines bounds the lines kept after they scroll off the main screen; 0 or less keeps
	// none.
	ScrollbackLines int

	// ScrollbackBytes bounds the memory of these lines, in bytes, which is about what the program
	// printed for them. 0 or less means 1 KiB per line.
	ScrollbackBytes int

	// Version is the host's version, for XTVERSION.
	Version string

	// Term is the terminal's TERM value, for XTGETTCAP's TN; empty means xterm-256color.
	Term string

	// CellWidth and CellHeight are a cell's size in pixels, by which pictures are measured while
	// that of the window is unknown; 0 means 8 by 16.
	CellWidth, CellHeight int

	// HideFrames has AppendText, AppendOver, and redraws that are marked as still, not show what a
	// program draws between CSI ? 2026 h and l before it is complete, but what was there before.
	// The caller calls Tick and Due.
	HideFrames bool

	// CharacterWidths: mode 2027 is unknown until SetClusters says otherwise.
	CharacterWidths bool

	// Pictures has the screen keep the pictures that the program draws, for [Screen.Image].
	Pictures bool
}

// Screen emulates one terminal: parser, shell-integration filter and screen model. It passes text
// to the model, and each sequence that the parser finds to the part that handles it. It is not safe
// for concurrent use; the caller locks.
type Screen struct {
	parser  parser  // finds where sequences end
	output  output  // what viewers get, and events
	model   model   // what the program has drawn, and the modes
	titles  titles  // the window's title
	colors  colors  // that the program has changed
	shell   shell   // shell integration
	queries queries // answers
	window  window
	note    kittyNote
	copied  copied // last
	zmodem  zmodem // the beginning of a transfer

	pictures pictures // that the program has drawn
	frame    frame    // that it is drawing

	now      time.Time // as Tick has told
	stringAt time.Time // when the string that is not ended has begun

	progress Progress // of the program

	pointerUsed  bool // the program has ever set the pointer's shape (OSC 22)
	progressUsed bool // or shown progress (OSC 9;4)

	flood fastScroll // moves lines to the scrollback that are never seen
	csi   csiSeq     // the control sequence that is being applied
}

// New returns a blank Screen of cols by rows cells, each clamped to 1..MaxCols and
// 1..MaxRows.
func New(cols, rows int, o Options) *Screen {
	t := &Screen{queries: newQueries(&o), shell: shell{nonce: o.Nonce},
		pictures: pictures{keeps: o.Pictures}, frame: frame{hides: o.HideFrames}}
	t.model.init(clamp(cols, 1, MaxCols), clamp(rows, 1, MaxRows), &o)
	t.model.modes.knowsClusters = !o.CharacterWidths
	return t
}

// Resize changes the screen's size, clamped as in New. The main screen's text is wrapped again:
// lines that no longer fit become scrollback, and if there is room below the text, scrollback comes
// back. The alternate screen is cut or extended; its programs repaint it.
func (s *Screen) Resize(cols, rows int) {
	cols, rows = clamp(cols, 1, MaxCols), clamp(rows, 1, MaxRows)
	s.model.resize(cols, rows)
	if s.frame.before != nil {
		s.frame.before.resize(cols, rows)
	}
}

// Size returns the screen's size in cells.
func (s *Screen) Size() (cols, rows int) { return s.model.width, s.model.height() }

// Title returns the title last set by OSC 0 or 2, at most MaxTitle bytes, without control and
// invisible characters.
func (s *Screen) Title() string { return s.titles.current }

// Cursor returns the cursor's position, counted from 0, and whether the program shows it.
func (s *Screen) Cursor() (x, y int, visible bool) {
	return s.model.cur.x, s.model.cur.y, s.model.modes.has(modeCursor)
}

// ShownCursor returns the cursor's position on the screen that AppendText appends, counted from 0.
func (s *Screen) ShownCursor() (x, y int) {
	m := s.shown()
	return m.cur.x, m.cur.y
}

// maxLineText, in bytes, bounds what LineText returns: more than a question takes.
const maxLineText = 1 << 10

// LineText returns the text before the cursor on its line, which may begin in wrapped rows above;
// of a very long line, its end.
func (s *Screen) LineText() string {
	m := &s.model
	y := m.cur.y
	for y > 0 && m.grid.rows[y-1].wrapped && (m.cur.y-y)*m.width < maxLineText {
		y--
	}
	var text []byte
	for ; y <= m.cur.y; y++ {
		cells := m.grid.rows[y].cells
		if y == m.cur.y {
			cells = cells[:min(m.cur.x, len(cells))]
		}
		for _, c := range cells {
			text = m.table.text(text, c)
		}
	}
	text = bytes.TrimRight(text, " ")
	return string(text[max(0, len(text)-maxLineText):])
}

// Margins returns the first and the last row of the scroll region, counted from 0, and whether the
// rows of cursor positions count from its top (DECSTBM, DECOM).
func (s *Screen) Margins() (top, bottom int, originMode bool) {
	return s.model.grid.top, s.model.grid.bottom, s.model.cur.originMode
}

// KeyModes returns the modes that say how a terminal sends keys.
func (s *Screen) KeyModes() keyboard.Modes {
	return s.model.modes.keyboard(s.model.grid.kitty.flags())
}

// MouseEncoding returns the mode in which viewers' terminals report the mouse: 1005, 1006, 1015, or
// 0 for that of X10. See also MousePixels.
func (s *Screen) MouseEncoding() int { return int(s.model.modes.mouseEncoding) }

// ReportsFocus returns whether the program has asked for reports of the focus.
func (s *Screen) ReportsFocus() bool { return s.model.modes.has(modeFocus) }

// PastesBracketed reports whether the program has asked for brackets around what is pasted (mode
// 2004).
func (s *Screen) PastesBracketed() bool { return s.model.modes.has(modePaste) }

// AltScreen reports whether the program is on the alternate screen.
func (s *Screen) AltScreen() bool { return s.model.altShown() }

// HistoryLines returns how many lines of scrollback are kept. Resize may move some of them back to
// the screen.
func (s *Screen) HistoryLines() int { return s.model.history.lines }

// Scrolled returns how many lines have ever become scrollback. The difference of two results is how
// many lines a viewer missed in between, unless Resize was called.
func (s *Screen) Scrolled() uint64 { return s.model.history.pushed }

// HistoryCut reports whether the oldest lines of scrollback have been dropped to keep within the
// bounds, since it was cleared.
func (s *Screen) HistoryCut() bool { return s.model.history.cut }

// AppendText appends the text of the screen, one line per row, without trailing blanks. With ansi
// it has colours and other styles as SGR sequences, hyperlinks as OSC 8, and no other sequences.
func (s *Screen) AppendText(dst []byte, ansi bool) []byte {
	return s.shown().appendText(dst, ansi)
}

// AppendHistoryText appends the scrollback and the main screen as plain text. It joins wrapped
// lines, and leaves out trailing blanks, blank lines at the end, and the alternate screen. Every
// line ends with a line feed.
func (s *Screen) AppendHistoryText(dst []byte) []byte {
	return s.model.appendHistoryText(dst, nil)
}

// AppendHistoryTextWhile is AppendHistoryText for a scrollback that takes long: it calls more every
// few hundred rows, and returns what it has so far when that returns false.
func (s *Screen) AppendHistoryTextWhile(dst []byte, more func() bool) []byte {
	return s.model.appendHistoryText(dst, more)
}

// HistoryTextLines returns how many lines [Screen.AppendHistoryText] appends. It calls more,
// unless that is nil, as AppendHistoryTextWhile does.
func (s *Screen) HistoryTextLines(more func() bool) int {
	return s.model.historyTextLines(more)
}

// AppendHistoryLines appends the lines [from, to), counted from 0, of what
// [Screen.AppendHistoryText] appends, with their styles as SGR sequences and hyperlinks as OSC 8.
// Each line begins and ends in the default style.
func (s *Screen) AppendHistoryLines(dst []byte, from, to int) []byte {
	return s.model.appendHistoryLines(dst, from, to, nil)
}

// AppendHistoryLinesWhile is to AppendHistoryLines what AppendHistoryTextWhile is to
// AppendHistoryText.
func (s *Screen) AppendHistoryLinesWhile(dst []byte, from, to int, more func() bool) []byte {
	return s.model.appendHistoryLines(dst, from, to, more)
}

func clamp(n, lo, hi int) int { return max(lo, min(n, hi)) }
