package host

import (
	"slices"
	"time"

	"termhost/authz"
)

// Want is a terminal's reason to want a person: its program waits, or something has happened since
// the person's last look.
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

// pressing has the reasons in their order: what is listed is the first of those that there are. A
// question comes before what has happened, and words before a bell.
var pressing = [...]Want{Want(WaitingApproval), WantKeyboard, Want(WaitingSecret),
	Want(WaitingInput), WantFailed, WantExited, WantDone, WantCommand, WantNotice, WantBell}

// Wanted is a terminal that wants a person.
type Wanted struct {
	Terminal *Terminal
	Why      Want      // the most pressing reason
	Since    time.Time // since when it has wanted the person
	At       time.Time // when the newest reason came up; zero: the person has seen all
	By       string    // of WantKeyboard: the name of the first who asks
	Text     string    // what the program has said with that, for display; "": nothing

	all []reason // the most pressing one first
}

// attention is what people have seen of a terminal, and so whom it wants. The Term's lock guards
// it.
type attention struct {
	t      *Terminal
	others viewed             // of those who have never looked
	by     map[string]*viewed // by [authz.Person]: a page is the person of its key
	acts   uint64             // how often somebody has typed, or a command has begun
	looks  uint64             // how often somebody has begun or ended to look
	over   bool               // it wants nobody, see [Terminal.SetOver]
	ender  ender

	bells    uint64    // how often the program rang
	rang     time.Time // when the last bell was told in the feed
	notified time.Time // when the last notification was passed on
}

// maxViewed is how many people a terminal remembers: more than there are. A person who is forgotten
// counts as one who has never looked.
const maxViewed = 256

// happened records an event for people that do not look, and calls them. text has the program's
// words on it, or "". anew: it is news also for those who have missed the same before, as
// everything is once somebody has typed or a command has begun since. The Term's lock is held.
func (n *attention) happened(why Want, text string, anew bool) {
	n.happenedTo("", why, text, anew)
}

// ended is happened for the end of a command, or with WantExited of the program, of which whoever
// has typed what ended it is not told. Of a program that person has seen all.
func (n *attention) ended(why Want, anew bool) {
	by := n.ender.by(n.t.host.now())
	if by != "" && n.t.kept.replay == nil {
		missed := missedBy{}
		s := n.of(by, missed)
		if why == WantExited {
			s.missed = nil
		}
		missed[by] = s.journaled()
		n.t.log.recordMissed(missed)
	}
	n.happenedTo(by, why, "", anew)
}

// happenedTo is happened for all but one person.
func (n *attention) happenedTo(but string, why Want, text string, anew bool) {
	t := n.t
	if t.kept.replay != nil {
		return // it happened long ago
	}
	now := t.host.now()
	r := reason{why: why, first: now, at: now, text: text, acts: n.acts}
	missed := missedBy{}
	if n.others.happened(r, anew) {
		missed[neverViewed] = n.others.journaled()
	}
	for person, s := range n.by {
		if person != but && s.happened(r, anew) {
			missed[person] = s.journaled()
		}
	}
	t.log.recordMissed(missed)
	t.host.watchers.tell()
}

// acted records that somebody has typed, or that a command has begun.
func (n *attention) acted() { n.acts++ }

// restore takes over what people have missed with an earlier host. Who looked until it ended has
// seen all until now.
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
		s.restore(m, n.t.host.now())
	}
}

// viewBegins records that a window of p's begins to show the terminal. The Term's lock is held.
func (n *attention) viewBegins(p authz.Principal) {
	person, missed := authz.Person(p.ID), missedBy{}
	s := n.of(person, missed)
	*s = viewed{looking: s.looking + 1}
	if s.looking == 1 {
		missed[person] = s.journaled()
	}
	n.looks++
	n.t.log.recordMissed(missed)
	n.t.host.watchers.tell()
}

// of returns a person's views. To a person that has never looked, it returns the misses of all such
// people. It adds persons that are forgotten for that to missed.
func (n *attention) of(person string, missed missedBy) *viewed {
	s := n.by[person]
	if s != nil {
		return s
	}
	n.forget(missed)
	if n.by == nil {
		n.by = map[string]*viewed{}
	}
	s = &viewed{missed: slices.Clone(n.others.missed)}
	n.by[person] = s
	return s
}

// viewEnds records that a window of p's no longer shows the terminal. The Term's lock is held.
func (n *attention) viewEnds(p authz.Principal) {
	person := authz.Person(p.ID)
	if s := n.by[person]; s != nil {
		*s = viewed{looking: s.looking - 1, seen: n.t.host.now()}
		if s.looking == 0 {
			n.t.log.recordMissed(missedBy{person: s.journaled()})
		}
		n.looks++
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

// wants returns whether the terminal wants p, and why. The Term's lock is held.
func (n *attention) wants(p authz.Principal) (w Wanted, ok bool) {
	t := n.t
	person := authz.Person(p.ID)
	s := n.by[person]
	never := s == nil
	if never {
		s = &n.others
	}
	if s.looking > 0 || n.over || t.life.fleeting || t.EndedBy() != "" {
		return w, false
	}
	var all []reason
	for _, r := range s.missed {
		if r.why == WantExited && never && authz.Person(t.origin.creator.ID) != person {
			continue // others run it, and p has never looked at it
		}
		all = append(all, r)
	}
	if shown := t.waiting.Shown(); shown != WaitingNone && !t.life.exited {
		all = append(all, reason{why: Want(shown), first: t.waiting.Since(), at: t.waiting.Since(),
			text: t.waiting.Asks()})
	}
	if asks := t.keyboard.requests; len(asks) > 0 &&
		authz.Person(t.keyboard.holder.principal) == person {
		all = append(all, reason{why: WantKeyboard, first: asks[0].at, at: asks[len(asks)-1].at,
			by: asks[0].to.text()})
	}
	for i := range all {
		if all[i].at.Before(s.seen) {
			all[i].at = time.Time{}
		}
	}
	return wantedFor(t, all)
}

// wantedFor returns a terminal that wants somebody for all the reasons, in any order.
func wantedFor(t *Terminal, all []reason) (w Wanted, ok bool) {
	if len(all) == 0 {
		return w, false
	}
	slices.SortStableFunc(all, func(a, b reason) int { return a.rank() - b.rank() })
	w = Wanted{Terminal: t, Why: all[0].why, By: all[0].by, Since: all[0].first, all: all}
	for _, r := range all {
		if r.first.Before(w.Since) {
			w.Since = r.first
		}
		if r.at.After(w.At) {
			w.At = r.at
		}
		if w.Text == "" && (r.why == w.Why || w.wordless()) {
			w.Text = r.text
		}
	}
	return w, true
}

// wordless reports whether the words of another reason say more than none.
func (w *Wanted) wordless() bool {
	return w.Why == Want(WaitingInput) || w.Why == Want(WaitingSecret) || w.Why == WantExited
}

// newer returns w with only those of its reasons that came up after a time.
func (w *Wanted) newer(than time.Time) (n Wanted, ok bool) {
	var left []reason
	for _, r := range w.all {
		if r.at.After(than) {
			left = append(left, r)
		}
	}
	return wantedFor(w.Terminal, left)
}

// SetOver sets whether the terminal's creator is done with it, as an agent is with a command that
// it has released. Such a terminal wants nobody. It may be called concurrently.
func (t *Terminal) SetOver(over bool) {
	t.term.Lock()
	defer t.term.Unlock()
	t.attention.over = over
	t.host.watchers.tell()
}
