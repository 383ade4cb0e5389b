package viewer

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"termhost/ahp/host"
)

// maxHeld bounds, in bytes, the typed input that is kept beyond the terminal's own queue for a
// program that does not read. Up to it the peer is still read from, so that a later interrupt key
// gets through.
const maxHeld = 256 << 10

// interruptKeys are the keys that a terminal line usually turns into signals: VINTR, VQUIT, VSUSP.
// The host knows whether it does now.
const interruptKeys = "\x03\x1c\x1a"

// delivery passes typed input to one terminal, in order, as its program reads.
type delivery struct {
	a  *host.Attach
	io IO // runs feed
	// dropped is called without mu with held input that was lost, whether it may be shown, and why.
	dropped func(p []byte, shown bool, err error)
	// ctx ends with the peer's streams, or when the viewer shows another terminal.
	ctx context.Context
	end context.CancelFunc

	// mu is held over host.Attach.Input, so it comes before the Term's lock; Input does not block.
	mu      sync.Mutex
	held    []byte // what the terminal's queue has no room for
	feeding bool   // feed runs

	room chan struct{} // 1 deep: held has shrunk
}

func newDelivery(ctx context.Context, io IO, a *host.Attach,
	dropped func([]byte, bool, error)) *delivery {
	d := &delivery{a: a, io: io, dropped: dropped, room: make(chan struct{}, 1)}
	d.ctx, d.end = context.WithCancel(ctx)
	return d
}

// give passes p to the host, or keeps it until there is room. rest: p continues the input before
// it. typed: the host has p already.
func (d *delivery) give(p []byte, rest bool) (typed bool, err error) {
	input := d.a.Input
	if rest {
		input = d.a.InputLater
	}
	d.mu.Lock()
	if d.held == nil {
		err := input(p)
		if !errors.Is(err, host.ErrBusy) {
			d.mu.Unlock()
			return err == nil, err
		}
	}
	d.held = append(d.held, p...)
	if bytes.ContainsAny(p, interruptKeys) {
		// What is held did not fit before. Either it fits now, in order, or the interrupt key
		// discards it: see ptypool.Term.Input.
		if d.a.InputLater(d.held) == nil {
			d.held = nil
		}
	}
	if d.held != nil && !d.feeding {
		d.feeding = true
		d.io.Go("passing on input", d.feed)
	}
	d.mu.Unlock()
	d.waitRoom()
	return false, nil
}

// empty reports whether nothing is kept here.
func (d *delivery) empty() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.held) == 0
}

// waitRoom waits until little enough is held to read on.
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

// feed passes on what is held as the program reads.
func (d *delivery) feed() {
	for {
		err := d.a.WaitRoom(d.ctx)
		d.mu.Lock()
		for err == nil && len(d.held) > 0 {
			piece := d.held[:min(len(d.held), readBytes)]
			if err = d.a.InputLater(piece); err == nil {
				d.held = d.held[len(piece):]
			}
		}
		busy, lost := errors.Is(err, host.ErrBusy), d.held
		if !busy { // all of it is passed on, or lost
			d.held = nil
			d.feeding = false
		}
		d.mu.Unlock()
		select {
		case d.room <- struct{}{}:
		default:
		}
		if !busy && len(lost) > 0 && d.ctx.Err() == nil {
			d.dropped(lost, d.a.ShowsInput(), err)
		}
		if !busy {
			return
		}
	}
}
