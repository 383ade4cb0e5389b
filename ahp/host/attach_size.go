package host

import (
	"slices"
	"time"

	"termhost/ahp"
	"termhost/ptypool/keyboard"
	"termhost/ptypool/vt"
)

// theme is the colours of a viewer's own terminal: foreground, background, cursor.
type theme [3]vt.RGB

// viewers is who looks at a terminal through a window. It is guarded by the Term's lock.
type viewers struct {
	t          *Terminal
	windows    []*Attach // those that may type and have a window, the last active one at the end
	audience   []*Attach // all that have a window
	pulledBack uint64    // lines of scrollback that resizes brought back to the screen
}

// activeLocked makes the viewer the one that was active last, unless it has no window or may never
// type. If it holds the claim, the terminal gets the size of its window.
func (a *Attach) activeLocked() {
	t := a.t
	if a.opts.ReadOnly || a.opts.Cols == 0 || a.closed {
		return
	}
	if n := len(t.viewers.windows); n == 0 || t.viewers.windows[n-1] != a {
		t.viewers.windows = append(slices.DeleteFunc(t.viewers.windows, a.is), a)
	}
	if a.holdsLocked() {
		t.viewers.fit()
	}
}

// typedLocked notes that p was typed at this viewer. With a key it becomes the one that was active
// last, and what was lent to it is in use; with a report, which its terminal has sent by itself, it
// does not.
func (a *Attach) typedLocked(p []byte) {
	t := a.t
	n := len(t.viewers.windows)
	elsewhere := n > 1 && t.viewers.windows[n-1] != a
	if !elsewhere && t.keyboard.lent == nil {
		return // nothing depends on it
	}
	if keys, _ := keyboard.HasKeys(p); !keys {
		return
	}
	if elsewhere {
		a.activeLocked()
	}
	if a.holdsLocked() {
		t.keyboard.typed = t.host.now()
	}
}

// drawTime is how long a program is given to draw itself anew before it gets the key that has
// changed its size. vim 9.0 does not draw a key that comes while it does so until the next one
// comes. Nobody notices so short a delay of one key.
const drawTime = 100 * time.Millisecond

// typeLocked types p, which begins with what is held, once active has made this viewer the one that
// types. If that has changed the terminal's size, it fails with ErrBusy until the program has had
// time to draw.
func (a *Attach) typeLocked(p []byte, active func()) error {
	screen := a.t.term.Screen()
	cols, rows := screen.Size()
	active()
	if c, r := screen.Size(); c != cols || r != rows {
		drawn := make(chan struct{})
		time.AfterFunc(drawTime, func() { close(drawn) })
		a.fitted = drawn
	}
	if a.fitted != nil {
		select {
		case <-a.fitted:
			a.fitted = nil
		default:
			return ErrBusy
		}
	}
	err := a.t.typeIn(a.step(), p)
	if err != ErrBusy {
		a.held = nil
	}
	return err
}

// leaveLocked takes the viewer's window out of those that count. If the terminal had its size, it
// gets that of another viewer of the holder's.
func (a *Attach) leaveLocked() {
	t := a.t
	followed := t.viewers.followed() == a
	t.viewers.windows = slices.DeleteFunc(t.viewers.windows, a.is)
	if followed {
		t.viewers.fit()
	}
}

func (a *Attach) is(other *Attach) bool { return a == other }

// followed returns the viewer whose window the terminal follows: of the holder's viewers the one
// that was active last, or nil.
func (v *viewers) followed() *Attach {
	for _, a := range slices.Backward(v.windows) {
		if a.holdsLocked() && a.cols > 0 && a.rows > 0 {
			return a
		}
	}
	return nil
}

// fit gives the terminal the size of the window of the viewer that it follows, and the colours, if
// they are known. If it follows none it stays as it is. The Term's lock is held.
func (v *viewers) fit() {
	t := v.t
	a := v.followed()
	if a == nil {
		return
	}
	screen := t.term.Screen()
	if a.theme != nil {
		screen.SetTheme(a.theme[0], a.theme[1], a.theme[2])
	}
	size := ahp.TerminalResized{Cols: min(a.cols, MaxCols), Rows: min(a.rows, MaxRows)}
	cols, rows := screen.Size()
	if (cols != size.Cols || rows != size.Rows) && t.resize(size) == "" {
		t.log.append(size, nil)
	}
}

// SetTheme tells the colours of the viewer's own terminal. The program's queries are answered with
// them while the terminal follows this viewer.
func (a *Attach) SetTheme(fg, bg, cursor vt.RGB) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	a.theme = &theme{fg, bg, cursor}
	a.t.viewers.fit()
}
