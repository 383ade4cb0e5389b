package host

import (
	"errors"
	"slices"
	"time"

	"termhost/authz"
)

const (
	// requestTime is how long a request for the keyboard lasts: the holder may want to finish
	// something first.
	requestTime = 10 * time.Minute
	// requestPause is how long the holder is not told of the same request again.
	requestPause = 10 * time.Second
	// maxRequests bounds the requests for one keyboard.
	maxRequests = 16
	// maxOwnRequests bounds the requests of one principal, each of whose clients may make one.
	maxOwnRequests = 4
)

// request adds a request, and tells the holder if it is here. It returns *authz.Denied for a
// principal that may never type. The Term's lock is held.
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
	requests := slices.Clone(kb.requests)
	switch i := slices.IndexFunc(requests, again); {
	case i >= 0 && k.at.Sub(requests[i].at) < requestPause:
		k.at = requests[i].at
		requests[i] = k
		kb.setRequests(requests)
		return nil
	case i >= 0:
		requests[i] = k
	case len(requests) == maxRequests, own == maxOwnRequests:
		return errManyRequests
	default:
		requests = append(requests, k)
	}
	kb.setRequests(requests)
	t.emit(Event{Kind: EventAsksKeyboard, By: k.to.text(), To: kb.holder.text(),
		from: k.conn})
	kb.noteToHolder(kb.requestNote(k))
	t.ch.TellAsked(kb.holder.claim.ClientID, k.to.text())
	return nil
}

var (
	errHaveIt       = errors.New("you have the keyboard")
	errManyRequests = errors.New("many ask for the keyboard already")
)

// requestNote returns the note that tells of a request. The Term's lock is held.
func (kb *keyboardClaim) requestNote(k request) Note {
	return Note{Kind: NoteAsked, Who: k.to.text(), First: kb.requests[0].to.text()}
}

// setRequests replaces the requests; nothing else changes them. The Term's lock is held.
func (kb *keyboardClaim) setRequests(requests []request) {
	if len(kb.requests)+len(requests) > 0 {
		kb.t.host.watchers.tell()
	}
	kb.requests = requests
	kb.hasRequests.Store(len(requests) > 0)
	if kb.requestsEnd != nil {
		kb.requestsEnd.Stop()
		kb.requestsEnd = nil
	}
	if len(requests) == 0 {
		return
	}
	oldest := slices.MinFunc(requests, func(a, b request) int { return a.at.Compare(b.at) }).at
	kb.requestsEnd = time.AfterFunc(requestTime-kb.t.host.now().Sub(oldest), kb.withdrawRequests)
}

// dropRequests drops the requests that are too old and those whose requesters have left, and tells
// the holder. The Term's lock is held.
func (kb *keyboardClaim) dropRequests() {
	over := func(k request) bool {
		return k.left() || k.conn.ctx.Err() != nil || kb.t.host.now().Sub(k.at) >= requestTime
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

// withdrawRequests is dropRequests without the Term's lock held.
func (kb *keyboardClaim) withdrawRequests() {
	kb.t.term.Lock()
	defer kb.t.term.Unlock()
	kb.dropRequests()
}

// withdrawRequests calls withdrawRequests for each terminal that has any.
func (h *Host) withdrawRequests() {
	var asked []*Terminal
	h.mu.Lock()
	for _, t := range h.order {
		if t.keyboard.hasRequests.Load() {
			asked = append(asked, t)
		}
	}
	h.mu.Unlock()
	for _, t := range asked {
		t.keyboard.withdrawRequests()
	}
}

// tellRequestsLocked tells a new viewer who requests the keyboard, if its person holds it.
func (a *Attach) tellRequestsLocked() {
	if len(a.t.keyboard.requests) == 0 || !a.holdsLocked() || a.opts.ReadOnly || !a.hasWindow() {
		return
	}
	a.t.keyboard.dropRequests()
	for _, k := range a.t.keyboard.requests {
		a.noteLocked(a.t.keyboard.requestNote(k))
	}
}
