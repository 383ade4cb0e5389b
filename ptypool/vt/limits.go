package vt

// Bounds of what a Screen stores for a program. Ordinary programs reach none of them.
const (
	// MaxCols and MaxRows bound the size of a screen, in cells. The host accepts no larger window;
	// New and Resize clamp to them.
	MaxCols = 1000
	MaxRows = 500

	// MaxTitle is the longest title kept, in bytes. Titles are shown in lists and window frames; a
	// longer one is cut at a rune boundary.
	MaxTitle = 256

	// maxOSC bounds a held-back operating system command, in bytes. OSC 52 carries clipboards; 256
	// KiB of base64 is 192 KiB of text, more than most terminals accept. A longer one is removed up
	// to its end.
	maxOSC = 256 << 10

	// maxNotification bounds a desktop notification (OSC 9, 99 and 777), in bytes. No terminal
	// shows that much.
	maxNotification = 4 << 10

	// maxDCS bounds a device control string, in bytes. Only DECRQSS and XTGETTCAP are understood,
	// and both are short.
	maxDCS = 4 << 10

	// maxString is how long a string (OSC, DCS, APC, SOS, PM) may become, in bytes, until a line
	// end in it counts as its end: a program has printed its beginning only, and what comes now is
	// text. Pictures and clipboards may be longer.
	maxString = 64 << 10

	// maxCSI bounds a control sequence, in bytes: 32 parameters need fewer than 400.
	maxCSI = 1 << 10

	// maxParams is the number of CSI parameters read; further ones are ignored, as in xterm (30)
	// and the VT500 (16).
	maxParams = 32

	// maxParam is the largest value of a CSI parameter; larger ones are clamped, here and for
	// viewers, whose terminals may take very long to repeat a character 2^31 times. It changes
	// nothing on a screen of at most 1000 cells.
	maxParam = 9999

	// keepHeld is the largest hold-back buffer, in bytes, that is kept between sequences. Shell
	// integration needs a few hundred bytes.
	keepHeld = 1 << 10

	// maxCluster bounds one grapheme cluster, in bytes. The longest emoji sequences in Unicode take
	// about 45; stacked combining characters beyond the bound are left out of the screen, not out
	// of the data.
	maxCluster = 64

	// maxURI bounds a hyperlink's or working directory's URI, in bytes, as VTE and iTerm2 do.
	maxURI = 2083

	// maxHyperlinkID bounds the id of a hyperlink, in bytes, as VTE does.
	maxHyperlinkID = 250

	// maxCommandLine bounds the command line of OSC 633;E, in bytes.
	maxCommandLine = 64 << 10

	// maxKittyStack is the depth of the kitty keyboard flag stack of one screen. The protocol
	// demands a bound without naming one; when the stack is full the oldest entry is dropped.
	maxKittyStack = 16

	// maxTitleStack is the depth of the title stack (XTWINOPS 22 and 23), as in xterm.
	maxTitleStack = 10

	// historyLineBytes times Options.ScrollbackLines is the default bound of the scrollback in
	// bytes, so that lines full of hyperlinks cannot multiply it. A line of coloured text takes 100
	// to 150 bytes.
	historyLineBytes = 1 << 10

	// historyBlock is the size of one allocation of scrollback, in bytes: small beside an idle
	// terminal's budget, large beside a line.
	historyBlock = 16 << 10
)
