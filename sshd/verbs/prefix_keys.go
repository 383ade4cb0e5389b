package verbs

import (
	"fmt"
	"strings"

	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
)

// Prefixed awaits the key that follows the prefix.
func (l *inputLoop) Prefixed() {
	if l.modal {
		l.modal = false
		l.w.post(event{kind: dismiss})
	}
	l.w.post(event{kind: awaitCommand})
}

// Commanded does what the key after the prefix stands for.
func (l *inputLoop) Commanded(k rune, form, raw []byte) {
	if l.leaving {
		return
	}
	l.w.post(event{kind: dismiss})
	switch {
	case k == rune(l.filter.Prefix):
		l.Typed(form)
	case keyIn(raw) == keyboard.Key{Code: keyboard.Escape}: // the person has thought better of it
	case k == 'd':
		l.leaving = true
		l.w.post(event{kind: leave})
	case k == 'c':
		l.claim()
	case k == 'r':
		l.handBack()
	case k == 'a':
		l.ask()
	case k == 'n':
		l.wanted()
	case k == 'l':
		l.pick()
	case k == keyboard.Tab, k == '\t':
		if !l.back("") {
			l.show(notice("there is no other terminal to go back to"))
		}
	case k == '+':
		l.another()
	case k == 'g':
		l.guard()
	case k == '?':
		l.modal = true
		l.show(l.w.fullHelp().untilKey())
	default:
		l.Typed(form)
		l.Typed(raw)
	}
}

// claim takes the keyboard.
func (l *inputLoop) claim() {
	if err := l.w.a.Claim(); err != nil {
		l.show(notice("%s", l.w.v.explain(err)))
		return
	}
	if name := l.w.a.Took(); name != "" {
		l.show(notice("you have the keyboard; %s hands it back to %s",
			l.w.v.key('r'), host.Printable(name)))
		return
	}
	l.show(notice("you have the keyboard"))
}

// handBack gives the keyboard to the first who has asked for it, or else back to its former holder.
func (l *inputLoop) handBack() {
	name, err := l.w.a.GiveAsked()
	if name != "" {
		l.show(notice("you gave %s the keyboard", host.Printable(name)))
		return
	}
	if err == nil {
		name, err = l.w.a.HandBack()
	}
	if err != nil {
		l.show(notice("%s", l.w.v.explain(err)))
		return
	}
	l.show(notice("handed back to %s", host.Printable(name)))
}

// ask asks the holder for the keyboard.
func (l *inputLoop) ask() {
	name, here, err := l.w.a.Ask()
	name = host.Printable(name)
	switch {
	case err != nil:
		l.show(notice("%s", l.w.v.explain(err)))
	case here:
		l.show(notice("you asked %s for the keyboard", name))
	default:
		l.show(notice("%s is not here, and is asked on coming within ten minutes", name))
	}
}

// prefixHelp shows who has the keyboard and the keys in one line.
func prefixHelp(prefix byte, has string) overlay {
	keys := []string{"d detach", "c claim", "r hand back", "a ask", "g guard", "n next", "l list",
		"Tab last", "+ new", "? help", keyboard.ControlName(prefix) + " sends it"}
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

// fullHelp explains the keys.
func (w *viewer) fullHelp() overlay {
	p := keyboard.ControlName(w.v.Prefix)
	claim := "your keys reach the program"
	if name, other := w.a.HeldByOther(); other {
		claim = "held by " + host.Printable(name)
	} else if !w.a.Holds() {
		claim = "this attach is read-only"
	}
	return overlay{lines: []string{
		fmt.Sprintf("terminal %s (%s). After %s:", w.t.Name(), claim, p),
		"  d  detach; the terminal goes on",
		"  c  claim: take the keyboard",
		"  r  hand the claim to who asks, or back to whom it was taken from",
		"  a  ask the holder for it",
		"  g  guard: what agents type waits for your yes, or no longer",
		"  n  go to the terminal that has wanted you longest",
		"  l  pick a terminal from a list",
		"  Tab  go back to the terminal before",
		"  +  make a terminal",
		"  " + p + "  send it to the program",
		"  Esc  nothing",
		"Any key closes this.",
	}}
}
