package viewer

import (
	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
)

// The keys of a picker. At first j, k, x and r are keys like the arrows, as in tmux's lists; any
// other letter, or /, begins a filter, as in fzf, and all letters after it continue it. The arrows
// return to the list and its keys, and keep the filter.

// key handles a key. It calls the viewer without the lock.
func (p *picker) key(k keyboard.Key) verdict {
	p.mu.Lock()
	p.refresh()
	list := p.matching()
	var t host.Info
	if len(list) > 0 {
		t = list[p.index(list)]
		p.current = t.URI
	}
	then := p.react(k, list, t)
	p.listed = p.listed.Add(-listAge) // shows the effect at once
	p.mu.Unlock()
	if then == nil {
		return dialogStays
	}
	return then()
}

// react handles a key and returns what is to be done without the lock, or nil.
func (p *picker) react(k keyboard.Key, list []host.Info, t host.Info) (then func() verdict) {
	some, subject := len(list) > 0, p.subject
	switch p.form {
	case formEnd:
		p.form = formNone
		if k == (keyboard.Key{Code: 'y'}) {
			return func() verdict { return p.endIt(subject) }
		}
		return nil
	case formTitle:
		return p.edit(k)
	}
	switch {
	case k.Code == keyboard.Escape, k.Mods == keyboard.Ctrl && (k.Code == 'c' || k.Code == 'g'):
		return func() verdict { return dialogEnds }
	case k.Code == keyboard.Enter && some:
		return func() verdict { return p.choose(t) }
	case p.moved(k, list):
		p.typing = false
	case k.Code == keyboard.Backspace, k.Mods == keyboard.Ctrl && k.Code == 'u':
		p.filter = edited(p.filter, k)
		p.typing = p.filter != ""
	case !k.Types():
	case p.typing:
		p.filter = edited(p.filter, k)
	case k.Code == '/':
		p.typing = true
	case k.Code == 'x' && some:
		p.form, p.subject = formEnd, t
	case k.Code == 'r' && some:
		p.form, p.subject, p.answer = formTitle, t, ""
	default:
		p.typing = true
		p.filter = edited(p.filter, k)
	}
	return nil
}

// moved selects another terminal, and reports whether the key does that.
func (p *picker) moved(k keyboard.Key, list []host.Info) bool {
	by, ctrl := 0, k.Mods == keyboard.Ctrl
	switch c := k.Code; {
	case c == keyboard.Down, ctrl && (c == 'n' || c == 'j'), c == 'j' && k.Mods == 0 && !p.typing:
		by = 1
	case c == keyboard.Up, ctrl && (c == 'p' || c == 'k'), c == 'k' && k.Mods == 0 && !p.typing:
		by = -1
	case c == keyboard.PageDown:
		by = p.rows
	case c == keyboard.PageUp:
		by = -p.rows
	case c == keyboard.Home:
		by = -len(list)
	case c == keyboard.End:
		by = len(list)
	default:
		return false
	}
	if len(list) > 0 {
		p.current = list[max(min(p.index(list)+by, len(list)-1), 0)].URI
	}
	return true
}

// edit handles a key of the new title.
func (p *picker) edit(k keyboard.Key) (then func() verdict) {
	switch {
	case k.Code == keyboard.Enter:
		subject, title := p.subject, p.answer
		p.form = formNone
		return func() verdict { return p.rename(subject, title) }
	case k.Code == keyboard.Escape, k.Mods == keyboard.Ctrl && k.Code == 'c':
		p.form = formNone
	default:
		p.answer = edited(p.answer, k)
	}
	return nil
}

// choose shows a terminal.
func (p *picker) choose(i host.Info) verdict {
	if i.URI == p.here {
		return dialogEnds
	}
	if t := p.find(i); t != nil && p.goTo(t, t.Name()) {
		return dialogEnds
	}
	return dialogStays
}

// endIt ends a terminal, which takes its time.
func (p *picker) endIt(i host.Info) verdict {
	if t := p.find(i); t != nil {
		p.s.Go("ending a terminal", func() {
			if err := p.s.Conn.Dispose(t); err != nil {
				p.say(notice("%s", p.s.explain(err)))
			}
			p.front.repaint()
		})
	}
	return dialogStays
}

func (p *picker) rename(i host.Info, title string) verdict {
	if t := p.find(i); t != nil {
		if err := p.s.Conn.Rename(t, title); err != nil {
			p.say(notice("%s", p.s.explain(err)))
		}
	}
	return dialogStays
}

// find returns the terminal of a line; nil, with a notice, if it is gone. Another one may have its
// NAME now.
func (p *picker) find(i host.Info) *host.Terminal {
	t, err := p.s.Conn.Find(i.URI)
	if err != nil || !t.Info(p.s.Conn.Principal()).CreatedAt.Equal(i.CreatedAt) {
		p.say(notice("%s has gone", i.Name))
		return nil
	}
	return t
}
