package share

import (
	"bytes"

	"termhost/ahp"
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
}

// goOn ends a pause.
func (f *feed) goOn() {
	f.paused = false
	f.resizeLocked()
	f.endUnsaid()
	f.output(f.catchUp())
	f.noteLocked("sharing goes on")
	f.placeMark() // if what was paused showed itself, it may do so still
}

// endUnsaid tells watchers of the end of a command in the pause, but not how it
// ended.
func (f *feed) endUnsaid() {
	if f.unsaid {
		f.journal.add(ahp.TerminalCommandFinished{CommandID: f.running})
		f.running, f.unsaid = "", false
	}
}

// catchUp returns what brings watchers from where the pause began to where things
// are. A full-screen program is shown as it stands now; of what was printed
// otherwise, nothing is, nor of the main screen below it.
func (f *feed) catchUp() []byte {
	const reset = "\x1b[!p" // margins and charsets may have changed (DECSTR)
	switch now, before := f.screen.AltScreen(), f.shown.AltScreen(); {
	case now && before:
		return f.screen.AppendAlternate(nil)
	case now:
		return f.screen.AppendAlternate([]byte(reset + resumedMark + "\x1b[?1049h"))
	case before:
		return []byte(reset + "\x1b[?1049l" + resumedMark)
	}
	return []byte(reset + resumedMark)
}

// screenRows returns what the user sees, a line for each row, with colours.
func (f *feed) screenRows() [][]byte {
	text := bytes.TrimSuffix(f.screen.AppendText(nil, true), []byte("\n"))
	return bytes.Split(text, []byte("\n"))
}
