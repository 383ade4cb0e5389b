package host

import (
	"errors"
	"fmt"

	"termhost/ahp"
	"termhost/authz"
)

// Claim takes the claim. It returns *authz.Denied if the policy says no, or why the connection has
// ended.
func (a *Attach) Claim() error {
	t := a.t
	id := a.conn.host.sshClient(a.conn.principal)
	t.term.Lock()
	defer t.term.Unlock()
	if err := a.mayActLocked(); err != nil {
		return err
	}
	if err := t.check(a.step(), authz.Claim); err != nil {
		return err
	}
	if t.keyboard.holder.claim == ahp.ClientClaim(id) {
		a.activeLocked()
		return nil
	}
	a.seizeLocked()
	return nil
}

// seizeLocked makes the viewer the holder.
func (a *Attach) seizeLocked() {
	t, p := a.t, a.conn.principal
	prior := t.keyboard.holder
	a.activeLocked()
	t.keyboard.lend(sshHolder(p), a.step(), true)
	if prior.named() != t.keyboard.holder.named() {
		t.keyboard.tell(a, Note{Kind: NoteHas})
	}
	if prior.principal != p.ID {
		name := prior.text()
		a.took.Store(&name)
	}
}

// lender returns the loan that the holder may end by handing the claim back, and whether the one
// who has lent it is still known. It takes Host.mu.
func (kb *keyboardClaim) lender() (prior *loan, known bool) {
	t := kb.t
	t.term.Lock()
	prior = kb.prior
	t.term.Unlock()
	return prior, prior != nil && t.host.stillKnown(prior.from)
}

// handBack gives the claim to the lender, which lender has returned. The viewer but is not told.
// The Term's lock is held.
func (kb *keyboardClaim) handBack(
	prior *loan, known bool, s step, but *Attach,
) (name string, err error) {
	switch {
	case kb.prior == nil, kb.prior != prior: // the claim changed hands since it was looked at
		return "", ErrNoPrior
	case !known:
		return "", fmt.Errorf("%s is not here any more", prior.from.text())
	}
	kb.lend(prior.from, s, false)
	kb.tell(but, Note{Kind: NoteHandedBack, Who: s.name()})
	return prior.from.text(), nil
}

// heldElsewhere refuses what only the holder may do to one who is not. The Term's lock is held.
func (kb *keyboardClaim) heldElsewhere() error {
	rule := "you do not hold the claim; " + kb.holder.text() + " does"
	return kb.t.denied(&authz.Denied{Verb: authz.Claim, Rule: rule})
}

// ErrNoPrior says that there is nobody to hand the keyboard back to.
var ErrNoPrior = errors.New("nobody held it before you")

// Holder returns the holder's name and the claim.
func (a *Attach) Holder() (name string, c ahp.Claim) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.keyboard.holder.text(), a.t.keyboard.holder.claim
}

// Took returns the name of the holder from whom this viewer has taken the claim since Took was
// called last; "" if it has not.
func (a *Attach) Took() string {
	if a.took.Load() == nil { // asked with every key
		return ""
	}
	if name := a.took.Swap(nil); name != nil {
		return *name
	}
	return ""
}

// HeldByOther returns the holder's name, and whether that is another principal than the viewer's.
func (a *Attach) HeldByOther() (name string, other bool) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	h := &a.t.keyboard.holder
	return h.text(), h.principal != "" && h.principal != a.conn.principal.ID
}

// Keyboard is what a viewer can do about the keyboard of the terminal that it shows.
type Keyboard int

const (
	// KeyboardNone: the viewer may never type.
	KeyboardNone Keyboard = iota
	// KeyboardHere: what is typed at the viewer reaches the program.
	KeyboardHere
	// KeyboardTakes: somebody else holds the claim, and the viewer's first key takes it.
	KeyboardTakes
	// KeyboardAsks: somebody else holds the claim, and may be asked for it.
	KeyboardAsks
	// KeyboardWaits: an agent holds the claim, who cannot be asked for it.
	KeyboardWaits
)

// Keyboard returns what the viewer can do about the keyboard, and who holds the claim.
func (a *Attach) Keyboard() (k Keyboard, holder string) {
	t := a.t
	t.term.Lock()
	defer t.term.Unlock()
	p, target := a.conn.principal, t.target(a.step())
	mayNow := authz.Check(p, authz.Input, target) == nil
	target.Holds = true
	switch {
	case a.opts.ReadOnly, authz.Check(p, authz.Input, target) != nil:
		k = KeyboardNone
	case mayNow:
		k = KeyboardHere
	case authz.Check(p, authz.Seize, target) == nil:
		k = KeyboardTakes
	case t.keyboard.holder.claim.Kind == ahp.ClaimSession:
		k = KeyboardWaits
	default:
		k = KeyboardAsks
	}
	return k, t.keyboard.holder.text()
}
