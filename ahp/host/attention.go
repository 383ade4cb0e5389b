package host

import (
	"time"

	"termhost/ahp/journal"
	"termhost/authz"
)

// Want is why a terminal wants a person: what it waits for, or what has happened since the person
// looked at it last.
type Want string

// The reasons, besides those that a [Waiting] names.
const (
	WantBell     Want = "bell"     // the program rang
	WantNotice   Want = "notice"   // the program has sent a desktop notification
	WantDone     Want = "done"     // the program says that it is done, see [Status]
	WantCommand  Want = "command"  // a command of longCommand or more has ended
	WantFailed   Want = "failed"   // so says the program, or a command of attention_after has
	WantExited   Want = "exited"   // the program has ended that the person runs or has looked at
	WantKeyboard Want = "keyboard" // somebody asks for the keyboard, which the person has
)

// Valid reports whether w is one of the reasons.
func (w Want) Valid() bool {
	switch w {
	case Want(WaitingInput), Want(WaitingSecret), Want(WaitingApproval), WantBell, WantNotice,
		WantDone, WantCommand, WantFailed, WantExited, WantKeyboard:
		return true
	}
	return false
}

// longCommand is how long a command must have run for its end to be told: nobody looks away from a
// shorter one.
const longCommand = 10 * time.Second

// Wanted is a terminal that wants a person.
type Wanted struct {
	Terminal *Terminal
	Why      Want
	Since    time.Time // since when it has wanted the person
	At       time.Time // when the newest reason came up; zero: the person has seen all
	By       string    // of WantKeyboard: the name of the first who asks
	Text     string    // what the program has said with that, for display; "": nothing
}

// viewed is what a person has seen of a terminal.
type viewed struct {
	looking int       // how many windows show the terminal now
	want    Want      // the first thing that has happened since; "": nothing
	since   time.Time // when it happened
	text    string    // what the program said with it
	seen    time.Time // when the last window was closed
}

// happened records why, unless the person looks at the terminal or has missed something already;
// but words replace a bell, and the same reason's earlier words. It adds the change to missed.
func (s *viewed) happened(why Want, text string, now time.Time, person string, missed missedBy) {
	says := text != "" && (s.want == WantBell || s.want == why) && text != s.text
	if s.looking > 0 || s.want != "" && !says {
		return
	}
	if s.want == "" {
		s.since = now
	}
	s.want, s.text = why, text
	missed[person] = &journal.Missed{Want: string(why), Since: s.since, Text: text}
}

// missedBy has what people have missed, for the journal: see [journal.Outline].
type missedBy map[string]*journal.Missed

// neverViewed stands for those who have never viewed a terminal, in a missedBy.
const neverViewed = ""

// attention is what people have seen of a terminal, and so whom it wants. The Term's lock guards
// it.
type attention struct {
	t      *Terminal
	others viewed             // of those who have never looked
	by     map[string]*viewed // by [authz.Person]: a page is the person of its key
	waits  time.Time          // since when the terminal has waited for what it waits for now
	over   bool               // it wants nobody, see [Terminal.SetOver]

	bells    uint64    // how often the program rang
	rang     time.Time // when the last bell was told in the feed
	notified time.Time // when the last notification was passed on
}

// maxViewed is how many people a terminal remembers: more than there are. A person who is forgotten
// counts as one who has never looked.
const maxViewed = 256

// happened records something that those who do not look should know, and calls them. text is what
// the program says of it, or "". The Term's lock is held.
func (n *attention) happened(why Want, text string) {
	t := n.t
	if t.kept.replay != nil {
		return // it happened long ago
	}
	now := t.host.now()
	missed := missedBy{}
	n.others.happened(why, text, now, neverViewed, missed)
	for person, s := range n.by {
		s.happened(why, text, now, person, missed)
	}
	t.log.recordMissed(missed)
	t.host.watchers.tell()
}

// restore takes over what people have missed with an earlier host.
func (n *attention) restore(missed missedBy) {
	n.by = map[string]*viewed{}
	for person, m := range missed {
		if m == nil {
			continue
		}
		s := &n.others
		if person != neverViewed {
			s = &viewed{}
			n.by[person] = s
		}
		s.want, s.since, s.text = Want(m.Want), m.Since, m.Text
	}
}

// viewBegins records that a window of p's begins to show the terminal. The Term's lock is held.
func (n *attention) viewBegins(p authz.Principal) {
	person, missed := authz.Person(p.ID), missedBy{}
	s := n.by[person]
	if s == nil {
		n.forget(missed)
		if n.by == nil {
			n.by = map[string]*viewed{}
		}
		s = &viewed{}
		n.by[person] = s
		missed[person] = &journal.Missed{}
	} else if s.want != "" {
		missed[person] = &journal.Missed{}
	}
	*s = viewed{looking: s.looking + 1}
	n.t.log.recordMissed(missed)
	n.t.host.watchers.tell()
}

// viewEnds records that a window of p's no longer shows the terminal. The Term's lock is held.
func (n *attention) viewEnds(p authz.Principal) {
	if s := n.by[authz.Person(p.ID)]; s != nil {
		*s = viewed{looking: s.looking - 1, seen: n.t.host.now()}
		n.t.host.watchers.tell() // if it waits for something, it wants p again
	}
}

// forget makes room for one more person, and adds those who are forgotten to missed.
func (n *attention) forget(missed missedBy) {
	for id, s := range n.by {
		if len(n.by) < maxViewed {
			return
		}
		if s.looking == 0 {
			delete(n.by, id)
			missed[id] = nil
		}
	}
}

// wants returns whether the terminal wants p, and why. A question comes before what p has missed.
// The Term's lock is held.
func (n *attention) wants(p authz.Principal) (w Wanted, ok bool) {
	t := n.t
	s := n.by[authz.Person(p.ID)]
	if s == nil {
		s = &n.others
		if s.want == WantExited && authz.Person(t.origin.creator.ID) != authz.Person(p.ID) {
			return w, false // others run it, and p has never looked at it
		}
	}
	if s.looking > 0 || n.over || t.life.fleeting || t.EndedBy() != "" {
		return w, false
	}
	w = Wanted{Terminal: t, Why: s.want, Since: s.since, At: s.since, Text: s.text}
	if t.waiting.needs.shown != WaitingNone && !t.life.exited {
		w.also(Want(t.waiting.needs.shown), n.waits)
		w.Text = t.waiting.needs.asks()
	}
	kb := &t.keyboard
	if len(kb.requests) > 0 && authz.Person(kb.holder.principal) == authz.Person(p.ID) {
		why := w.Why
		for _, k := range kb.requests {
			w.also(WantKeyboard, k.at)
		}
		w.By = t.keyboard.requests[0].to.text()
		w.Text = ""
		if why == Want(WaitingApproval) { // which comes first
			w.Why = why
		}
	}
	if w.At.Before(s.seen) {
		w.At = time.Time{}
	}
	return w, w.Why != ""
}

// SetOver sets whether the terminal's creator is done with it, as an agent is with a command that
// it has released. Such a terminal wants nobody. It may be called concurrently.
func (t *Terminal) SetOver(over bool) {
	t.term.Lock()
	defer t.term.Unlock()
	t.attention.over = over
	t.host.watchers.tell()
}

// also adds a reason, which comes before the one so far, and since when there is that reason.
func (w *Wanted) also(why Want, since time.Time) {
	switch {
	case w.Why == "":
		w.Since, w.At = since, since
	case since.Before(w.Since):
		w.Since = since
	case since.After(w.At):
		w.At = since
	}
	w.Why = why
}
