package viewer

import (
	"time"

	"termhost/ahp/host"
)

// Elsewhere has the terminals of other hosts for a viewer, which ends when its person goes there.
// The input loop calls its methods, and waits for them.
type Elsewhere interface {
	// Go makes the terminal of a NAME on another host ready to be shown; text tells the person
	// there. If the error is nil, the viewer ends with [WentOn].
	Go(host, name, text string) error
	// Back returns the terminal that was shown before the viewer, and what does the same for it;
	// nil if there is none.
	Back() (name string, get func() error)
	// Next returns the terminal that has wanted the person longest of those on other hosts, first
	// of those to which the person has not gone since. ok is false if none does.
	Next() (t WantedElsewhere, ok bool)
	// Gone has when the person went to which of this host's terminals because it wanted them. The
	// viewer changes it.
	Gone() map[*host.Terminal]time.Time
	// Shown is told which terminal of this host is shown from now on.
	Shown(t *host.Terminal)
	// Unread takes back the end of the IO's input. It is called before Go, and before the function
	// that Back has returned; if that one's error is not nil, the keys for the other terminal have
	// been dropped.
	Unread(p []byte)
}

// WantedElsewhere is a terminal of another host that wants a person.
type WantedElsewhere struct {
	Host, Name string
	Text       string    // says so
	Since      time.Time // since when, by the other host's clock
	Gone       time.Time // when the person went there; zero: not since
}

// departure is another terminal that a person goes to.
type departure struct {
	name string
	get  func() error // makes it ready
}

// goElsewhere goes to a terminal of another host. text tells the person there.
func (l *inputLoop) goElsewhere(host, name, text string) {
	l.depart(host+"/"+name, func() error { return l.w.s.Elsewhere.Go(host, name, text) })
}

// goesElsewhere is goes for a row of another host.
func (l *inputLoop) goesElsewhere(r *Row) verdict {
	if l.w.s.Elsewhere == nil {
		return dialogStays
	}
	l.goElsewhere(r.Host, r.Name, r.Shown())
	return dialogEnds
}

// backElsewhere goes to the terminal that was shown before the viewer. It returns false if there is
// none.
func (l *inputLoop) backElsewhere() bool {
	if l.w.s.Elsewhere == nil {
		return false
	}
	name, get := l.w.s.Elsewhere.Back()
	if get != nil {
		l.depart(name, get)
	}
	return get != nil
}

// depart has the viewer end once get has made another terminal, of that name, ready. What is typed
// behind the key that leads there is put back first: Elsewhere has it until then.
func (l *inputLoop) depart(name string, get func() error) {
	l.going = &departure{name, get}
	l.filter.Stop()
}

// feed handles what is typed.
func (l *inputLoop) feed(typed []byte) {
	rest := l.filter.Feed(typed, l)
	if l.going == nil && !l.departed {
		return
	}
	rest = append(append(l.after, rest...), l.answers.Held()...)
	l.after = nil
	l.w.s.Elsewhere.Unread(rest)
	l.unread += len(rest)
	if to := l.going; to != nil {
		l.going = nil
		l.goOn(to)
	}
}

// connectingNotice bounds how long a notice says that a terminal is connected to: longer than that
// takes.
const connectingNotice = time.Minute

// goOn has the viewer end if the terminal that its person goes to can be shown.
func (l *inputLoop) goOn(to *departure) {
	told := make(chan struct{})
	slow := time.AfterFunc(helpDelay, func() {
		defer close(told)
		text := notice("connecting to %s ...", to.name).kept()
		text.lasts = connectingNotice
		l.w.hint(event{kind: showOverlay, overlay: text})
	})
	err := to.get()
	if !slow.Stop() {
		<-told
	}
	if err != nil {
		l.answers.Release() // it was typed behind the key that leads away
		l.w.say(notice("%s", l.w.s.explain(err)).longer().kept())
		return
	}
	l.leaving, l.departed = true, true
	l.w.post(event{kind: depart})
}

// nextAnywhere is the terminal that has wanted the person longest, here or on another host.
func (l *inputLoop) nextAnywhere(list []host.Wanted) (here host.Wanted, there WantedElsewhere,
	away bool) {
	if len(list) > 0 {
		here = l.trail.next(list)
	}
	if l.w.s.Elsewhere == nil {
		return here, there, false
	}
	there, away = l.w.s.Elsewhere.Next()
	if !away || len(list) == 0 {
		return here, there, away
	}
	been := l.trail.been(here)
	return here, there, there.Gone.Before(been) ||
		there.Gone.Equal(been) && there.Since.Before(here.Since)
}
