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

// activeLocked makes the viewer the one that was active last, unless it has no window or may never
// type. If it holds the claim, the terminal gets the size of its window.
func (a *Attach) activeLocked() {
	t := a.t
	if a.opts.ReadOnly || a.opts.Cols == 0 || a.closed {
		return
	}
	if n := len(t.windows); n == 0 || t.windows[n-1] != a {
		t.windows = append(slices.DeleteFunc(t.windows, a.is), a)
	}
	if a.holdsLocked() {
		t.fit()
	}
}

// typedLocked notes that p was typed at this viewer. With a key it becomes the one that was active
// last, and what was lent to it is in use; with a report, which its terminal has sent by itself, it
// does not.
func (a *Attach) typedLocked(p []byte) {
	t := a.t
	n := len(t.windows)
	elsewhere := n > 1 && t.windows[n-1] != a
	if !elsewhere && t.lent == nil {
		return // nothing depends on it
	}
	if keys, _ := keyboard.HasKeys(p); !keys {
		return
	}
	if elsewhere {
		a.activeLocked()
	}
	if a.holdsLocked() {
		t.typed = t.host.now()
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
	followed := t.followed() == a
	t.windows = slices.DeleteFunc(t.windows, a.is)
	if followed {
		t.fit()
	}
}

func (a *Attach) is(other *Attach) bool { return a == other }

// followed returns the viewer whose window the terminal follows: of the holder's viewers the one
// that was active last, or nil. One whose size is that of its Streams follows no window.
func (t *Terminal) followed() *Attach {
	if t.exact() {
		return nil
	}
	for _, a := range slices.Backward(t.windows) {
		if a.holdsLocked() && a.cols > 0 && a.rows > 0 {
			return a
		}
	}
	return nil
}

// fit gives the terminal the size of the window of the viewer that it follows, and the colours, if
// they are known. If it follows none it stays as it is. The Term's lock is held.
func (t *Terminal) fit() {
	a := t.followed()
	if a == nil {
		return
	}
	screen := t.term.Screen()
	if a.theme != nil {
		screen.SetTheme(a.theme[0], a.theme[1], a.theme[2])
	}
	t.giveSize(a.cols, a.rows)
}

// giveSize gives the terminal a size, if it has another. The Term's lock is held.
func (t *Terminal) giveSize(cols, rows int) {
	size := ahp.TerminalResized{Cols: min(cols, MaxCols), Rows: min(rows, MaxRows)}
	c, r := t.term.Screen().Size()
	if (c != size.Cols || r != size.Rows) && t.resize(size) == "" {
		t.append(size, nil)
	}
}

// SetTheme tells the colours of the viewer's own terminal. The program's queries are answered with
// them while the terminal follows this viewer.
func (a *Attach) SetTheme(fg, bg, cursor vt.RGB) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	a.theme = &theme{fg, bg, cursor}
	a.t.fit()
}
