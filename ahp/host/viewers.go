package host

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/keys"
)

// Viewer is one who watches a terminal; its JSON is an element of `who --json`. A connection of AHP
// watches what it subscribes to.
type Viewer struct {
	Name     string    `json:"name"` // of the principal
	Role     string    `json:"role"`
	How      string    `json:"how"`            // "ssh", "ahp" (the SSH subsystem), "ws" or "unix"
	Since    time.Time `json:"since"`          // in UTC; of an AHP connection, since it connected
	Cols     int       `json:"cols,omitempty"` // of the window; 0: it has none
	Rows     int       `json:"rows,omitempty"`
	Holds    bool      `json:"holds"` // its principal holds the claim, and not for another client
	ReadOnly bool      `json:"readOnly"`

	principal authz.Principal
	attach    *Attach // nil: it is a subscription of conn
	conn      *Conn
	client    string // the clientId by which it may hold the claim; "": it is that of no one client
}

// NotWatchingError says that nobody of a name watches a terminal.
type NotWatchingError struct{ Who, Terminal string }

func (e *NotWatchingError) Error() string {
	return fmt.Sprintf("nobody named %q watches %s", Printable(clip(e.Who)), e.Terminal)
}

// Viewers returns who watches t, the longest first. It returns *authz.Denied if p may not see t.
func (h *Host) Viewers(p authz.Principal, t *Terminal) ([]Viewer, error) {
	if err := authz.Check(p, authz.Read, t.seen()); err != nil {
		return nil, err
	}
	return h.viewers(t), nil
}

func (h *Host) viewers(t *Terminal) []Viewer {
	h.mu.Lock()
	var list []Viewer
	for a := range h.attaches {
		if a.t == t {
			list = append(list, Viewer{Since: a.since, attach: a, conn: a.conn,
				client: SSHClientID(a.conn.principal)})
		}
	}
	for c := range h.conns {
		if c.sub.Subscribed(t.ch) {
			v := Viewer{Since: c.since, conn: c}
			if c.client != nil {
				v.client = c.client.id
			}
			list = append(list, v)
		}
	}
	h.mu.Unlock()
	t.term.Lock()
	defer t.term.Unlock()
	if t.streams != nil {
		list = append(list, Viewer{Since: t.created, conn: t.streams.conn})
	}
	for i := range list {
		v := &list[i]
		v.principal = v.conn.principal
		v.Name, v.Role = Printable(v.principal.Name), v.principal.Role.String()
		v.How, v.Since = howOf(v.conn.door), v.Since.UTC()
		claim := t.holder.claim
		v.Holds = t.holder.principal == v.principal.ID &&
			(claim.Kind != ahp.ClaimClient || v.client == "" || v.client == claim.ClientID)
		if v.attach != nil {
			v.ReadOnly = v.attach.opts.ReadOnly
			if v.attach.opts.Cols > 0 {
				v.Cols, v.Rows = v.attach.cols, v.attach.rows
			}
		}
	}
	slices.SortFunc(list, func(a, b Viewer) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// howOf returns a short word for a door.
func howOf(door string) string {
	switch door {
	case DoorSubsystem:
		return "ahp"
	case DoorWebSocket, DoorForward:
		return "ws"
	}
	return door
}

// ViewerTable returns the viewers for people: a row of column names, then one for each.
func (h *Host) ViewerTable(list []Viewer) [][]string {
	rows := [][]string{{"NAME", "ROLE", "HOW", "SINCE", "SIZE", "KEYBOARD"}}
	for _, v := range list {
		size, keyboard := "-", "-"
		if v.Cols > 0 {
			size = fmt.Sprintf("%dx%d", v.Cols, v.Rows)
		}
		switch {
		case v.Holds:
			keyboard = "holds it"
		case v.ReadOnly:
			keyboard = "read-only"
		}
		age := Age(h.now().Sub(v.Since))
		rows = append(rows, []string{v.Name, v.Role, v.How, age, size, keyboard})
	}
	return rows
}

// Kick ends the views of t of the viewers that are named who, and tells them who did it. who is a
// name of the listing, or a principal's ID. They may come back: it is no ban. But the invitation of
// a guest ends, with all its connections. It returns how many were kicked, *authz.Denied, or
// [*NotWatchingError].
func (h *Host) Kick(p authz.Principal, t *Terminal, who string) (kicked int, err error) {
	if err := authz.Check(p, authz.Kick, authz.Target{}); err != nil {
		return 0, err
	}
	cause := fmt.Errorf("%s has ended your view of %s", Printable(p.Name), t.name)
	for _, v := range h.viewers(t) {
		if who != v.Name && who != v.principal.ID {
			continue
		}
		switch {
		case v.attach != nil:
			v.attach.kick(cause)
		case v.conn.sub.Subscribed(t.ch):
			v.conn.kick(t, cause)
		default:
			continue // it runs the program on pipes, and does not just watch it
		}
		kicked++
		if guest := v.principal.Guest; guest != "" {
			h.expel(guest, fmt.Errorf("%s has ended your invitation", Printable(p.Name)))
			if e := h.cfg().Authority.UninviteID(p, guest); !errors.Is(e, keys.ErrNoInvite) {
				err = errors.Join(err, e)
			}
		}
		h.log.Info("viewer kicked", "name", t.name, "viewer", v.Name, "principal", p.Name)
	}
	if kicked == 0 {
		return 0, &NotWatchingError{Who: who, Terminal: t.name}
	}
	return kicked, err
}

// expel ends the connections of an invitation's guests.
func (h *Host) expel(guest string, cause error) {
	for _, c := range h.connections() {
		if c.principal.Guest == guest {
			c.End(cause)
		}
	}
}

// kick has the attach ended, for a reason that the viewer is shown.
func (a *Attach) kick(cause error) {
	a.conn.host.mu.Lock()
	defer a.conn.host.mu.Unlock()
	select {
	case <-a.kicked:
	default:
		a.kickedBy = cause
		close(a.kicked)
	}
}

// Kicked is closed when somebody has ended the attach: see [Host.Kick].
func (a *Attach) Kicked() <-chan struct{} { return a.kicked }

// KickedBy returns by whom, for the viewer to read, once Kicked is closed.
func (a *Attach) KickedBy() error { return a.kickedBy }

// kick ends a connection's subscription, and what it has on loan goes back, as when an SSH session
// ends. AHP has no message for that; clients that do not know ours ignore it (JSON-RPC 2.0,
// notifications).
func (c *Conn) kick(t *Terminal, cause error) {
	c.sub.Unsubscribe(t.ch)
	t.term.Lock()
	lent, holds := t.lent, c.holds(t)
	t.term.Unlock()
	if holds {
		t.endLoan(lent)
	}
	note := []byte(`{"jsonrpc":"2.0","method":"termhost/unsubscribed","params":{"channel":`)
	note = ahp.AppendJSONString(note, t.uri)
	note = ahp.AppendJSONString(append(note, `,"reason":`...), cause.Error())
	note = append(note, "}}"...)
	c.sub.Post(func(dst []byte) []byte { return append(dst, note...) }, len(note))
}
