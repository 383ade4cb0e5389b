package vt

// Options configures a Terminal. The zero value is usable: no scrollback, no
// trusted command lines, default colours.
type Options struct {
	// Nonce is the secret that the injected shell integration was given. A
	// command line (OSC 633;E) is believed only when it carries it; with an
	// empty Nonce none is.
	Nonce string

	// ScrollbackLines bounds the lines kept after they scroll off the main
	// screen; 0 or less keeps none.
	ScrollbackLines int

	// ScrollbackBytes bounds what these lines take, in bytes: about as many as
	// the program printed for them. 0 or less means 1 KiB a line.
	ScrollbackBytes int

	// Version is the host's version, for XTVERSION.
	Version string

	// Term is the terminal's TERM value, for XTGETTCAP's TN; empty means
	// xterm-256color.
	Term string

	// CellWidth and CellHeight are a cell's size in pixels, for CSI 14 t and
	// CSI 16 t; 0 means 8 by 16.
	CellWidth, CellHeight int
}

// Terminal is parser, shell-integration filter and screen of one terminal. It
// is not safe for concurrent use; the caller locks.
type Terminal struct {
	opts       Options
	cols, rows int

	parser
	shell shellState
	screen
	skimmer skimmer
}

// New returns a Terminal with an empty screen of cols by rows cells, each
// clamped to 1..MaxCols and 1..MaxRows.
func New(cols, rows int, o Options) *Terminal {
	if o.Term == "" {
		o.Term = "xterm-256color"
	}
	if o.CellWidth <= 0 || o.CellHeight <= 0 {
		o.CellWidth, o.CellHeight = 8, 16
	}
	t := &Terminal{opts: o, cols: clamp(cols, 1, MaxCols), rows: clamp(rows, 1, MaxRows)}
	t.screen.init(t.cols, t.rows, &t.opts)
	return t
}

// Size returns the screen's size in cells.
func (t *Terminal) Size() (cols, rows int) { return t.cols, t.rows }

// Title returns the title last set by OSC 0 or 2, at most MaxTitle bytes, free
// of control characters.
func (t *Terminal) Title() string { return t.title }

// Cursor returns the cursor's position, counted from 0, and whether the program
// shows it.
func (t *Terminal) Cursor() (x, y int, visible bool) {
	return t.cur.x, t.cur.y, t.modes.has(modeCursor)
}

// Scrolled returns how many lines have ever become scrollback. The difference of two
// readings is what a viewer missed in between, unless Resize was called.
func (t *Terminal) Scrolled() uint64 { return t.history.pushed }

// AltScreen reports whether the program is on the alternate screen.
func (t *Terminal) AltScreen() bool { return t.grid == &t.alt }

func clamp(n, lo, hi int) int { return max(lo, min(n, hi)) }
