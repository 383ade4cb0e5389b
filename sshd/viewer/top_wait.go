package viewer

import (
	"context"
	"errors"

	"termhost/ptypool/keyboard"
)

// errNotAwaited is for a person who does not wait for a terminal of another host.
var errNotAwaited = errors.New("you did not wait")

// carried connects to a terminal of another host, and returns what shows it while ctx lasts, which
// cancel ends. What is typed meanwhile is for that terminal, but for Ctrl-C, which ends the wait.
func (t *top) carried(ctx context.Context, cancel context.CancelCauseFunc, s *Session, r *Row) (
	func() (Ending, error), error) {
	type connected struct {
		Carried
		err error
	}
	done := make(chan connected, 1)
	t.s.Go("connecting to another host", func() {
		there, err := t.o.Carry(ctx, s, r)
		done <- connected{there, err}
	})
	chunks := t.input.chunks
	for {
		select {
		case p, ok := <-chunks:
			switch {
			case !ok:
				chunks = nil
				cancel(ErrLost)
			case interrupts(p):
				t.input.got(p)
				cancel(errNotAwaited)
			default:
				t.input.keep(t.input.got(p))
			}
		case there := <-done:
			switch why := context.Cause(ctx); {
			case why != nil && there.err == nil:
				there.GiveUp()
				return nil, why
			case why != nil:
				return nil, why
			}
			return there.Show, there.err
		}
	}
}

// interrupts reports whether Ctrl-C is among the keys of p.
func interrupts(p []byte) bool {
	for len(p) > 0 {
		k, n := keyboard.Read(p)
		if n == 0 {
			return false
		}
		if k.Mods == keyboard.Ctrl && k.Code == 'c' {
			return true
		}
		p = p[n:]
	}
	return false
}
