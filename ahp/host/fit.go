package host

import (
	"slices"

	"termhost/ahp"
	"termhost/ptypool/vt"
)

// theme is the colours of a viewer's terminal: foreground, background, cursor.
type theme [3]vt.RGB

// activeLocked makes the viewer the one that was active last, unless it has no
// window or may never type, and gives the terminal its window if it holds the
// claim.
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

// typedLocked notes that p was typed at this viewer: with a key, not with what a
// terminal sends by itself, it becomes the one that was active last.
func (a *Attach) typedLocked(p []byte) {
	if n := len(a.t.windows); n > 1 && a.t.windows[n-1] != a {
		if keys, _ := realKeys(p); keys {
			a.activeLocked()
		}
	}
}

// leaveLocked takes the viewer's window out of the account. The terminal goes
// back to that of another viewer of the holder's.
func (a *Attach) leaveLocked() {
	t := a.t
	fitted := t.fitted() == a
	t.windows = slices.DeleteFunc(t.windows, a.is)
	if fitted {
		t.fit()
	}
}

func (a *Attach) is(other *Attach) bool { return a == other }

// fitted returns that of the holder's viewers that was active last, or nil.
func (t *Terminal) fitted() *Attach {
	for _, a := range slices.Backward(t.windows) {
		if a.holdsLocked() && a.cols > 0 && a.rows > 0 {
			return a
		}
	}
	return nil
}

// fit gives the terminal the window, and the colours if they are known, of that
// of the holder's viewers that was active last. Without one it stays as it is.
// The Term's lock is held.
func (t *Terminal) fit() {
	a := t.fitted()
	if a == nil {
		return
	}
	screen := t.term.Screen()
	if a.theme != nil {
		screen.SetTheme(a.theme[0], a.theme[1], a.theme[2])
	}
	size := ahp.TerminalResized{Cols: min(a.cols, MaxCols), Rows: min(a.rows, MaxRows)}
	if cols, rows := screen.Size(); (cols != size.Cols || rows != size.Rows) && t.resize(size) == "" {
		t.ch.Append(size, nil)
	}
}

// SetTheme tells the colours of the viewer's terminal, with which the program's
// queries are answered as long as this viewer is the holder's that was active
// last.
func (a *Attach) SetTheme(fg, bg, cursor vt.RGB) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	a.theme = &theme{fg, bg, cursor}
	a.t.fit()
}

// Took returns, once, from whom a key took the claim; "" if none did since it
// was asked last.
func (a *Attach) Took() string {
	if a.took.Load() == nil { // asked with every key
		return ""
	}
	if name := a.took.Swap(nil); name != nil {
		return *name
	}
	return ""
}

// HeldByOther returns the name of the principal that holds the claim, if it is
// not the viewer's.
func (a *Attach) HeldByOther() (name string, other bool) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	h := &a.t.holder
	return h.name, h.principal != "" && h.principal != a.conn.principal.ID
}
