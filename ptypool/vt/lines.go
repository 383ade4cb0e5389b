package vt

// HistoryLines returns how many lines of scrollback are kept. Resize may take some
// of them back to the screen.
func (t *Terminal) HistoryLines() int { return t.history.lines }
