package host

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"termhost/ahp"
	"termhost/ahp/visible"
)

// AskPermission tells people that c's agent waits for its editor's user to permit something that is
// about t. It is among the asks, and t waits for an approval, until [Conn.EndPermission] is called
// with the same key, t exits, or the connection ends. Nobody decides about it here. title says in
// the agent's words what it is for. AskPermission returns ErrExited, *authz.Denied if too much
// waits already, or why the connection has ended. It may be called concurrently.
func (c *Conn) AskPermission(t *Terminal, key, title string) error {
	t.term.Lock()
	defer t.term.Unlock()
	of := func(k *permission) bool { return k.s.conn == c && k.key == key }
	switch {
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	case t.life.exited:
		return ErrExited
	case slices.ContainsFunc(t.approvals.permissions, of):
		return nil
	case len(t.approvals.permissions) >= maxTerminalHeld:
		return t.denied(errHeldInputs)
	}
	s := step{conn: c, principal: c.principal}
	k := &permission{s: s, key: key, told: ahp.TerminalAsk{
		Ask: t.host.nextHeldID(), By: s.name(), Since: t.host.now().UTC(), Does: ahp.AskElsewhere,
		Text: strings.ToValidUTF8(clip(title), ""), Asker: c.principal.ID}}
	k.told.Lines, k.told.Hidden = visible.Lines(k.told.Text)
	k.unwatch = context.AfterFunc(c.ctx, func() { c.EndPermission(t, key) })
	t.log.writeDecisions() // they have the number in its ID
	t.approvals.permissions = append(t.approvals.permissions, k)
	t.approvals.publishHeld()
	t.emit(Event{Kind: EventAsks, Ask: k.told.Ask, By: k.told.By, from: c})
	return nil
}

// EndPermission ends what AskPermission has told, if it is told still.
func (c *Conn) EndPermission(t *Terminal, key string) {
	t.term.Lock()
	defer t.term.Unlock()
	t.approvals.dropPermissions(func(k *permission) bool { return k.s.conn == c && k.key == key })
}

// dropPermissions ends what is told of those permissions that which selects. The Term's lock is
// held.
func (ap *approvals) dropPermissions(which func(*permission) bool) {
	left := slices.DeleteFunc(slices.Clone(ap.permissions), func(k *permission) bool {
		over := which(k)
		if over {
			k.unwatch()
		}
		return over
	})
	if len(left) < len(ap.permissions) {
		ap.permissions = left
		ap.publishHeld()
	}
}

// elsewhere returns why nobody decides here about what ask names, or if that is "" and nothing is
// held, about what the terminal waits for; nil: that is no permission. The Term's lock is held.
func (ap *approvals) elsewhere(ask string) error {
	for _, k := range ap.permissions {
		if k.told.Ask == ask || ask == "" && len(ap.held) == 0 {
			return fmt.Errorf("%s is asked in the editor of %s: answer it there", k.told.Ask,
				k.told.By)
		}
	}
	return nil
}
