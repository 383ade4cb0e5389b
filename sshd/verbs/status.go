package verbs

import (
	"slices"

	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
	"termhost/sshd/viewer"
)

// chooseStatus decides whether the peer has a status line: as the person has chosen, or else as the
// host has it. Hosts that carry the peer are told by the variable how that is then.
func (v *invocation) chooseStatus() {
	on := v.Runner.Status != nil && v.Runner.Status()
	switch how, _ := v.chosen(keyboard.StatusVariable); how {
	case viewer.StatusLine:
		on = true
	case viewer.StatusOff:
		on = false
	}
	v.statusLine = viewer.NewStatus(on)
	v.IO = ownStatus{v.IO, v.statusLine}
}

// ownStatus is a peer that has a status line, or has not.
type ownStatus struct {
	IO
	is *viewer.Status
}

// Env returns the peer's variables with how it is now.
func (s ownStatus) Env() []string {
	return append(slices.Clone(s.IO.Env()), keyboard.StatusVariable+"="+s.is.String())
}

// fit is [viewer.Session.Fit] for the peer.
func (v *invocation) fit(o *host.AttachOptions) {
	(&viewer.Session{IO: v.IO, Status: v.statusLine}).Fit(o)
}
