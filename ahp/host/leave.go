package host

import (
	"context"
	"errors"
)

// ErrLeaving ends connections when the host ends and its terminals go on.
var ErrLeaving = errors.New("the host restarts; its terminals go on")

// Leave is Shutdown for a host whose terminals go on: the keeper has them until the next host
// comes. Those that it does not have are hung up. It returns how many go on. The process must end
// then.
func (h *Host) Leave(ctx context.Context) (left int, err error) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return 0, nil
	}
	h.closed, h.leaving = true, true
	var ending []*Terminal
	for _, t := range h.order {
		switch {
		case t.exitedNow():
		case t.Client(): // its program runs elsewhere
		case t.term.Outlives():
			left++
		default:
			t.ending("because the host has ended, and no keeper has it")
			t.exec.forget()
			ending = append(ending, t)
		}
	}
	h.mu.Unlock()
	for _, t := range ending {
		t.exec.end(hangupGrace, "")
	}
	for _, t := range ending {
		select {
		case <-t.life.done:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	h.waking.Wait()
	h.janitor.end()
	h.memory.end()
	h.spares.Remove()
	h.list.stop()
	h.drain(ctx)
	for _, c := range h.connections() {
		c.End(ErrLeaving)
	}
	h.lookers.running.Wait()
	return left, errors.Join(err, h.highWater.End(h.store.Seq()))
}
