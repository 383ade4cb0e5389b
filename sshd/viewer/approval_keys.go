package viewer

import (
	"time"

	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
)

const (
	// pressPause is how long after a dropped key another one may answer: longer than the repeat of
	// a held key. An answer counts if no key follows for as long: words contain letters that
	// answer.
	pressPause = 300 * time.Millisecond
	// wordPause is the pause after a meaningless key, such as the letters of a word.
	wordPause = time.Second
)

// early returns how long until keys answer, if the person types nothing; 0: they do. d.mu is held.
func (d *approval) early() time.Duration {
	now := d.now()
	return max(readIn(d.since, now), d.pauseLeft(), pressPause-now.Sub(d.dropped),
		wordPause-now.Sub(d.stray))
}

// pauseLeft returns how long the person must still type nothing. d.mu is held.
func (d *approval) pauseLeft() time.Duration {
	if !d.typesOn {
		return 0
	}
	return d.typing.pauseLeft(d.now())
}

// offered returns the present meaning of keys: the one on the screen, unless that is out of date.
// d.mu is held.
func (d *approval) offered() offer {
	now := d.now()
	switch {
	case d.pauseLeft() > 0:
		return offersEarly
	case d.view == view{}: // it comes to the screen just now
		return offersEarly
	case d.view.full != d.window():
		return offersNothing // the window has changed: what it shows is unknown
	case now.Sub(d.stray) < wordPause, now.Sub(d.dropped) < pressPause:
		return min(d.onScreen(now).offers, offersEarly)
	}
	return d.onScreen(now).offers
}

// pressed returns the question, what keys do now, and whether k goes to the program: the interrupt
// key does, and the keys of a person who types on. A key that follows an answer cancels it.
func (d *approval) pressed(k keyboard.Key) (is host.HeldInput, offers offer, typed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	offers = d.offered()
	typed = k == keyboard.Key{Code: 'c', Mods: keyboard.Ctrl} || offers == offersEarly && d.typesOn
	switch {
	case d.press != nil:
		d.press.stop()
		d.press, d.stray = nil, d.now()
		offers = min(offers, offersEarly)
	case offers == offersEarly && !typed:
		d.dropped = d.now()
	}
	return d.is, offers, typed
}

// key answers unless another key follows, or the person cannot have read the question yet.
func (d *approval) key(k keyboard.Key) verdict {
	is, offers, typed := d.pressed(k)
	switch {
	case typed:
		return notMine
	case offers <= offersEarly:
		return dialogStays
	case k.Code == keyboard.Escape && k.Mods == 0:
		d.putAside(true)
		d.later(is.Ask)
		d.typing.answered()
		d.say(notice("it still waits for you; %s shows it again", d.s.key('n')))
		return dialogEnds
	}
	if decision, ok := d.decisionOf(k, is, offers); ok {
		d.answersWith(decision, is)
	} else if !d.scroll(k) && !isAnswer(k) {
		d.strays()
	}
	return dialogStays
}

// decisionOf returns the decision that a key makes, if any.
func (d *approval) decisionOf(k keyboard.Key, is host.HeldInput, offers offer) (
	decision host.Decision, ok bool,
) {
	all := offers == offersAll
	switch {
	case k.Mods != 0 && k.Mods != keyboard.Shift:
		return 0, false
	case k.Code == 'y':
		return host.ApproveOnce, all
	case k.Code == 'n':
		return host.RefuseOnce, true
	case k.Code == 'a':
		return host.ApproveAll, all && is.All && !d.inPane()
	case k.Code == 'e':
		return host.EditIt, all && d.editable(is)
	}
	return 0, false
}

// press is an answer that counts if no other key follows.
type press struct {
	decision host.Decision
	is       host.HeldInput // what it answers
	stop     func() bool
}

// answersWith decides when no other key has followed for pressPause.
func (d *approval) answersWith(decision host.Decision, is host.HeldInput) {
	p := &press{decision: decision, is: is}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.press = p
	p.stop = d.after(pressPause, func() { d.stand(p) })
}

// stand makes the decision p, if that still answers what is on the screen.
func (d *approval) stand(p *press) {
	d.mu.Lock()
	stands := d.press == p && d.is.Ask == p.is.Ask && d.is.Does == p.is.Does &&
		d.is.Warning == p.is.Warning && !d.aside && d.offered() > offersEarly
	if d.press == p {
		d.press = nil
	}
	d.mu.Unlock()
	if !stands {
		d.front.repaint()
		return
	}
	edit := p.decision == host.EditIt
	if edit {
		d.typing.edits()
	}
	said := ""
	switch err := d.decide(p.is, p.decision); {
	case err != nil:
		said = d.s.explain(err)
	case edit:
		said = "you have the keyboard; Enter runs the line"
	}
	if !edit {
		d.typing.answered()
	}
	d.front.end(d)
	if said != "" {
		d.say(notice("%s", said))
	}
}

// cancel takes back an answer that another key has followed, and reports whether there was one.
func (d *approval) cancel() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.press == nil {
		return false
	}
	d.press.stop()
	d.press = nil
	return true
}

// strays records a meaningless key.
func (d *approval) strays() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stray = d.now()
}

// scroll scrolls the text, and never past what has not been on the screen. It reports whether k is
// a key for that.
func (d *approval) scroll(k keyboard.Key) bool {
	if k.Mods != 0 && k.Mods != keyboard.Shift {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.onScreen(d.now())
	switch k.Code {
	case 'j', keyboard.Down:
		d.top++
	case 'k', keyboard.Up:
		d.top--
	case ' ', keyboard.PageDown:
		d.top += v.page
	case 'b', keyboard.PageUp:
		d.top -= v.page
	default:
		return false
	}
	d.top = max(min(d.top, v.last, v.rows-v.page), 0)
	return true
}
