package viewer

import (
	"bytes"
	"io"
	"strconv"
)

// Viewers' terminals report the mouse in cells, also where the program wants pixels (mode 1016): a
// program's output does not say otherwise. One that can report pixels, in a window whose pixels are
// known, is told to here, behind what has set the mode of the program.

// mouseModes is what the viewer's terminal reports of the mouse, and writes to it.
type mouseModes struct {
	out    io.Writer
	pixels bool // it reports pixels
	undone bool // something was written since that may have ended that
}

func (m *mouseModes) Write(p []byte) (int, error) {
	if m.pixels && (bytes.Contains(p, []byte("1006")) || bytes.Contains(p, []byte("1016"))) {
		m.undone = true
	}
	return m.out.Write(p)
}

// mouseDue reports whether the terminal's mode is to be set, and to what: see
// [host.Attach.MousePixels].
func (w *viewer) mouseDue() (due, pixels bool, encoding int) {
	if !w.draws {
		return false, false, 0
	}
	pixels, encoding = w.a.MousePixels()
	return pixels != w.mouse.pixels || pixels && w.mouse.undone, pixels, encoding
}

// mouseMode returns what has the terminal report the mouse in pixels, or in the mode encoding.
func (w *viewer) mouseMode(pixels bool, encoding int) string {
	w.a.ReportsPixels(pixels)
	w.mouse.pixels, w.mouse.undone = pixels, false
	switch {
	case pixels:
		return "\x1b[?1016h"
	case encoding == 0:
		return "\x1b[?1016l"
	}
	return "\x1b[?1016l\x1b[?" + strconv.Itoa(encoding) + "h"
}
