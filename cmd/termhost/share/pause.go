package share

import (
	"bytes"
	"fmt"
)

// What watchers see of a pause.
const (
	pausedMark  = "\x1b[0m\r\n[termhost: paused by its owner]\r\n"
	resumedMark = "\x1b[0m\r\n[termhost: goes on]\r\n"
)

// toggle pauses sharing, or goes on with it. While it is paused nothing is sent.
func (f *feed) toggle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.between(func() {
		if f.paused {
			f.goOn()
		} else {
			f.pause()
			f.noteLocked(`sharing is paused: others see nothing; Ctrl-\ p goes on`)
		}
	})
}

// pause pauses sharing.
func (f *feed) pause() {
	f.output([]byte(pausedMark))
	f.paused = true
	f.running = ""
}

// goOn ends a pause.
func (f *feed) goOn() {
	f.paused = false
	f.resizeLocked()
	f.output(f.catchUp())
	f.noteLocked("sharing goes on")
	f.placeMark() // if what was paused showed itself, it may do so still
}

// catchUp returns what brings watchers from where the pause began to where things
// are. A full-screen program is shown as it stands now; of what was printed
// otherwise, nothing is.
func (f *feed) catchUp() []byte {
	dst := []byte("\x1b[!p") // margins and charsets may have changed (DECSTR)
	if !f.screen.AltScreen() {
		if f.shown.AltScreen() {
			dst = append(dst, "\x1b[?1049l"...)
		}
		return append(dst, resumedMark...)
	}
	if !f.shown.AltScreen() {
		dst = append(dst, resumedMark+"\x1b[?1049h"...)
	}
	dst = append(dst, "\x1b[H\x1b[2J"...)
	for y, row := range f.screenRows() {
		dst = fmt.Appendf(dst, "\x1b[%d;1H\x1b[0m%s", y+1, row)
	}
	x, y, visible := f.screen.Cursor()
	dst = fmt.Appendf(dst, "\x1b[0m\x1b[%d;%dH", y+1, x+1)
	if !visible {
		dst = append(dst, "\x1b[?25l"...)
	}
	return dst
}

// screenRows returns what the user sees, a line for each row, with colours.
func (f *feed) screenRows() [][]byte {
	text := bytes.TrimSuffix(f.screen.AppendText(nil, true), []byte("\n"))
	return bytes.Split(text, []byte("\n"))
}
