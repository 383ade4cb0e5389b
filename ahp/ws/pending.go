package ws

import (
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"termhost/ahp/host"
	"termhost/authz/admit"
)

const (
	// maxPending bounds the connections of one door that are not WebSockets, or not yet. Beyond it
	// one that waits is closed for each new one: silent connections keep nobody out.
	maxPending = 256
	// maxPerSource bounds the pending connections of one address, or of one account through SSH
	// forwards: a browser opens six.
	maxPerSource = 64
)

// newGates returns the gates for the connections that are not WebSockets, or not yet.
func newGates() map[string]*admit.Gate {
	gates := map[string]*admit.Gate{}
	for _, door := range []string{host.DoorWebSocket, host.DoorForward, host.DoorUnix} {
		gates[door] = admit.NewGate(admit.GateOptions{
			Startups:  admit.Startups{Start: maxPending, Rate: 100, Full: maxPending},
			PerSource: maxPerSource, Burst: 1, Stages: 1, Penalties: admit.NewPenalties(time.Now),
			Now: time.Now, Rand: rand.IntN,
		})
	}
	return gates
}

// connState follows the state of a connection.
func (s *Server) connState(c net.Conn, state http.ConnState) {
	below := connBelow(c)
	if below == nil {
		return
	}
	switch state {
	case http.StateNew:
		s.admit(below.door, c)
	case http.StateIdle:
		if below.door.long {
			below.door.long = false
			s.admit(below.door, c)
		}
	case http.StateHijacked, http.StateClosed:
		below.door.leave()
	}
}

// admit counts a connection in, and closes one if there are too many.
func (s *Server) admit(d *door, c net.Conn) {
	a, refusal := s.gates[d.name].Admit(sourceOf(d))
	if refusal != "" { // all others are being answered
		c.Close()
		return
	}
	d.admission = a
	a.OnDrop(func() { c.Close() }, nil)
}

// leave has the connection count no more.
func (d *door) leave() {
	if d.admission != nil {
		d.admission.Leave()
	}
}

// answering marks the connection as being answered, until done is called.
func (d *door) answering() (done func()) {
	if d.admission == nil {
		return func() {}
	}
	d.admission.Hold(true)
	return func() { d.admission.Hold(false) }
}

// sourceOf returns what counts as one source of connections to a door.
func sourceOf(d *door) admit.Source {
	switch d.name {
	case host.DoorForward:
		return admit.AccountSource(d.principal.Account())
	case host.DoorUnix:
		return admit.ThisMachine()
	}
	return admit.SourceOf(d.remote)
}
