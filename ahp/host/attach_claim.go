package host

import (
	"termhost/ahp"
	"termhost/authz"
)

// Claim takes the claim. It returns *authz.Denied or why the connection has ended.
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
		a.hasTyped = true
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
	a.hasTyped = true
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

// Holder returns the holder's name and the claim.
func (a *Attach) Holder() (name string, c ahp.Claim) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	return a.t.keyboard.holder.text(), a.t.keyboard.holder.claim
}

// Took returns the name of the holder from whom this viewer has taken the claim since the last call
// of Took; "": it has not.
func (a *Attach) Took() string {
	if a.took.Load() == nil { // Took is called for every key
		return ""
	}
	if name := a.took.Swap(nil); name != nil {
		return *name
	}
	return ""
}

// HeldByOther returns the holder's name, and whether the holder is not the viewer's principal.
func (a *Attach) HeldByOther() (name string, other bool) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	h := &a.t.keyboard.holder
	return h.text(), h.principal != "" && h.principal != a.conn.principal.ID
}

// Keyboard says how a viewer may come to type into the terminal that it shows.
type Keyboard int

const (
	// KeyboardNone: the viewer may never type.
	KeyboardNone Keyboard = iota
	// KeyboardHere: the viewer may type now.
	KeyboardHere
	// KeyboardTakes: somebody else holds the claim, and the viewer's first key takes it.
	KeyboardTakes
	// KeyboardAsks: somebody else holds the claim, and the viewer may request it.
	KeyboardAsks
	// KeyboardWaits: an agent holds the claim, from whom nobody can request it.
	KeyboardWaits
)

// Keyboard returns how the viewer may come to type, and the holder's name.
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
