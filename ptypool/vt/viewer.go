package vt

import "strconv"

// Sequences that reset what a program may have set on a viewer's terminal.
const (
	resetCharsets = "\x1b(B\x1b)B\x1b*B\x1b+B\x0f"

	// resetInput turns off every mode that concerns keys, mouse, paste and focus.
	resetInput = "\x1b[?1;9;12;66;1000;1002;1003;1004;1005;1006;1015;1016;2004l\x1b>"

	// resetKitty empties the kitty keyboard stack of the screen shown, and resetModify turns off
	// modifyOtherKeys. Old terminals mistake them for other functions, so they are sent only if the
	// program has used these protocols.
	resetKitty  = "\x1b[<99u\x1b[=0u"
	resetModify = "\x1b[>4;0m"

	// resetDrawing resets styles and drawing modes to their defaults. resetMargins resets the
	// margins, which also homes the cursor.
	resetDrawing = "\x1b]8;;\x1b\\\x1b[0m\x1b[0\"q\x1b[?5;45l\x1b[?7h\x1b[4;20l" + resetCharsets +
		clustersOff + "\x1b[?5W"
	resetMargins = "\x1b[?6l\x1b[r"

	// resetWriting is resetDrawing for what decides how text is written, and no more.
	resetWriting = "\x1b]8;;\x1b\\\x1b[0m\x1b[0\"q\x1b[?7h\x1b[4;20l" + resetCharsets +
		clustersOff

	// clustersOn and clustersOff set and reset mode 2027. Terminals without it ignore both.
	clustersOn  = "\x1b[?2027h"
	clustersOff = "\x1b[?2027l"

	// leaveAlternate shows the main screen, and does not move the cursor there.
	leaveAlternate = "\x1b[?1049h\x1b[?1049l"

	// resetPointer resets the shape of the mouse pointer, and resetProgress ends a progress bar.
	// Terminals that do not know OSC 9;4 take it for a notification, so both are sent only if the
	// program has used them.
	resetPointer  = "\x1b]22;\x1b\\"
	resetProgress = "\x1b]9;4;0\x1b\\"
)

// NoProgress has a viewer's terminal that shows progress (OSC 9;4) show none.
const NoProgress = resetProgress

// AppendRestore appends a sequence that leaves a viewer's terminal as a shell expects it: main
// screen, modes off, default style and colours, the cursor visible in the first column below the
// text; pointer shape and progress bar reset if the program has used them.
func (s *Screen) AppendRestore(dst []byte) []byte {
	m := &s.model
	w := writer{tb: &m.table, dst: append(dst, can)}
	if s.pointerUsed {
		w.str(resetPointer) // in kitty each screen has its own pointer
	}
	s.resetViewer(&w, nil)
	if s.pointerUsed {
		w.str(resetPointer)
	}
	if s.progressUsed {
		w.str(resetProgress)
	}
	w.csi("H", m.lastRow(m.cursorOnMain().y)+1)
	w.str("\r\n\x1b[?25h\x1b[0 q\x1b[?2026l")
	if m.modes.touched&modeAltScroll != 0 {
		w.str("\x1b[?1007h") // most terminals begin with it on
	}
	w.str(clustersOn) // as in most terminals that know the mode
	return w.dst
}

// cursorOnMain returns the cursor on the main screen: the present one, or the one that leaving the
// alternate screen restores.
func (m *model) cursorOnMain() *cursor {
	if m.altShown() {
		return &m.main.saved
	}
	return &m.cur
}

// resetViewer brings a terminal of unknown state to the main screen, with every mode, region and
// charset at its default; it resets what users configure (colours, keyboard, wheel) only if the
// program has changed it. It enters the alternate screen before it leaves it, because leaving
// restores the cursor that entering has saved, also where the main screen is shown already: tmux
// would move the cursor to where it was when another program entered, and what stands below it
// would be drawn over. then, unless nil, is called while the cursor is still where it was on the
// main screen, in the default style.
func (s *Screen) resetViewer(w *writer, then func()) {
	s.model.modes.resetKeys(w)
	w.str(leaveAlternate)
	s.model.modes.resetKeys(w)
	s.resetShown(w, then)
}

// resetShown is resetViewer for the screen that the viewer's terminal shows, once the keys are
// reset.
func (s *Screen) resetShown(w *writer, then func()) {
	w.str(resetInput + resetDrawing)
	if then != nil {
		then()
	}
	w.str(resetMargins)
	s.model.modes.resetTouched(w)
	w.dst = s.AppendOwnColors(w.dst)
	w.st, w.hyperlink, w.last = style{}, hyperlink{}, 0
}

// AppendOwnColors appends a sequence that restores the own colours of a viewer's terminal, if the
// program has changed some.
func (s *Screen) AppendOwnColors(dst []byte) []byte {
	if !s.colors.touched {
		return dst
	}
	return append(dst, "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\"...)
}

// resetKeys turns off the keyboard protocols that the program has used.
func (m *modes) resetKeys(w *writer) {
	if m.kittyUsed {
		w.str(resetKitty)
	}
	if m.modifyUsed {
		w.str(resetModify)
	}
}

// resetTouched turns off the modes which users configure that the program has changed.
func (m *modes) resetTouched(w *writer) {
	if m.touched&modeBackarrow != 0 {
		w.str("\x1b[?67l")
	}
	if m.touched&modeAltScroll != 0 {
		w.str("\x1b[?1007l")
	}
}

// modeString returns the sequence that sets or resets a private mode.
func modeString(on bool, number int) string {
	if on {
		return "\x1b[?" + strconv.Itoa(number) + "h"
	}
	return "\x1b[?" + strconv.Itoa(number) + "l"
}

// drawInput sets the modes by which the terminal encodes keys, mouse, paste and focus, and shows
// the cursor.
func (m *modes) drawInput(w *writer) {
	m.drawKeys(w)
	w.str(modeString(m.has(modeCursor), 25))
}

// drawKeys is drawInput without showing or hiding the cursor.
func (m *modes) drawKeys(w *writer) {
	for _, mode := range [...]struct {
		flag   modeSet
		number int
	}{
		{modeCursorKeys, 1}, {modeBlink, 12}, {modeKeypad, 66}, {modeBackarrow, 67},
		{modeFocus, 1004}, {modeAltScroll, 1007}, {modePaste, 2004},
	} {
		if m.has(mode.flag) {
			w.str(modeString(true, mode.number))
		}
	}
	if m.has(modeKeypad) {
		w.str("\x1b=") // for terminals without DECNKM
	}
	for _, n := range [...]uint16{m.mouse, m.mouseEncoding} {
		if n != 0 {
			w.str(modeString(true, int(n)))
		}
	}
	if m.modifyOther != 0 {
		w.str("\x1b[>4;" + strconv.Itoa(int(m.modifyOther)) + "m")
	}
	w.csi(" q", int(m.cursorStyle))
}

// drawKeyboard sets the kitty keyboard stack of the screen that the viewer's terminal shows.
func (w *writer) drawKeyboard(stack kittyStack) {
	for i, flags := range stack {
		switch {
		case i > 0:
			w.str("\x1b[>" + strconv.Itoa(int(flags)) + "u")
		case flags != 0:
			w.str("\x1b[=" + strconv.Itoa(int(flags)) + "u")
		}
	}
}
