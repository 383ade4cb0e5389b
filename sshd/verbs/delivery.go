package verbs

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"termhost/ahp/host"
)

// maxHeld bounds what is kept, in bytes, of what was typed at a program that does not read, beyond
// the terminal's own queue. Up to there the peer is still read from, so that an interrupt key
// behind it gets through.
const maxHeld = 256 << 10

// interruptKeys are what a terminal line usually turns into signals: VINTR, VQUIT, VSUSP. Whether
// it does so now, the host knows.
const interruptKeys = "\x03\x1c\x1a"

// delivery gives one terminal what is typed at it, in order, as its program reads.
type delivery struct {
	a   *host.Attach
	v   *invocation
	ctx context.Context // ends with the peer's streams, or when the viewer shows another terminal
	end context.CancelFunc

	// mu is held over host.Attach.Input, so it comes before the Term's lock; Input does not wait
	// for the program.
	mu      sync.Mutex
	held    []byte // what the terminal's queue has no room for
	feeding bool   // feed runs

	room chan struct{} // 1 deep: held has shrunk
}

func (v *invocation) newDelivery(a *host.Attach) *delivery {
	d := &delivery{a: a, v: v, room: make(chan struct{}, 1)}
	d.ctx, d.end = context.WithCancel(v.ctx)
	return d
}

// give gives the host p, or keeps it until there is room. typed says that the host has p already.
func (d *delivery) give(p []byte) (typed bool, err error) {
	d.mu.Lock()
	if d.held == nil {
		err := d.a.Input(p)
		if !errors.Is(err, host.ErrBusy) {
			d.mu.Unlock()
			return err == nil, err
		}
	}
	d.held = append(d.held, p...)
	if bytes.ContainsAny(p, interruptKeys) {
		// What is held did not fit before. So either it fits now, in order, or the interrupt key
		// discards what is before it: see ptypool.Term.Input.
		if d.a.Input(d.held) == nil {
			d.held = nil
		}
	}
	if d.held != nil && !d.feeding {
		d.feeding = true
		d.v.Go("passing on input", d.feed)
	}
	d.mu.Unlock()
	d.waitRoom()
	return false, nil
}

// waitRoom returns when little enough is held to read on.
func (d *delivery) waitRoom() {
	for {
		d.mu.Lock()
		full := len(d.held) > maxHeld
		d.mu.Unlock()
		if !full {
			return
		}
		select {
		case <-d.room:
		case <-d.ctx.Done():
			return
		}
	}
}

// feed hands over what is held as the program reads.
func (d *delivery) feed() {
	for {
		err := d.a.WaitRoom(d.ctx)
		d.mu.Lock()
		for err == nil && len(d.held) > 0 {
			piece := d.held[:min(len(d.held), readBytes)]
			if err = d.a.Input(piece); err == nil {
				d.held = d.held[len(piece):]
			}
		}
		busy := errors.Is(err, host.ErrBusy)
		if !busy { // all of it is gone, or nobody will ever take it
			d.held = nil
			d.feeding = false
		}
		d.mu.Unlock()
		select {
		case d.room <- struct{}{}:
		default:
		}
		if !busy {
			return
		}
	}
}
