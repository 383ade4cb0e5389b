package host

import (
	"context"

	"termhost/ahp"
	"termhost/authz"
)

// Labels returns the terminal's labels.
func (t *Terminal) Labels() ahp.Labels {
	if l := t.labels.Load(); l != nil {
		return *l
	}
	return ""
}

// Label changes t's labels: K=V sets one, K- takes it away. It returns *authz.Denied, why there are
// no such labels, ErrGone, or why the connection has ended.
func (c *Conn) Label(t *Terminal, changes ...string) error {
	t.kept.load()
	t.term.Lock()
	defer t.term.Unlock()
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	err := authz.Check(c.principal, authz.Describe, t.target(step{principal: c.principal}))
	if err != nil {
		return err
	}
	select {
	case <-t.life.gone:
		return ErrGone
	default:
	}
	was := t.Labels()
	now, err := was.Change(changes...)
	if err != nil || now == was {
		return err
	}
	t.labels.Store(&now)
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Labels = now })
	t.log.writeDecisions()
	t.log.keepDescription()
	t.emit(Event{Kind: EventLabels, By: c.Name()})
	t.host.list.changed()
	t.groupMayChange()
	return nil
}

// Selected returns the terminals that the connection's principal sees, and whose labels s selects,
// oldest first. It returns *authz.Denied if the principal may not list.
func (c *Conn) Selected(s ahp.Selector) (list []*Terminal, err error) {
	all, err := c.Terminals()
	for _, t := range all {
		if s.Selects(t.Labels()) {
			list = append(list, t)
		}
	}
	return list, err
}

// Select has the reader read the events only of terminals whose labels s selects when they happen.
// It is called before the first Pull.
func (r *EventReader) Select(s ahp.Selector) {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	r.selector = s
}
