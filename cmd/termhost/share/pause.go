package share

import (
	"bytes"

	"termhost/ahp"
)

// What watchers see of a pause.
const (
	pausedText  = "\x1b[0m\r\n[termhost: paused by its owner]\r\n"
	resumedText = "\x1b[0m\r\n[termhost: goes on]\r\n"
)

// toggle pauses sharing, or ends the pause, during which nothing is sent.
func (t *tee) toggle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.between(func() {
		if t.paused {
			t.unpause()
		} else {
			t.pause()
			t.notifyLocked(`sharing is paused: others see nothing; Ctrl-\ p goes on`)
		}
	})
}

// pause pauses sharing.
func (t *tee) pause() {
	t.output([]byte(pausedText))
	t.paused = true
}

// unpause ends a pause.
func (t *tee) unpause() {
	t.paused = false
	t.resizeLocked()
	t.finishCommand()
	t.output(t.catchUp())
	t.notifyLocked("sharing goes on")
	t.sendProbe() // if the terminal was shown inside itself, it may be so still
}

// finishCommand tells watchers about a command that ended during the pause, but not how it ended.
func (t *tee) finishCommand() {
	if t.ended {
		t.outbox.add(ahp.TerminalCommandFinished{CommandID: t.running})
		t.running, t.ended = "", false
	}
}

// catchUp returns what takes watchers from the beginning of the pause to the present. A full-screen
// program is shown as it is now. Nothing else that was printed during the pause is shown, and
// nothing that it left on the main screen.
func (t *tee) catchUp() []byte {
	const reset = "\x1b[!p" // DECSTR: the pause may have left margins and character sets changed
	switch now, before := t.screen.AltScreen(), t.watched.AltScreen(); {
	case now && before:
		return t.screen.AppendAlternate(nil)
	case now:
		return t.screen.AppendAlternate([]byte(reset + resumedText + "\x1b[?1049h"))
	case before:
		return []byte(reset + "\x1b[?1049l" + resumedText)
	}
	return []byte(reset + resumedText)
}

// screenRows returns what the user sees: each row as text with colours.
func (t *tee) screenRows() [][]byte {
	text := bytes.TrimSuffix(t.screen.AppendText(nil, true), []byte("\n"))
	return bytes.Split(text, []byte("\n"))
}
