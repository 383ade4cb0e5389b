package viewer

import (
	"cmp"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ptypool/vt/width"
	"termhost/sshd/wording"
)

// A status line is a row of its own below the window in which a program is shown: the pty has one
// row less. What a notice or the mark would lay over the screen is in it. The program's output
// would disturb it, by a reset or another scroll region, so the screen is drawn: see
// [host.Attach.KeepBelow].

// Status says whether a peer has a status line, in all terminals that it looks at. Its methods may
// be called concurrently. A nil Status is off, and stays so.
type Status struct{ on atomic.Bool }

// NewStatus returns a Status that is on or off.
func NewStatus(on bool) *Status {
	s := &Status{}
	s.on.Store(on)
	return s
}

// On reports whether there is a status line, if the window has room for it.
func (s *Status) On() bool { return s != nil && s.on.Load() }

// The values of keyboard.StatusVariable.
const (
	StatusLine = "line"
	StatusOff  = "off"
)

// String returns the variable's value.
func (s *Status) String() string {
	if s.On() {
		return StatusLine
	}
	return StatusOff
}

// leastRows is how many rows a window must have for a status line.
const leastRows = 3

// Fit sets in o the size that the program gets of the peer's window, which it returns, and the row
// of the status line.
func (s *Session) Fit(o *host.AttachOptions) (window Window) {
	window = s.Window()
	part, below := s.part(window)
	o.Cols, o.Rows, o.Pixels, o.Below = part.Cols, part.Rows, part.Pixels, below
	return window
}

// part returns the part of a window in which a program is shown, and how many rows are below.
func (s *Session) part(w Window) (part Window, below int) {
	if !s.Status.On() || !s.Draws() || w.Rows < leastRows {
		return w, 0
	}
	part = w
	part.Rows--
	part.Pixels.Height = w.Pixels.Height * part.Rows / w.Rows
	return part, 1
}

// shownIn returns the part of the present window in which a program is shown.
func (s *Session) shownIn() Window {
	part, _ := s.part(s.Window())
	return part
}

// statusLine is the status line of a viewer. The loop uses it.
type statusLine struct {
	rows int // that it takes: 0 or 1
	page int // of the notice that is shown in it
}

func (l *statusLine) shown() bool { return l.rows > 0 }

// fit has the program be shown in its part of a window.
func (w *viewer) fit(window Window) { w.window, w.status.rows = w.s.part(window) }

// turnStatus turns the status line on or off.
func (w *viewer) turnStatus() {
	window := w.s.Window()
	switch {
	case !w.draws || w.s.Status == nil:
		return
	case !w.s.Status.On() && window.Rows < leastRows:
		w.cover(notice("the window is too small for a status line"))
		return
	}
	w.s.Status.on.Store(!w.s.Status.On())
	w.resize, w.fitted = true, time.Time{}
}

// overScreen returns the overlay that lies over the screen: a notice in the status line does not.
func (w *viewer) overScreen() overlay {
	if w.status.shown() && w.overlay.timed() {
		return overlay{}
	}
	return w.overlay
}

// A notice that is longer than the row is read in pages.

// pages returns the pieces of a notice that fit in the row.
func (w *viewer) pages(o *overlay) (lines []string) {
	for _, text := range o.lines {
		lines = wrap(lines, host.Printable(text), statusRoom(w.window))
	}
	return lines
}

// statusTime is how long a notice is shown in the row.
func (w *viewer) statusTime(o *overlay) time.Duration {
	return max(o.lasts, time.Duration(len(w.pages(o)))*noticeTime)
}

// turns returns when the next page of o is shown; zero: it has no more, or is not in the row.
func (l *statusLine) turns(o *overlay, now time.Time) time.Time {
	if !l.shown() || !o.timed() || o.until.IsZero() || o.until.Sub(now) <= noticeTime {
		return time.Time{}
	}
	return o.until.Add(-o.until.Sub(now).Truncate(noticeTime))
}

// turned reports whether another page of o is to be shown than before.
func (l *statusLine) turned(o *overlay, now time.Time) bool {
	if !l.shown() || !o.timed() || o.until.IsZero() {
		return false
	}
	was := l.page
	l.page = int(o.until.Sub(now) / noticeTime)
	return was != l.page
}

// statusRoom is the width of the text, between two blanks.
func statusRoom(w Window) int { return max(lineRoom(w)-2, 0) }

// appendStatus appends what draws the status line.
func (w *viewer) appendStatus(dst []byte) []byte {
	var text string
	if o := &w.overlay; o.timed() {
		pages := w.pages(o)
		text = pages[max(len(pages)-1-w.status.page, 0)]
	} else {
		text = w.statusText()
	}
	dst = fmt.Appendf(append(dst, overBegin...), "\x1b[%d;1H \x1b[%[1]d;1H\x1b[0;7m\x1b[2K",
		w.window.Rows+1)
	dst = append(dst, padded(" "+text, lineRoom(w.window))...)
	return append(dst, overEnd...)
}

// appendNoStatus appends what takes the status line away.
func (w *viewer) appendNoStatus(dst []byte) []byte {
	return fmt.Appendf(dst, "\x1b7\x1b[%d;1H\x1b[0m\x1b[2K\x1b8", w.window.Rows+1)
}

// statusText is the text of the status line: NAME and program, and on the right the number of
// terminals that want the person, the progress, and the holder of the keyboard. Where room is
// short, parts are left out, the program first.
func (w *viewer) statusText() string {
	const between = " \u00b7 "
	info := w.t.Info(w.s.Conn.Principal())
	room := statusRoom(w.window)
	name := host.Printable(w.s.called(w.t))
	name = width.Cut(name, room, "\u2026")
	used := width.String(name)
	var right []string
	for _, text := range w.statusParts(info) {
		if n := width.String(between) + width.String(text); text != "" && used+n <= room {
			right, used = append(right, text), used+n
		}
	}
	end := strings.Join(right, between)
	about := host.Printable(statusAbout(info))
	if left := room - used - 2; about != "" && about != name && left >= leastAbout {
		name += "  " + width.Cut(about, left, "\u2026")
	}
	gap := room - width.String(name) - width.String(end)
	return name + strings.Repeat(" ", max(gap, 0)) + end
}

// leastAbout is in how many cells something can be said of what runs.
const leastAbout = 8

// statusParts are the parts on the right of the status line, the most important first; "": none.
func (w *viewer) statusParts(i host.Info) []string {
	wants := ""
	if w.att.count > 0 {
		wants = wantYou(w.att.count)
	}
	if i.State == host.StateExited {
		return []string{wants, wording.State(i)}
	}
	return []string{wants, w.statusKeyboard(), progressText(i.Progress)}
}

// statusAbout says what runs: the command, or else the title or the program.
func statusAbout(i host.Info) string {
	line, title := "", i.Title
	if c := i.LastCommand; c != nil && c.Running {
		line = c.LineText()
	}
	if title == i.Name {
		title = ""
	}
	return cmp.Or(line, title, i.Program)
}

// progressText says what a program says of its progress.
func progressText(p ahp.Progress) string {
	switch p.State {
	case "":
		return ""
	case "indeterminate":
		return "works"
	case "error", "paused":
		return fmt.Sprintf("%d %% %s", p.Percent, p.State)
	}
	return fmt.Sprintf("%d %%", p.Percent)
}

// statusKeyboard says who has the keyboard.
func (w *viewer) statusKeyboard() string {
	switch name, other := w.a.HeldByOther(); {
	case other:
		return host.Printable(name) + " has the keyboard"
	case w.readOnly:
		return "read-only"
	case w.a.Holds():
		return "your keyboard"
	}
	return ""
}
