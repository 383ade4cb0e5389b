package viewer

import (
	"time"

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

// Commanded handles the key after the prefix.
func (l *inputLoop) Commanded(k rune, form, raw []byte) {
	if l.leaving {
		return
	}
	l.w.post(event{kind: dismiss})
	l.w.a.Fresh()
	switch {
	case k == rune(l.filter.Prefix):
		l.Typed(form)
	case keyIn(raw) == keyboard.Key{Code: keyboard.Escape}: // the person has changed their mind
	case k == 'd':
		l.leaving = true
		l.filter.Stop() // what follows is nobody's
		l.w.post(event{kind: leave})
	case k == 'c':
		l.claim()
	case k == 'r':
		l.handBack()
	case k == 'a':
		l.ask()
	case k == 'n':
		l.nextWanted()
	case k == 'l':
		l.pick()
	case k == keyboard.Tab, k == '\t':
		if !l.goBack("") && !l.backElsewhere() {
			l.w.say(notice("there is no other terminal to go back to"))
		}
	case k == '+':
		l.another()
	case k == '[':
		l.lookBack()
	case k == 'g':
		l.guard()
	case k == 's':
		l.w.post(event{kind: turnStatus})
	case k == '?':
		l.modal = true
		l.w.say(l.fullHelp().untilKey())
	default:
		if l.filter.Pasting() {
			l.drop = dropPaste
		}
		l.w.say(notice("no such key after %s: it was not typed; %s shows the keys",
			keyboard.ControlName(l.w.s.Prefix), l.w.s.key('?')))
	}
}

// claim takes the keyboard.
func (l *inputLoop) claim() {
	if err := l.w.a.Claim(); err != nil {
		l.w.say(notice("%s", l.w.s.explain(err)))
		return
	}
	if name := l.w.a.Took(); name != "" {
		l.w.say(notice("you have the keyboard; %s hands it back to %s",
			l.w.s.key('r'), host.Printable(name)))
		return
	}
	l.w.say(notice("you have the keyboard"))
}

// handBack hands the keyboard to the first who has asked for it, or else back to its former holder.
func (l *inputLoop) handBack() {
	back, err := l.w.s.Conn.HandBack(l.w.t, l.w.a, false)
	if err == nil && back.To == "" {
		err = host.ErrNoPrior
	}
	switch {
	case err != nil:
		l.w.say(notice("%s", l.w.s.explain(err)))
	case back.Asked:
		l.w.say(notice("you gave %s the keyboard", host.Printable(back.To)))
	default:
		l.w.say(notice("handed back to %s", host.Printable(back.To)))
	}
}

// ask asks the holder for the keyboard.
func (l *inputLoop) ask() {
	asked, err := l.w.s.Conn.Ask(l.w.t, l.w.a)
	name := host.Printable(asked.Holder)
	switch {
	case err != nil:
		l.w.say(notice("%s", l.w.s.explain(err)))
	case asked.Here:
		l.w.say(notice("you asked %s for the keyboard", name))
	default:
		l.w.say(notice("%s is not here, and will be asked on coming back within ten minutes", name))
	}
}

// nextWanted switches to the next terminal that needs attention, or shows again what the person has
// to decide here.
func (l *inputLoop) nextWanted() {
	list, err := l.w.s.Conn.Wanting()
	if err != nil {
		l.w.say(notice("%s", l.w.s.explain(err)))
		return
	}
	x, there, away := l.nextAnywhere(list)
	switch {
	case away:
		l.goElsewhere(there.Host, there.Name, there.Text)
	case len(list) == 0 && l.held():
		l.aside = ""
		l.w.post(event{kind: askAgain})
	case len(list) == 0:
		l.w.say(notice("no other terminal wants you"))
	default:
		if l.goTo(x.Terminal, l.w.s.wants(x)) {
			l.trail.gone[x.Terminal] = time.Now()
		}
	}
}

// held reports whether the person has to decide something about this terminal.
func (l *inputLoop) held() bool {
	_, ok := l.w.a.Asking()
	return ok
}

// guard turns the terminal's guard on or off.
func (l *inputLoop) guard() {
	on := !l.w.t.Guarded()
	if err := l.w.s.Conn.SetGuard(l.w.t, on); err != nil {
		l.w.say(notice("%s", l.w.s.explain(err)))
		return
	}
	l.w.say(notice("%s", GuardText(l.w.s.called(l.w.t), on)))
}

// GuardText says that the guard of a terminal of that name was turned on or off, and what that
// means.
func GuardText(name string, on bool) string {
	if on {
		return name + " is guarded: what agents type waits for your yes"
	}
	return name + " is not guarded: agents type without asking"
}
