package vt

import (
	"bytes"

	"termhost/ptypool/keyboard"
)

// Options configures a Terminal. The zero value is usable: no scrollback, no trusted command lines,
// default colours.
type Options struct {
	// Nonce is the secret that the injected shell integration was given: marks of commands (OSC
	// 633 and 133) count only if they carry it as their last parameter. With an empty Nonce those
	// of any program count, except that no command line (OSC 633;E) is believed.
	Nonce string

	// ScrollbackLines bounds the lines kept after they scroll off the main screen; 0 or less keeps
	// none.
	ScrollbackLines int

	// ScrollbackBytes bounds what these lines take, in bytes: about as many as the program printed
	// for them. 0 or less means 1 KiB a line.
	ScrollbackBytes int

	// Version is the host's version, for XTVERSION.
	Version string

	// Term is the terminal's TERM value, for XTGETTCAP's TN; empty means xterm-256color.
	Term string

	// CellWidth and CellHeight are a cell's size in pixels, for CSI 14 t and CSI 16 t; 0 means 8 by
	// 16.
	CellWidth, CellHeight int
}

// Terminal is parser, shell-integration filter and screen of one terminal. It puts the parts
// together: it gives text to the screen, and each sequence that the parser finds to the part that
// it is for. It is not safe for concurrent use; the caller locks.
type Terminal struct {
	parser  parser  // finds where sequences end
	output  output  // what viewers get, and events
	screen  screen  // what the program has drawn, and the modes
	titles  titles  // the window's title
	colors  colors  // that the program has changed
	shell   shell   // shell integration
	queries queries // answers

	pointerUsed  bool // the program has ever set the pointer's shape (OSC 22)
	progressUsed bool // or shown progress (OSC 9;4)

	flood fastScroll // takes lines past the screen that nobody will see
	csi   csiSeq     // the control sequence that is being applied
}

// New returns a Terminal with an empty screen of cols by rows cells, each clamped to 1..MaxCols and
// 1..MaxRows.
func New(cols, rows int, o Options) *Terminal {
	t := &Terminal{queries: newQueries(&o), shell: shell{nonce: o.Nonce}}
	t.screen.init(clamp(cols, 1, MaxCols), clamp(rows, 1, MaxRows), &o)
	return t
}

// Resize changes the screen's size, clamped as in New. The main screen's text is wrapped anew:
// lines that no longer fit at the top become scrollback, and when there is room below the text's
// end scrollback comes back. The alternate screen is cut or extended; its programs repaint it.
func (t *Terminal) Resize(cols, rows int) {
	t.screen.resize(clamp(cols, 1, MaxCols), clamp(rows, 1, MaxRows))
}

// Size returns the screen's size in cells.
func (t *Terminal) Size() (cols, rows int) { return t.screen.width, t.screen.height() }

// Title returns the title last set by OSC 0 or 2, at most MaxTitle bytes, free of control
// and invisible characters.
func (t *Terminal) Title() string { return t.titles.current }

// Cursor returns the cursor's position, counted from 0, and whether the program shows it.
func (t *Terminal) Cursor() (x, y int, visible bool) {
	return t.screen.cur.x, t.screen.cur.y, t.screen.modes.has(modeCursor)
}

// maxLineText, in bytes, bounds what LineText returns: more than a question takes.
const maxLineText = 1 << 10

// LineText returns what stands before the cursor on its line, which may begin in rows above that
// were wrapped; of a very long line it is the end.
func (t *Terminal) LineText() string {
	s := &t.screen
	y := s.cur.y
	for y > 0 && s.grid.rows[y-1].wrapped && (s.cur.y-y)*s.width < maxLineText {
		y--
	}
	var text []byte
	for ; y <= s.cur.y; y++ {
		cells := s.grid.rows[y].cells
		if y == s.cur.y {
			cells = cells[:min(s.cur.x, len(cells))]
		}
		for _, c := range cells {
			text = s.table.text(text, c)
		}
	}
	text = bytes.TrimRight(text, " ")
	return string(text[max(0, len(text)-maxLineText):])
}

// Margins returns the first and the last row of the scroll region, counted from 0, and whether the
// rows of cursor positions count from its top (DECSTBM, DECOM).
func (t *Terminal) Margins() (top, bottom int, originMode bool) {
	return t.screen.grid.top, t.screen.grid.bottom, t.screen.cur.originMode
}

// KeyModes returns the modes that say how a terminal sends keys.
func (t *Terminal) KeyModes() keyboard.Modes {
	return t.screen.modes.keyboard(t.screen.grid.kitty.flags())
}

// ReportsFocus returns whether the program has asked for reports of the focus.
func (t *Terminal) ReportsFocus() bool { return t.screen.modes.has(modeFocus) }

// AltScreen reports whether the program is on the alternate screen.
func (t *Terminal) AltScreen() bool { return t.screen.altShown() }

// HistoryLines returns how many lines of scrollback are kept. Resize may take some of them back to
// the screen.
func (t *Terminal) HistoryLines() int { return t.screen.history.lines }

// Scrolled returns how many lines have ever become scrollback. The difference of two readings is
// what a viewer missed in between, unless Resize was called.
func (t *Terminal) Scrolled() uint64 { return t.screen.history.pushed }

// HistoryCut reports whether the oldest lines of scrollback have been dropped to keep within the
// bounds, since it was cleared.
func (t *Terminal) HistoryCut() bool { return t.screen.history.cut }

// AppendText appends what the screen shows now, one line per row, without the blanks at the end of
// a line. With ansi it carries colours and other styles as SGR sequences and hyperlinks as OSC 8,
// and nothing else that acts on a terminal.
func (t *Terminal) AppendText(dst []byte, ansi bool) []byte {
	return t.screen.appendText(dst, ansi)
}

// AppendHistoryText appends the scrollback and the main screen as plain text. A line that was
// wrapped at the right margin is one line again; blanks at the end of a line and blank lines at the
// end are left out. Every line ends with a line feed. What a program shows on the alternate screen
// is not part of it.
func (t *Terminal) AppendHistoryText(dst []byte) []byte {
	return t.screen.appendHistoryText(dst, nil)
}

// AppendHistoryTextWhile is AppendHistoryText for a scrollback that takes long: it calls goOn every
// few hundred rows, and returns what there is so far when that returns false.
func (t *Terminal) AppendHistoryTextWhile(dst []byte, goOn func() bool) []byte {
	return t.screen.appendHistoryText(dst, goOn)
}

// HistoryTextLines returns how many lines [Terminal.AppendHistoryText] appends. It calls goOn,
// unless that is nil, as AppendHistoryTextWhile does.
func (t *Terminal) HistoryTextLines(goOn func() bool) int {
	return t.screen.historyTextLines(goOn)
}

// AppendHistoryLines appends the lines from (counted from 0) to to (exclusively) of what
// [Terminal.AppendHistoryText] appends, with their styles as SGR sequences and hyperlinks as OSC 8.
// Each begins and ends without any.
func (t *Terminal) AppendHistoryLines(dst []byte, from, to int) []byte {
	return t.screen.appendHistoryLines(dst, from, to, nil)
}

// AppendHistoryLinesWhile is to AppendHistoryLines what AppendHistoryTextWhile is to
// AppendHistoryText.
func (t *Terminal) AppendHistoryLinesWhile(dst []byte, from, to int, goOn func() bool) []byte {
	return t.screen.appendHistoryLines(dst, from, to, goOn)
}

func clamp(n, lo, hi int) int { return max(lo, min(n, hi)) }
