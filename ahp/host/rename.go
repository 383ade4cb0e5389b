package host

import (
	"context"
	"errors"

	"termhost/ahp"
	"termhost/authz"
)

// Rename gives t a title, which stays: its program changes it no more. It returns *authz.Denied,
// why the title cannot be one, or why the connection has ended.
func (c *Conn) Rename(t *Terminal, title string) error {
	s := step{conn: c, principal: c.principal}
	title = CleanTitle(title)
	if title == "" {
		return errors.New(reasonTitle)
	}
	t.term.Lock()
	defer t.term.Unlock()
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	if err := t.check(s, authz.Rename); err != nil {
		return err
	}
	t.renamed = true
	t.log.append(ahp.TerminalTitleChanged{Title: title}, nil)
	t.host.list.changed()
	return nil
}
