package host

import (
	"slices"
	"sync"
	"sync/atomic"
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

// sight is what somebody has seen of a terminal.
type sight struct {
	looking int       // how many windows show the terminal now
	want    Want      // the first that has happened since; "": nothing
	since   time.Time // when
	seen    time.Time // when the last window has gone
}

// happened notes what somebody who does not look at the terminal has missed.
func (s *sight) happened(why Want, now time.Time) {
	if s.looking == 0 && s.want == "" {
		s.want, s.since = why, now
	}
}

// sights is what a terminal's viewers have seen of it. It is guarded by the Term's lock.
type sights struct {
	others sight             // those that have never looked
	by     map[string]*sight // by [authz.Person]: a page's is its key's
	waits  time.Time         // since when it has waited for what it waits for now
	over   bool              // it wants nobody, see [Terminal.SetOver]
}

// maxSights is how many that have looked a terminal remembers: more than there are people. Somebody
// who is forgotten has missed what those have that have never looked.
const maxSights = 256

// happened notes something that is of interest to whoever did not see it, and tells those who look
// at other terminals. The Term's lock is held.
func (t *Terminal) happened(why Want) {
	if t.replay != nil {
		return // it is no news
	}
	now := t.host.now()
	t.sights.others.happened(why, now)
	for _, s := range t.sights.by {
		s.happened(why, now)
	}
	t.host.people.tell()
}

// looks notes that a window shows the terminal from now on, and looksAway that one does not any
// more. The Term's lock is held.
func (t *Terminal) looks(p authz.Principal) {
	s := t.sights.by[authz.Person(p.ID)]
	if s == nil {
		t.sights.forget()
		if t.sights.by == nil {
			t.sights.by = map[string]*sight{}
		}
		s = &sight{}
		t.sights.by[authz.Person(p.ID)] = s
	}
	*s = sight{looking: s.looking + 1}
	t.host.people.tell()
}

func (t *Terminal) looksAway(p authz.Principal) {
	if s := t.sights.by[authz.Person(p.ID)]; s != nil {
		*s = sight{looking: s.looking - 1, seen: t.host.now()}
		t.host.people.tell() // what it waits for wants them again
	}
}

// forget makes room for one more.
func (v *sights) forget() {
	for id, s := range v.by {
		if len(v.by) < maxSights {
			return
		}
		if s.looking == 0 {
			delete(v.by, id)
		}
	}
}

// wants returns whether the terminal wants p, and why. What p has to answer comes before what p has
// only missed. The Term's lock is held.
func (t *Terminal) wants(p authz.Principal) (w Wanted, ok bool) {
	s := t.sights.by[authz.Person(p.ID)]
	if s == nil {
		s = &t.sights.others
		if s.want == WantExited && authz.Person(t.creator.ID) != authz.Person(p.ID) {
			return w, false // the end of what others run, and p has never looked at
		}
	}
	if s.looking > 0 || t.fleeting || t.sights.over || t.EndedBy() != "" {
		return w, false
	}
	w = Wanted{Terminal: t, Why: s.want, Since: s.since, At: s.since}
	if t.waits.shown != WaitingNone && !t.exited {
		w.also(Want(t.waits.shown), t.sights.waits)
	}
	if len(t.asks) > 0 && authz.Person(t.holder.principal) == authz.Person(p.ID) {
		why := w.Why
		for _, k := range t.asks {
			w.also(WantKeyboard, k.at)
		}
		w.By = t.asks[0].to.text()
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
	t.sights.over = over
	t.host.people.tell()
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

// Wanting returns the terminals that want p, the longest first, of those that p sees. It returns
// *authz.Denied if p may not list.
func (h *Host) Wanting(p authz.Principal) ([]Wanted, error) {
	if err := authz.Check(p, authz.List, authz.Target{}); err != nil {
		return nil, err
	}
	h.mu.Lock()
	order := h.visibleLocked(p)
	h.mu.Unlock()
	var list []Wanted
	for _, t := range order {
		t.term.Lock()
		if w, ok := t.wants(p); ok {
			list = append(list, w)
		}
		t.term.Unlock()
	}
	slices.SortStableFunc(list, func(a, b Wanted) int { return a.Since.Compare(b.Since) })
	return list, nil
}

// people are the principals that look at terminals in windows, where one notification at a time
// goes to each, whichever of its windows that is, or by other connections.
type people struct {
	mu    sync.Mutex // a leaf
	by    map[string]*onlooker
	conns map[*Conn]struct{} // those whose peers tell what is looked at: see [Conn.Looking]
}

// onlooker is one of them.
type onlooker struct {
	active atomic.Pointer[Attach] // the window that was used last; nil: it is closed

	// Guarded by people.mu.
	windows  map[*Attach]struct{}
	told     time.Time // what the terminals have wanted up to then is known
	notified time.Time // when there was the last notification
}

// notifyPause is how much time is between two notifications at least: what happens meanwhile is
// told together.
const notifyPause = 5 * time.Second

// join adds a window, which is called at once.
func (p *people) join(a *Attach, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[string]*onlooker{}
	}
	id := a.conn.principal.ID
	if p.by[id] == nil {
		p.by[id] = &onlooker{windows: map[*Attach]struct{}{}, told: now}
	}
	a.onlooker = p.by[id]
	a.onlooker.windows[a] = struct{}{}
	a.onlooker.active.Store(a)
	a.call()
}

// leave removes it.
func (p *people) leave(a *Attach) {
	if a.onlooker == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	o := a.onlooker
	delete(o.windows, a)
	o.active.CompareAndSwap(a, nil)
	if id := a.conn.principal.ID; len(o.windows) == 0 && p.by[id] == o {
		delete(p.by, id)
	}
}

// tell tells all that a terminal wants somebody more, or less. Any lock may be held.
func (p *people) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.by {
		for a := range o.windows {
			a.call()
		}
	}
	p.tellConnsLocked()
}

// here reports whether a person looks at some terminal, in a window or by another connection. Any
// lock may be held.
func (p *people) here(person string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.by {
		if authz.Person(id) == person {
			return true
		}
	}
	for c := range p.conns {
		if authz.Person(c.principal.ID) == person {
			return true
		}
	}
	return false
}

// used notes that the viewer's window is the one that is used.
func (a *Attach) used() {
	if o := a.onlooker; o != nil && o.active.Load() != a {
		o.active.Store(a)
	}
}

// call has the viewer look at what wants its person.
func (a *Attach) call() {
	select {
	case a.calls <- struct{}{}:
	default:
	}
}

// Calls gets a value at first, and whenever what wants the viewer's person may have changed: see
// [Host.Wanting]. Nothing is sent to a viewer without a window.
func (a *Attach) Calls() <-chan struct{} { return a.calls }

// News returns those of list that the viewer's person is to be notified of now, at this viewer and
// no other. With none, after says when to ask again; 0: when there is another call.
func (a *Attach) News(list []Wanted) (fresh []Wanted, after time.Duration) {
	h, o := a.conn.host, a.onlooker
	if o == nil {
		return nil, 0
	}
	h.people.mu.Lock()
	defer h.people.mu.Unlock()
	latest := o.told
	for _, w := range list {
		if w.At.After(o.told) {
			fresh = append(fresh, w)
		}
		if w.At.After(latest) {
			latest = w.At
		}
	}
	now := h.now()
	if len(fresh) == 0 || !o.active.CompareAndSwap(nil, a) && o.active.Load() != a {
		return nil, 0
	}
	if wait := notifyPause - now.Sub(o.notified); wait > 0 {
		return nil, wait
	}
	o.told, o.notified = latest, now
	return fresh, 0
}
