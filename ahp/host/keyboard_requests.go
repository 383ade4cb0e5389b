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
	// maxOwnAsks is how many of these may be one person's: each window of theirs may ask.
	maxOwnAsks = 4
	// noteBacklog is how many notes wait for a viewer to show them; further ones are lost.
	noteBacklog = 4
)

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
	// NoteTrustOver: a person's yes to all that Agent types has ended; Why says why.
	NoteTrustOver
	// NoteHas: To has taken it.
	NoteHas
	// NoteHandedBack: Who has given it back to To, who had it before.
	NoteHandedBack
	// NoteAway and NoteBack: Who, who owns the client-executed terminal, is away or back.
	NoteAway
	NoteBack
	// NoteUnasked: Who does not ask for it any more. It goes to the holder's viewers.
	NoteUnasked
)

// tell tells the viewers, except one, that the terminal has a new holder. The Term's lock is held.
func (kb *keyboardClaim) tell(but *Attach, n Note) {
	n.To = kb.holder.text()
	for _, a := range kb.t.viewers.open {
		if a != but {
			n.Mine = n.by != "" && n.by == a.step().person()
			n.Yours = kb.holder.yours(a.conn.principal)
			a.noteLocked(n)
		}
	}
}

// request is a request for the keyboard of a terminal.
type request struct {
	conn *Conn
	to   holder      // who gets it
	left func() bool // whoever asked is not here any more; the Term's lock is held
	at   time.Time
}

// request notes a request and tells the holder, if that one is here. It returns *authz.Denied for
// those who may never type. The Term's lock is held.
func (kb *keyboardClaim) request(k request) error {
	t := kb.t
	p := k.conn.principal
	target := t.target(step{conn: k.conn, principal: p})
	target.Holds = true
	if err := authz.Check(p, authz.Input, target); err != nil {
		return err
	}
	kb.dropRequests()
	again := func(o request) bool { return o.to.claim == k.to.claim }
	own := 0
	for _, o := range kb.requests {
		if o.to.principal == p.ID {
			own++
		}
	}
	k.at = t.host.now()
	asks := slices.Clone(kb.requests)
	switch i := slices.IndexFunc(asks, again); {
	case i >= 0 && k.at.Sub(asks[i].at) < askPause:
		k.at = asks[i].at
		asks[i] = k
		kb.setRequests(asks)
		return nil
	case i >= 0:
		asks[i] = k
	case len(asks) == maxAsks, own == maxOwnAsks:
		return errManyAsk
	default:
		asks = append(asks, k)
	}
	kb.setRequests(asks)
	t.emit(Event{Kind: EventAsksKeyboard, By: k.to.text(), To: kb.holder.text(),
		from: k.conn})
	kb.noteToHolder(kb.requested(k))
	t.ch.TellAsked(kb.holder.claim.ClientID, k.to.text())
	return nil
}

var (
	errHaveIt  = errors.New("you have the keyboard")
	errManyAsk = errors.New("many ask for the keyboard already")
)

// requested returns the note of a request. The Term's lock is held.
func (kb *keyboardClaim) requested(k request) Note {
	return Note{Kind: NoteAsked, Who: k.to.text(), First: kb.requests[0].to.text()}
}

// setRequests is the one place where the requests change. The Term's lock is held.
func (kb *keyboardClaim) setRequests(asks []request) {
	if len(kb.requests)+len(asks) > 0 {
		kb.t.host.watchers.tell()
	}
	kb.requests = asks
	kb.wanted.Store(len(asks) > 0)
	if kb.requestsEnd != nil {
		kb.requestsEnd.Stop()
		kb.requestsEnd = nil
	}
	if len(asks) == 0 {
		return
	}
	oldest := slices.MinFunc(asks, func(a, b request) int { return a.at.Compare(b.at) }).at
	kb.requestsEnd = time.AfterFunc(askTime-kb.t.host.now().Sub(oldest), kb.withdrawRequests)
}

// dropRequests forgets the requests of those who have left, and those that are too old, and tells
// the holder. The Term's lock is held.
func (kb *keyboardClaim) dropRequests() {
	over := func(k request) bool {
		return k.left() || k.conn.ctx.Err() != nil || kb.t.host.now().Sub(k.at) >= askTime
	}
	if slices.ContainsFunc(kb.requests, over) {
		for _, k := range kb.requests {
			if over(k) {
				kb.noteToHolder(Note{Kind: NoteUnasked, Who: k.to.text()})
			}
		}
		kb.setRequests(slices.DeleteFunc(slices.Clone(kb.requests), over))
		kb.t.ch.TellAsked(kb.holder.claim.ClientID, "")
	}
}

// noteToHolder tells the holder's viewers something. The Term's lock is held.
func (kb *keyboardClaim) noteToHolder(n Note) {
	for _, v := range kb.t.viewers.windows {
		if v.holdsLocked() {
			v.noteLocked(n)
		}
	}
}

// withdrawRequests is dropRequests for those who do not have the Term's lock.
func (kb *keyboardClaim) withdrawRequests() {
	if !kb.wanted.Load() {
		return
	}
	kb.t.term.Lock()
	defer kb.t.term.Unlock()
	kb.dropRequests()
}

// tellAskedLocked tells a viewer of the holder's, which is new, who has asked for the keyboard.
func (a *Attach) tellAskedLocked() {
	if len(a.t.keyboard.requests) == 0 || !a.holdsLocked() || a.opts.ReadOnly || a.opts.Cols == 0 {
		return
	}
	a.t.keyboard.dropRequests()
	for _, k := range a.t.keyboard.requests {
		a.noteLocked(a.t.keyboard.requested(k))
	}
}

// giveToRequester gives the keyboard to the first who has asked for it, and returns that one's
// name; "": nobody has. The viewer but is not told. The Term's lock is held.
func (kb *keyboardClaim) giveToRequester(s step, but *Attach) (name string) {
	kb.dropRequests()
	if len(kb.requests) == 0 {
		return ""
	}
	to := kb.requests[0].to
	kb.lend(to, s, false)
	kb.tell(but, Note{Kind: NoteGiven, Who: s.name(), by: s.person()})
	return to.text()
}
