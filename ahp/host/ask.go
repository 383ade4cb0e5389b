package host

import (
	"errors"
	"slices"
	"time"

	"termhost/authz"
)

const (
	// askTime is how long a request for the keyboard is kept: the holder may want to finish
	// something first.
	askTime = 10 * time.Minute
	// askPause is how long somebody who has asked is not shown to the holder again.
	askPause = 10 * time.Second
	// maxAsks is how many may ask for a keyboard at a time.
	maxAsks = 16
	// noteBacklog is how many notes wait for a viewer to show them; further ones are lost.
	noteBacklog = 4
)

// NoteKind is what a [Note] tells.
type NoteKind int

// What became of a keyboard.
const (
	// NoteAsked: Who asks the holder for it; First was the first to do so. It goes to the holder's
	// viewers.
	NoteAsked NoteKind = iota
	// NoteGiven: Who has handed it to To.
	NoteGiven
	// NoteLeft: Who has no viewer any more, so To has it again.
	NoteLeft
	// NoteIdle: Who has typed nothing for a while, so To has it again.
	NoteIdle
	// NoteApproved, NoteRefused and NoteEdited: Who has decided about what Agent wants to type: to
	// type it, not to, or to type something else instead.
	NoteApproved
	NoteRefused
	NoteEdited
	// NoteGone: what Agent wants to type need not be decided any more; Why says why.
	NoteGone
	// NoteHas: To has taken it.
	NoteHas
	// NoteHandedBack: Who has given it back to To, who had it before.
	NoteHandedBack
)

// Note tells the person at a viewer what became of the terminal's keyboard.
type Note struct {
	Kind           NoteKind
	Who, To, First string // names; they may have control characters
	// Mine and Yours: Who, and To, is the viewer's own principal.
	Mine, Yours bool

	Agent, Why string

	by string // the ID of Who's principal; "": nobody is told that it was their own doing
}

// Notes returns what is to be told to the viewer's person. Nothing is sent to a viewer without a
// window.
func (a *Attach) Notes() <-chan Note { return a.notes }

// noteLocked tells the viewer's person.
func (a *Attach) noteLocked(n Note) {
	select {
	case a.notes <- n:
	default: // its person reads nothing; the claim itself can be looked up
	}
}

// tell tells the viewers, except one, that the terminal has a new holder. The Term's lock is held.
func (t *Terminal) tell(but *Attach, n Note) {
	n.To = t.holder.name
	for _, a := range t.audience {
		if a != but {
			n.Mine = n.by == a.conn.principal.ID
			n.Yours = t.holder.principal == a.conn.principal.ID
			a.noteLocked(n)
		}
	}
}

// ask is a request for the keyboard of a terminal.
type ask struct {
	by *Attach
	at time.Time
}

// Ask asks the holder for the keyboard, and returns the holder's name. here: the holder has a
// viewer, and is told now; otherwise the first one within askTime is told. Ask returns
// *authz.Denied for those who may never type, ErrExited, why the connection has ended, or why
// there is nobody to ask.
func (a *Attach) Ask() (holder string, here bool, err error) {
	t := a.t
	a.conn.host.sshClient(a.conn.principal)
	t.term.Lock()
	defer t.term.Unlock()
	if t.exited {
		return "", false, ErrExited
	}
	if err := a.mayActLocked(); err != nil {
		return "", false, err
	}
	target := t.target(a.step())
	if authz.Check(a.conn.principal, authz.Input, target) == nil {
		return "", false, errHaveIt
	}
	target.Holds = true
	if err := authz.Check(a.conn.principal, authz.Input, target); err != nil {
		return "", false, err
	}
	t.dropAsksLocked()
	mine := func(k ask) bool { return k.by.conn.principal.ID == a.conn.principal.ID }
	now := t.host.now()
	switch i := slices.IndexFunc(t.asks, mine); {
	case i >= 0 && now.Sub(t.asks[i].at) < askPause:
		t.asks[i].by = a
		return t.holder.name, t.attended(), nil
	case i >= 0:
		t.asks[i] = ask{a, now}
	case len(t.asks) == maxAsks:
		return "", false, errManyAsk
	default:
		t.asks = append(t.asks, ask{a, now})
	}
	for _, v := range t.windows {
		if v.holdsLocked() {
			v.noteLocked(t.asked(a))
		}
	}
	return t.holder.name, t.attended(), nil
}

var (
	errHaveIt  = errors.New("you have the keyboard")
	errManyAsk = errors.New("many ask for the keyboard already")
)

// asked returns the note that a asks for the keyboard. The Term's lock is held.
func (t *Terminal) asked(a *Attach) Note {
	first := t.asks[0].by.conn.principal.Name
	return Note{Kind: NoteAsked, Who: a.conn.principal.Name, First: first}
}

// dropAsksLocked forgets the requests of viewers that have left, and those that are too old.
func (t *Terminal) dropAsksLocked() {
	t.asks = slices.DeleteFunc(t.asks, func(k ask) bool {
		return k.by.closed || k.by.conn.ctx.Err() != nil || t.host.now().Sub(k.at) >= askTime
	})
}

// tellAskedLocked tells a viewer of the holder's, which is new, who has asked for the keyboard.
func (a *Attach) tellAskedLocked() {
	if len(a.t.asks) == 0 || !a.holdsLocked() || a.opts.ReadOnly || a.opts.Cols == 0 {
		return
	}
	a.t.dropAsksLocked()
	for _, k := range a.t.asks {
		a.noteLocked(a.t.asked(k.by))
	}
}

// GiveAsked gives the keyboard to the first who has asked for it, and returns that one's name; "":
// nobody has. It returns *authz.Denied if the viewer does not hold the claim, or why the connection
// has ended.
func (a *Attach) GiveAsked() (name string, err error) {
	t := a.t
	t.term.Lock()
	defer t.term.Unlock()
	if err := a.mayPassOnLocked(); err != nil {
		return "", err
	}
	t.dropAsksLocked()
	if len(t.asks) == 0 {
		return "", nil
	}
	to := t.asks[0].by
	t.lend(sshHolder(to.conn.principal), a.step(), false)
	t.tell(a, Note{Kind: NoteGiven, Who: a.conn.principal.Name, by: a.conn.principal.ID})
	return to.conn.principal.Name, nil
}
