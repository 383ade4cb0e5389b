package ptypool

import "sync/atomic"

// Meter counts what all terminals of a Pool print, virtual ones included. Its methods may be called
// concurrently.
type Meter struct {
	printed atomic.Uint64
	much    chan struct{} // 1 deep
}

// Meter returns the Pool's.
func (p *Pool) Meter() *Meter { return &p.meter }

// Printed returns how much has been printed so far, in bytes.
func (m *Meter) Printed() uint64 { return m.printed.Load() }

// Much returns a channel, for one receiver, that gets a value when another MiB has been printed.
func (m *Meter) Much() <-chan struct{} { return m.much }

// count counts n bytes of output.
func (m *Meter) count(n int) {
	const mebibyte = 20 // bits
	total := m.printed.Add(uint64(n))
	if total>>mebibyte == (total-uint64(n))>>mebibyte {
		return
	}
	select {
	case m.much <- struct{}{}:
	default:
	}
}
