package host

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/keys"
)

// Viewer is a viewer of a terminal; its JSON is an element of `who --json`. A connection of AHP
// views the terminals to which it subscribes.
type Viewer struct {
	Name string `json:"name"` // see names.go
	Role string `json:"role"`
	// Connection is the id of the viewer's connection, as the audit log has it.
	Connection string `json:"connection"`

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
type NotWatchingError struct {
	Who, Terminal string
	Programs      []string // the names of programs that came in with the key of Who and do
}

func (e *NotWatchingError) Error() string {
	text := fmt.Sprintf("nobody named %q watches %s", Printable(clip(e.Who)), e.Terminal)
	if n := len(e.Programs); n > 0 {
		does := " do"
		if n == 1 {
			does = " does"
		}
		text += ", but " + strings.Join(e.Programs, " and ") + does
	}
	return text
}

// Viewers returns who watches t, the longest first. It returns *authz.Denied if the
// principal may not see t.
func (c *Conn) Viewers(t *Terminal) ([]Viewer, error) {
	if err := authz.Check(c.principal, authz.Read, t.seen()); err != nil {
		return nil, err
	}
	return c.host.viewers(t), nil
}

// Watched is a terminal with those who watch it, the longest first.
type Watched struct {
	Terminal *Terminal
	Viewers  []Viewer // at least one
}

// Watched returns the terminals that somebody watches, the oldest first, of those that the
// principal may read. It returns *authz.Denied if the principal may not list.
func (c *Conn) Watched() (all []Watched, err error) {
	terminals, err := c.Terminals()
	for _, t := range terminals {
		if !t.isWatched() {
			continue // most are not, and looking for viewers takes longer
		}
		if list, err := c.Viewers(t); err == nil && len(list) > 0 {
			all = append(all, Watched{t, list})
		}
	}
	return all, err
}

// isWatched reports whether there may be viewers of t.
func (t *Terminal) isWatched() bool {
	t.term.Lock()
	defer t.term.Unlock()
	return t.streams != nil || t.ch.Summary().Readers > 0
}

func (h *Host) viewers(t *Terminal) []Viewer {
	h.mu.Lock()
	var list []Viewer
	for a := range h.attaches {
		if a.t == t {
			list = append(list, Viewer{Since: a.since, attach: a, conn: a.conn,
				Name: a.conn.Name(), client: SSHClientID(a.conn.principal)})
		}
	}
	for c := range h.conns {
		if c.sub.Subscribed(t.ch) {
			v := Viewer{Since: c.since, conn: c, Name: c.Name()}
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
		list = append(list, Viewer{Since: t.origin.created, conn: t.streams.conn,
			Name: t.streams.conn.Name()})
	}
	for i := range list {
		v := &list[i]
		v.principal = v.conn.principal
		v.Role, v.Connection = v.principal.Role.String(), v.conn.source.ID
		v.How, v.Since = v.conn.door.How, v.Since.UTC()
		claim := t.keyboard.holder.claim
		v.Holds = t.keyboard.holder.principal == v.principal.ID &&
			(claim.Kind != ahp.ClaimClient || v.client == "" || v.client == claim.ClientID)
		if v.attach != nil {
			v.ReadOnly = v.attach.opts.ReadOnly
			if v.attach.hasWindow() {
				v.Cols, v.Rows = v.attach.cols, v.attach.rows
			}
		}
	}
	slices.SortFunc(list, func(a, b Viewer) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Kick ends all views of t by viewers of a name, and names the kicker to them. who is a name of the
// listing, which may be a guest's without its "guest:", or a principal's ID. They may come back: it
// is no ban. But the invitation of a guest ends, with all its connections. It returns the name in
// the listing and how many were kicked, *authz.Denied, [*AmbiguousNameError] or
// [*NotWatchingError].
func (c *Conn) Kick(t *Terminal, who string) (name string, kicked int, err error) {
	h, p := c.host, c.principal
	if err := authz.Check(p, authz.Kick, t.seen()); err != nil {
		return "", 0, err
	}
	by := Printable(nameOf(p))
	cause := &KickedError{By: by, Terminal: t.Name()}
	list := h.viewers(t)
	views, err := h.named(list, who)
	if err != nil {
		return "", 0, err
	}
	for _, v := range views {
		switch {
		case v.attach != nil:
			v.attach.kick(cause)
		case v.conn.sub.Subscribed(t.ch):
			v.conn.kick(t, cause)
		default:
			continue // it runs the program on pipes, and does not just watch it
		}
		name = v.Name
		kicked++
		if guest := v.principal.Guest; guest != "" {
			h.expel(guest, fmt.Errorf("%s has ended your invitation", by))
			if e := h.cfg().Authority.UninviteID(p, guest); !errors.Is(e, keys.ErrNoInvite) {
				err = errors.Join(err, e)
			}
		}
		c.Audit(authz.AuditKick, "terminal", t.Name(), "who", c.Name(), "to", v.Name)
		h.log.Info("viewer kicked", "name", t.Name(), "viewer", v.Name, "principal", p.Name)
	}
	if kicked == 0 {
		e := &NotWatchingError{Who: who, Terminal: t.Name()}
		for _, v := range list {
			if strings.HasPrefix(v.Name, who+"/") && !slices.Contains(e.Programs, v.Name) {
				e.Programs = append(e.Programs, v.Name)
			}
		}
		return "", 0, e
	}
	return name, kicked, err
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

// Kicked is closed when somebody has ended the attach: see [Conn.Kick].
func (a *Attach) Kicked() <-chan struct{} { return a.kicked }

// KickedBy returns by whom, for the viewer to read, once Kicked is closed.
func (a *Attach) KickedBy() error { return a.kickedBy }

// kick ends a connection's subscription, and what it has on loan goes back, as when an SSH session
// ends. AHP has no message for that; clients that do not know ours ignore it (JSON-RPC 2.0,
// notifications).
func (c *Conn) kick(t *Terminal, cause error) {
	c.sub.Unsubscribe(t.ch)
	t.term.Lock()
	lent, holds := t.keyboard.lent, c.holds(t)
	t.term.Unlock()
	if holds {
		t.keyboard.endLoan(lent)
	}
	note := ahp.AppendNotification(nil, c.NameOf(ahp.MethodUnsubscribed), struct {
		Channel string `json:"channel"`
		Reason  string `json:"reason"`
	}{t.uri, cause.Error()})
	c.sub.Post(func(dst []byte) []byte { return append(dst, note...) }, len(note))
}

// AmbiguousNameError says that a name is that of a guest, without "guest:", and of somebody else.
type AmbiguousNameError struct {
	Name   string
	Others []string // what names each of them alone: "ann (SHA256:...)", "guest:ann"
}

func (e *AmbiguousNameError) Error() string {
	return fmt.Sprintf("%q may be %s; say which", Printable(clip(e.Name)),
		strings.Join(e.Others, " or "))
}

// named returns the viewers that who names: by the name in listings, by the principal's ID, or by a
// guest's name without "guest:". It returns *AmbiguousNameError if who is such a name of a guest,
// and that of somebody else who is connected.
func (h *Host) named(list []Viewer, who string) (found []Viewer, err error) {
	others, guests := map[string]bool{}, false
	for _, v := range list {
		switch {
		case v.principal.ID == who:
			found = append(found, v)
		case v.Name == who:
			found = append(found, v)
			others[v.Name+" ("+v.principal.ID+")"] = true
		case v.principal.Guest != "" && v.Name == guestPrefix+who:
			found = append(found, v)
			guests = true
		}
	}
	if !guests {
		return found, nil
	}
	for _, c := range h.connections() {
		if p := c.principal; p.Guest == "" && Printable(p.Name) == who {
			others[who+" ("+p.ID+")"] = true
		}
	}
	if len(others) > 0 {
		e := &AmbiguousNameError{Name: who}
		for name := range others {
			e.Others = append(e.Others, name)
		}
		slices.Sort(e.Others)
		e.Others = append(e.Others, guestPrefix+who)
		return nil, e
	}
	return found, nil
}
