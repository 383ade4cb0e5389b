package vt

import (
	"maps"
	"slices"
	"strconv"
)

// Sequences that undo what a program may have set on a viewer's terminal.
const (
	resetCharsets = "\x1b(B\x1b)B\x1b*B\x1b+B\x0f"

	// resetInput turns off every mode that concerns keys, mouse, paste and
	// focus.
	resetInput = "\x1b[?1;9;12;66;1000;1002;1003;1004;1005;1006;1015;1016;2004l\x1b>"

	// resetKitty empties the kitty keyboard stack of the screen shown, and
	// resetModify turns modifyOtherKeys off. Old terminals mistake them for
	// other functions, so they are only sent where they undo something.
	resetKitty  = "\x1b[<99u\x1b[=0u"
	resetModify = "\x1b[>4;0m"

	// resetDrawing puts what concerns drawing at its default, and resetMargins
	// what confines it, which also homes the cursor.
	resetDrawing = "\x1b]8;;\x1b\\\x1b[0m\x1b[0\"q\x1b[?5;45l\x1b[?7h\x1b[4;20l" + resetCharsets + "\x1b[?5W"
	resetMargins = "\x1b[?6l\x1b[r"
)

// AppendRestore appends what leaves a viewer's terminal as a shell expects it: main
// screen, modes off, default style and colours, cursor shown, in the first column
// below the text.
func (t *Terminal) AppendRestore(dst []byte) []byte {
	w := writer{tb: &t.table, dst: append(dst, can)}
	t.resetViewer(&w, nil)
	last := t.lastRow(t.cursorOnMain().y)
	w.csi("H", last+1)
	w.str("\r\n\x1b[?25h\x1b[0 q\x1b[?2026l")
	if t.touched.has(modeAltScroll) {
		w.str("\x1b[?1007h") // on is what most terminals begin with
	}
	if t.touched.has(modeGraphemes) {
		w.str("\x1b[?2027h")
	}
	return w.dst
}

// cursorOnMain returns the cursor's place on the main screen, now or after the
// program has left the alternate one.
func (t *Terminal) cursorOnMain() *cursor {
	if t.AltScreen() {
		return &t.main.saved
	}
	return &t.cur
}

// resetViewer brings a terminal of unknown state to the main screen with every
// mode, region and charset at its default; what users set differently (colours,
// keyboard, wheel) only if the program has changed it. The alternate screen is left
// with the cursor saved first, so that DECRC, which is part of mode 1049, finds it where it
// was if the main screen is shown already. then, unless nil, is called while the cursor
// is still where it was on the main screen, in the default style.
func (t *Terminal) resetViewer(w *writer, then func()) {
	t.resetKeys(w)
	w.str("\x1b7\x1b[?1049l")
	t.resetKeys(w)
	t.resetShown(w, then)
}

// resetShown is resetViewer for the screen that the viewer's terminal shows, once
// the keys are reset.
func (t *Terminal) resetShown(w *writer, then func()) {
	w.str(resetInput + resetDrawing)
	if then != nil {
		then()
	}
	w.str(resetMargins)
	if t.touched.has(modeBackarrow) {
		w.str("\x1b[?67l")
	}
	if t.touched.has(modeAltScroll) {
		w.str("\x1b[?1007l")
	}
	if t.colors.touched {
		w.str("\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\")
	}
	w.st, w.link, w.last = style{}, link{}, 0
}

// resetKeys undoes the keyboard protocols that the program has used.
func (t *Terminal) resetKeys(w *writer) {
	if t.kittyUsed {
		w.str(resetKitty)
	}
	if t.modifyUsed {
		w.str(resetModify)
	}
}

// modeString returns what sets or resets a private mode as modes has it.
func modeString(flag, modes modeSet, number int) string {
	if modes.has(flag) {
		return "\x1b[?" + strconv.Itoa(number) + "h"
	}
	return "\x1b[?" + strconv.Itoa(number) + "l"
}

// drawColors sets the colours that the program has changed.
func (t *Terminal) drawColors(w *writer) {
	hex := func(c uint32) string {
		s := strconv.FormatUint(uint64(c|setColor), 16)
		return "#" + s[len(s)-6:]
	}
	for _, i := range slices.Sorted(maps.Keys(t.colors.palette)) {
		w.str("\x1b]4;" + strconv.Itoa(int(i)) + ";" + hex(t.colors.palette[i]) + "\x1b\\")
	}
	for i, c := range t.colors.dynamic {
		if c != 0 {
			w.dst = appendDynamic(w.dst, 10+i, []byte(hex(c)))
		}
	}
}

// drawInputModes sets what decides how the terminal encodes keys, mouse, paste and
// focus, and how it shows the cursor.
func (t *Terminal) drawInputModes(w *writer) {
	for _, m := range [...]struct {
		flag   modeSet
		number int
	}{
		{modeCursorKeys, 1}, {modeBlink, 12}, {modeKeypad, 66}, {modeBackarrow, 67},
		{modeFocus, 1004}, {modeAltScroll, 1007}, {modePaste, 2004},
	} {
		if t.modes.has(m.flag) {
			w.str("\x1b[?" + strconv.Itoa(m.number) + "h")
		}
	}
	if t.modes.has(modeKeypad) {
		w.str("\x1b=") // for terminals without DECNKM
	}
	for _, n := range [...]uint16{t.mouse, t.mouseEnc} {
		if n != 0 {
			w.str("\x1b[?" + strconv.Itoa(int(n)) + "h")
		}
	}
	if t.modifyOther != 0 {
		w.str("\x1b[>4;" + strconv.Itoa(int(t.modifyOther)) + "m")
	}
	w.csi(" q", int(t.cursorStyle))
	w.str(modeString(modeCursor, t.modes, 25))
}

// drawKeyboard gives the screen shown on the viewer's terminal g's kitty keyboard
// stack.
func (w *writer) drawKeyboard(g *grid) {
	for i, flags := range g.kitty {
		switch {
		case i > 0:
			w.str("\x1b[>" + strconv.Itoa(int(flags)) + "u")
		case flags != 0:
			w.str("\x1b[=" + strconv.Itoa(int(flags)) + "u")
		}
	}
}
