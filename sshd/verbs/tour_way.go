package verbs

import (
	"context"
	"errors"
	"time"

	"termhost/ahp/host"
)

// connectingDelay is how long a person waits before they are told for what.
const connectingDelay = 500 * time.Millisecond

// way leads from the terminal that is shown on a leg to another one. What is typed meanwhile is for
// the other one: see [ahead].
type way struct {
	t *tour
	l *leg
	// connecting tells the person for which terminal they wait; nil: the viewer does.
	connecting func(name string)
}

// to makes a terminal ready that the person goes to next.
func (w *way) to(to stop, text string) error {
	return w.lead(w.t.label(to), to.host != "", func(ctx context.Context) (*ready, error) {
		return w.t.prepare(ctx, to, text)
	})
}

// name is to for a terminal by its host and NAME.
func (w *way) name(on, name, text string) error {
	if on != w.t.v.self() {
		return w.to(stop{host: on, name: name}, text)
	}
	return w.lead(on+"/"+name, false, func(ctx context.Context) (*ready, error) {
		own, err := w.t.v.find(name)
		if err != nil {
			return nil, err
		}
		return w.t.prepare(ctx, stop{own: own}, text)
	})
}

// lead has a terminal made ready by prepare, for which the person waits if waits is true. The error
// says how many keys were dropped.
func (w *way) lead(name string, waits bool,
	prepare func(context.Context) (*ready, error)) error {
	t := w.t
	ctx, cancel := context.WithCancel(t.v.ctx)
	var left func()
	if waits {
		left = cancel
	}
	keys := w.l.hold(t.v.prefix(), left)
	told := w.telling(name)
	r, err := prepare(ctx)
	told()
	switch undone := w.l.settle(keys, err == nil); {
	case undone != nil && err == nil:
		r.close()
		fallthrough
	case undone != nil:
		err = undone
	}
	if err != nil {
		cancel()
		why := t.v.explain(err)
		if errors.Is(err, errNotAwaited) {
			why = "you did not wait for " + host.Printable(name)
		}
		return errors.New(NotTyped(why, keys.keys))
	}
	r.stop = cancel
	t.setNext(r)
	if w.l.isOver() { // the viewer has ended otherwise
		t.drop()
	}
	return nil
}

// telling tells the person for what they wait, unless the function that it returns is called soon.
// After that call nothing more is told.
func (w *way) telling(name string) (stop func()) {
	if w.connecting == nil {
		return func() {}
	}
	done := make(chan struct{})
	slow := time.AfterFunc(connectingDelay, func() {
		defer close(done)
		w.connecting(host.Printable(name))
	})
	return func() {
		if !slow.Stop() {
			<-done
		}
	}
}
