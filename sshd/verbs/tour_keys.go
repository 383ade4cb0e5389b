package verbs

import (
	"errors"
	"maps"
	"slices"
	"time"

	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
	"termhost/sshd/viewer"
)

// nextTime bounds the time for hosts to name the terminals that want a waiting person.
const nextTime = time.Second

// viewed is the tour of a viewer of this host's terminals.
type viewed struct {
	t *tour
	l *leg
}

func (w *viewed) Go(on, name, text string) error     { return w.way().name(on, name, text) }
func (w *viewed) Gone() map[*host.Terminal]time.Time { return w.t.gone }
func (w *viewed) Shown(own *host.Terminal)           { w.t.shown(stop{own: own}, false) }
func (w *viewed) Unread(p []byte)                    { w.l.giveBack(p) }

func (w *viewed) way() *way { return &way{t: w.t, l: w.l} }

// Back implements [viewer.Elsewhere].
func (w *viewed) Back() (name string, get func() error) {
	to := w.t.before()
	if to == (stop{}) {
		return "", nil
	}
	name = w.t.label(to)
	return name, func() error { return w.way().to(to, name) }
}

// Next implements [viewer.Elsewhere].
func (w *viewed) Next() (next viewer.WantedElsewhere, ok bool) {
	list := w.t.wantedThere()
	if len(list) == 0 {
		return next, false
	}
	return longest(list), true
}

// longest returns the terminal that has wanted its person longest; those not visited since come
// first.
func longest(list []viewer.WantedElsewhere) viewer.WantedElsewhere {
	return slices.MinFunc(list, func(a, b viewer.WantedElsewhere) int {
		if n := a.Gone.Compare(b.Gone); n != 0 {
			return n
		}
		return a.Since.Compare(b.Since)
	})
}

// wantedThere returns the terminals on other hosts that want the person.
func (t *tour) wantedThere() (list []viewer.WantedElsewhere) {
	all, _ := t.v.everywhere(nextTime)
	t.mu.Lock()
	defer t.mu.Unlock()
	keep := map[string]time.Time{} // one that is looked at wants nobody just now
	for _, i := range all {
		at := i.on + "/" + i.Name
		gone := t.elsewhere[at]
		if i.WantsYou && i.WantsSince.After(gone) {
			gone = time.Time{} // it wants something new
		}
		keep[at] = gone
		if !i.WantsYou || !i.away.IsZero() {
			continue
		}
		list = append(list, viewer.WantedElsewhere{Host: i.on, Name: i.Name, Since: i.WantsSince,
			Gone: gone, Text: wantsText(at, i.Info)})
	}
	maps.DeleteFunc(t.elsewhere, func(at string, _ time.Time) bool { return keep[at].IsZero() })
	return list
}

// wantedHere returns those on this host.
func (t *tour) wantedHere() (list []viewer.WantedElsewhere) {
	all, _ := t.v.Conn.Wanting() // a principal that may not list gets none
	for _, x := range all {
		gone := t.gone[x.Terminal]
		if x.At.After(gone) {
			gone = time.Time{}
		}
		name := x.Terminal.Name()
		list = append(list, viewer.WantedElsewhere{Host: t.v.self(), Name: name, Since: x.Since,
			Gone: gone, Text: viewer.Wants(t.v.self()+"/"+name, x)})
	}
	return list
}

// maxWants bounds the question of another host's program, in bytes.
const maxWants = 200

// wantsText says what a terminal of another host wants, by that host's account.
func wantsText(label string, i host.Info) string {
	x := host.Wanted{Why: i.Wants, Text: i.Notice}
	if len(i.AskedBy) > 0 {
		x.By = i.AskedBy[0]
	}
	text := host.Printable(viewer.Wants(label, x))
	return string([]rune(text)[:min(len([]rune(text)), maxWants)])
}

// guide returns what leads the person away from the terminals of another host.
func (t *tour) guide(l *leg, on string) Guide {
	return Guide{Prefix: t.v.prefix(), Unread: l.giveBack, WantElsewhere: t.wants,
		Corner: func() []byte { return t.corner(on) },
		Shown: func(name string, readOnly bool) {
			t.shown(stop{host: on, name: name}, readOnly)
			t.v.showsTerminal(on+"/"+name, readOnly)
		},
		Key: func(k rune, connecting func(string)) (led Led, err error) {
			w := &way{t: t, l: l, connecting: connecting}
			switch k {
			case 'l':
				led, err = t.leadByList(w)
			case 'n':
				led, err = t.leadToWanted(w, on)
			case '\t', keyboard.Tab:
				led, err = t.leadBack(w)
			}
			if err != nil {
				err = errors.New(host.Printable(t.v.explain(err)))
			}
			return led, err
		}}
}

// leadBack makes ready what was shown before the terminals of the other host, unless that has a
// terminal to go back to.
func (t *tour) leadBack(w *way) (Led, error) {
	t.mu.Lock()
	moved := t.moved
	t.mu.Unlock()
	to := t.before()
	if moved || to == (stop{}) {
		return LedNowhere, nil
	}
	return LedOn, w.to(to, t.label(to))
}

// leadToWanted makes ready what has wanted the person longest, unless that is on the host whose
// terminals are shown: its viewer goes there.
func (t *tour) leadToWanted(w *way, on string) (Led, error) {
	at := t.now()
	list := slices.DeleteFunc(t.wantedThere(), func(x viewer.WantedElsewhere) bool {
		return x.Host == at.host && x.Name == at.name
	})
	if list = append(list, t.wantedHere()...); len(list) == 0 {
		return LedNowhere, nil
	}
	x := longest(list)
	if x.Host == on {
		return LedNowhere, nil
	}
	err := w.name(x.Host, x.Name, x.Text)
	t.mu.Lock()
	next := t.next
	t.mu.Unlock()
	if err == nil && next != nil && next.to.own != nil {
		t.gone[next.to.own] = time.Now()
	}
	return LedOn, err
}

// leadByList shows the list of all terminals, and makes ready what the person chooses.
func (t *tour) leadByList(w *way) (Led, error) {
	l := t.relay.leg()
	s := t.v.session()
	s.IO, s.Taken = l, nil
	at := t.now()
	row, rest, err := viewer.Pick(t.v.ctx, s, viewer.Place{Host: at.host, Name: at.name}, l.end)
	l.giveBack(rest)
	if err != nil {
		return LedBack, err
	}
	if row == nil || row.Host == at.host && row.Name == at.name {
		return LedBack, nil
	}
	text := t.v.self() + "/" + row.Name
	if row.Elsewhere {
		text = row.Shown()
	}
	if err := w.name(row.Host, row.Name, text); err != nil {
		return LedBack, err
	}
	return LedOn, nil
}
