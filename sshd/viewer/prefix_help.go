package viewer

import (
	"fmt"
	"strings"

	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
)

// prefixHelp shows who has the keyboard and the keys in one line.
func prefixHelp(prefix byte, has string) overlay {
	keys := []string{"d detach", "c take it", "r hand back", "a ask", "g guard", "n next", "l list",
		"Tab last", "+ new", "[ look back", "s status", "? help",
		keyboard.ControlName(prefix) + " sends it"}
	for i, k := range keys {
		keys[i] = strings.ReplaceAll(k, " ", together)
	}
	return overlay{lines: []string{has + ":  " + strings.Join(keys, "  ")}}
}

// has says who has the keyboard.
func (w *viewer) has() string {
	if w.a.Holds() {
		return "you have the keyboard"
	}
	name, _ := w.a.HeldByOther()
	return host.Printable(name) + " has the keyboard"
}

// fullHelp explains the keys. In 12 rows and 60 columns there is room for all of it, also behind a
// NAME or a holder that takes a second line.
func (l *inputLoop) fullHelp() overlay {
	w := l.w
	p := keyboard.ControlName(w.s.Prefix)
	claim := "your keys reach the program"
	if name, other := w.a.HeldByOther(); other {
		claim = host.Printable(name) + " has the keyboard"
	} else if !w.a.Holds() {
		claim = "this attach is read-only"
	}
	return overlay{lines: []string{
		fmt.Sprintf("terminal %s (%s). After %s:", w.s.called(w.t), claim, p),
		"  d  detach; the terminal goes on; s  status line on or off",
		"  c  take the keyboard; a  ask for it",
		"  r  hand it to whoever asks, or back",
		"  g  guard: agents type after your yes only, or no longer",
		"  n  go to the terminal that has wanted you longest",
		"  [  look back at what it has printed: search, copy",
		"  l  pick one from a list; Tab  the one before; +  a new one",
		"  " + p + "  send it to the program; Esc  nothing",
		"Any key closes this.",
	}}
}
