package viewer

import (
	"slices"
	"time"

	"termhost/ptypool/keyboard"
)

// The keys of a list are letters, as in top(1) and htop(1). Behind / they are a filter, until an
// arrow returns to the list, which keeps it.

// key handles a key. What takes its time, or calls the viewer, runs without the lock.
func (l *list) key(k keyboard.Key) verdict {
	l.mu.Lock()
	l.touched = time.Now()
	then := l.react(k)
	l.mu.Unlock()
	if then == nil {
		return dialogStays
	}
	return then()
}

// react handles a key and returns what is to be done without the lock, or nil.
func (l *list) react(k keyboard.Key) (then func() verdict) {
	l.note = ""
	answers := k == keyboard.Key{Code: 'y'} || k == keyboard.Key{Code: 'n'}
	if l.ask != nil && !(answers || l.wide) && l.ask.cancel() {
		l.sayLocked("nothing was decided, because another key followed")
	}
	switch {
	case l.help:
		l.help = false
		return nil
	case l.wide && l.ask != nil:
		return l.readAsk(k)
	case l.form.kind != formNone:
		return l.fill(k)
	}
	r, some := l.row()
	switch {
	case leaves(k), k == keyboard.Key{Code: 'q'} && !l.typing:
		return func() verdict { return dialogEnds }
	case k.Code == keyboard.Escape && (l.o.picks || !l.o.whole):
		return func() verdict { return dialogEnds }
	case k.Code == keyboard.Escape:
		l.clearOne()
	case k.Code == keyboard.Enter && some:
		return l.choose(r)
	case l.moved(k):
		l.typing = false
	case k.Code == keyboard.Backspace, k.Mods == keyboard.Ctrl && k.Code == 'u':
		l.typing = l.typing && l.filter != ""
		l.setFilter(edited(l.filter, k))
	case !k.Types():
	case l.typing:
		l.setFilter(edited(l.filter, k))
	case k.Code == '/':
		l.typing = true
	case k.Code == '?':
		l.help = true
	case k.Mods == 0:
		return l.act(k.Code, r, some)
	}
	return nil
}

// leaves reports whether k leaves a list of either kind.
func leaves(k keyboard.Key) bool {
	return k.Mods == keyboard.Ctrl && (k.Code == 'c' || k.Code == 'd' || k.Code == 'g')
}

// clearOne ends the filter or, if there is none, the marks.
func (l *list) clearOne() {
	switch {
	case l.typing || l.filter != "":
		l.typing = false
		l.setFilter("")
	case len(l.marked) > 0:
		clear(l.marked)
	default:
		l.sayLocked("q leaves")
	}
}

// act handles a letter that is no part of a filter.
func (l *list) act(letter rune, r *Row, some bool) (then func() verdict) {
	switch {
	case letter == 'o':
		l.sort = (l.sort + 1) % orders
		l.all = slices.Clone(l.all)
		l.arrange(l.all, false)
		l.sayLocked("%s", l.sort)
	case !some:
		l.sayLocked("? shows the keys")
	case r.gone:
		l.sayLocked("%s has gone", r.Shown())
	case letter == ' ':
		l.mark(r)
	case letter == 'y', letter == 'n', letter == 'v':
		return l.answer(letter, r)
	case letter == 'x':
		l.form = form{kind: formEnd, rows: l.targets()}
	case letter == 'g':
		return l.guard(l.targets())
	case letter == 's':
		return l.line(l.targets())
	case letter == 'r':
		l.form = form{kind: formName, rows: []*Row{r}}
	case letter == 't' && r.Elsewhere:
		l.sayLocked("its own host gives it a title")
	case letter == 't':
		l.form = form{kind: formTitle, rows: []*Row{r}}
	default:
		if l.ask != nil {
			l.ask.strays()
		}
		l.sayLocked("? shows the keys")
	}
	return nil
}

// mark marks a row, or takes the mark away, and goes to the next one.
func (l *list) mark(r *Row) {
	if l.marked[r.id()] {
		delete(l.marked, r.id())
	} else {
		l.marked[r.id()] = true
	}
	l.moved(keyboard.Key{Code: keyboard.Down})
}

// answer answers the question below the list, or shows it in the whole window.
func (l *list) answer(letter rune, r *Row) (then func() verdict) {
	ask := l.ask
	switch {
	case ask == nil:
		l.sayLocked("there is nothing to decide about %s", r.Shown())
	case letter == 'v':
		l.wide = true
	case !l.drew:
		l.sayLocked("v shows what is to be decided")
	default:
		return func() verdict {
			ask.key(keyboard.Key{Code: letter})
			return dialogStays
		}
	}
	return nil
}

// readAsk handles a key at a question that has the whole window.
func (l *list) readAsk(k keyboard.Key) (then func() verdict) {
	ask := l.ask
	if leaves(k) || k.Mods == 0 &&
		(k.Code == keyboard.Escape || k.Code == 'q' || k.Code == 'v') {
		ask.cancel()
		l.wide = false
		return nil
	}
	return func() verdict {
		ask.key(k)
		return dialogStays
	}
}

// moved selects another row, and reports whether the key does that.
func (l *list) moved(k keyboard.Key) bool {
	match := l.matching()
	by, ctrl := 0, k.Mods == keyboard.Ctrl
	switch c := k.Code; {
	case c == keyboard.Down, ctrl && (c == 'n' || c == 'j'), c == 'j' && k.Mods == 0 && !l.typing:
		by = 1
	case c == keyboard.Up, ctrl && (c == 'p' || c == 'k'), c == 'k' && k.Mods == 0 && !l.typing:
		by = -1
	case c == keyboard.PageDown:
		by = l.page
	case c == keyboard.PageUp:
		by = -l.page
	case c == keyboard.Home:
		by = -len(match)
	case c == keyboard.End:
		by = len(match)
	default:
		return false
	}
	if len(match) > 0 {
		l.current = match[max(min(l.index(match)+by, len(match)-1), 0)].id()
	}
	return true
}

// choose goes to a row's terminal.
func (l *list) choose(r *Row) (then func() verdict) {
	switch {
	case r.gone:
		l.sayLocked("%s has gone", r.Shown())
		return nil
	case !r.Away.IsZero():
		l.sayLocked("%s is %s", r.Host, stateOf(r))
		return nil
	}
	return func() verdict { return l.o.goes(r) }
}
