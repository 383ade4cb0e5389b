package host

import (
	"slices"
	"time"

	"termhost/authz"
)

// Want is why a terminal wants somebody: what it waits for, or what has happened since that one
// looked at it last.
type Want string

// The reasons, besides those that a [Waiting] names.
const (
	WantBell     Want = "bell"     // the program rang
	WantCommand  Want = "command"  // a command of longCommand or more has ended
	WantFailed   Want = "failed"   // a command of more than attention_after has failed
	WantExited   Want = "exited"   // the program has ended that the person runs or has looked at
	WantKeyboard Want = "keyboard" // somebody asks for the keyboard, which the person has
)

// longCommand is how long a command takes at least for its end to be of interest: nobody looks away
// for less.
const longCommand = 10 * time.Second

// Wanted is a terminal that wants somebody.
type Wanted struct {
	Terminal *Terminal
	Why      Want
	Since    time.Time // since when it has wanted something of that one
	At       time.Time // when it has begun to want something more; zero: that one has seen all
	By       string    // of WantKeyboard: who asks, the first one; for people
}

// viewed is what somebody has seen of a terminal.
type viewed struct {
	looking int       // how many windows show the terminal now
	want    Want      // the first that has happened since; "": nothing
	since   time.Time // when
	seen    time.Time // when the last window has gone
}

// happened notes what somebody who does not look at the terminal has missed.
func (s *viewed) happened(why Want, now time.Time) {
	if s.looking == 0 && s.want == "" {
		s.want, s.since = why, now
	}
}

// attention is what a terminal's viewers have seen of it. It is guarded by the Term's lock.
type attention struct {
	t      *Terminal
	others viewed             // those that have never looked
	by     map[string]*viewed // by [authz.Person]: a page's is its key's
	waits  time.Time          // since when it has waited for what it waits for now

	bells    uint64    // how often the program rang
	rang     time.Time // when the feed was told of the bell last
	notified time.Time // when the program's last notification was passed on
}

// maxSights is how many that have looked a terminal remembers: more than there are people. Somebody
// who is forgotten has missed what those have that have never looked.
const maxViewed = 256

// happened notes something that is of interest to whoever did not see it, and tells those who look
// at other terminals. The Term's lock is held.
func (n *attention) happened(why Want) {
	t := n.t
	if t.kept.replay != nil {
		return // it is no news
	}
	now := t.host.now()
	n.others.happened(why, now)
	for _, s := range n.by {
		s.happened(why, now)
	}
	t.host.watchers.tell()
}

// viewBegins notes that a window shows the terminal from now on, and viewEnds that one does not any
// more. The Term's lock is held.
func (n *attention) viewBegins(p authz.Principal) {
	s := n.by[authz.Person(p.ID)]
	if s == nil {
		n.forget()
		if n.by == nil {
			n.by = map[string]*viewed{}
		}
		s = &viewed{}
		n.by[authz.Person(p.ID)] = s
	}
	*s = viewed{looking: s.looking + 1}
	n.t.host.watchers.tell()
}

func (n *attention) viewEnds(p authz.Principal) {
	if s := n.by[authz.Person(p.ID)]; s != nil {
		*s = viewed{looking: s.looking - 1, seen: n.t.host.now()}
		n.t.host.watchers.tell() // what it waits for wants them again
	}
}

// forget makes room for one more.
func (v *attention) forget() {
	for id, s := range v.by {
		if len(v.by) < maxViewed {
			return
		}
		if s.looking == 0 {
			delete(v.by, id)
		}
	}
}

// wants returns whether the terminal wants p, and why. What p has to answer comes before what p has
// only missed. The Term's lock is held.
func (n *attention) wants(p authz.Principal) (w Wanted, ok bool) {
	t := n.t
	s := n.by[authz.Person(p.ID)]
	if s == nil {
		s = &n.others
		if s.want == WantExited && authz.Person(t.origin.creator.ID) != authz.Person(p.ID) {
			return w, false // the end of what others run, and p has never looked at
		}
	}
	if s.looking > 0 || t.life.fleeting || t.EndedBy() != "" {
		return w, false
	}
	w = Wanted{Terminal: t, Why: s.want, Since: s.since, At: s.since}
	if t.waiting.needs.shown != WaitingNone && !t.life.exited {
		w.also(Want(t.waiting.needs.shown), n.waits)
	}
	kb := &t.keyboard
	if len(kb.requests) > 0 && authz.Person(kb.holder.principal) == authz.Person(p.ID) {
		why := w.Why
		for _, k := range kb.requests {
			w.also(WantKeyboard, k.at)
		}
		w.By = t.keyboard.requests[0].to.text()
		if why == Want(WaitingApproval) { // which comes first
			w.Why = why
		}
	}
	if w.At.Before(s.seen) {
		w.At = time.Time{}
	}
	return w, w.Why != ""
}

// also has the terminal want something else, too, since a time; that is why it does now.
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

// Wanting returns the terminals that want the connection's person, the longest first, of those that
// its principal sees. It returns *authz.Denied if that may not list, or an [*EndedError].
func (c *Conn) Wanting() ([]Wanted, error) {
	if err := c.Ended(); err != nil {
		return nil, err
	}
	h, p := c.host, c.principal
	if err := authz.Check(p, authz.List, authz.Target{}); err != nil {
		return nil, err
	}
	h.mu.Lock()
	order := h.visibleLocked(p)
	h.mu.Unlock()
	var list []Wanted
	for _, t := range order {
		t.term.Lock()
		if w, ok := t.attention.wants(p); ok {
			list = append(list, w)
		}
		t.term.Unlock()
	}
	slices.SortStableFunc(list, func(a, b Wanted) int { return a.Since.Compare(b.Since) })
	return list, nil
}

// notifyPause is how much time is between two notifications at least: what happens meanwhile is
// told together.
const notifyPause = 5 * time.Second
