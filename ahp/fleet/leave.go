package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nkeys"

	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/bus/natslink"
	"termhost/ahp/fleet/roster"
)

// leaving is what a host says that leaves. It is signed, because a server of others could say it.
type leaving struct {
	Leave []byte `json:"leave"` // the signature of leaveText
}

// leaveText is what a host signs that leaves. Its key is new each time that it joins.
func leaveText(name string) []byte { return fmt.Appendf(nil, "termhost fleet leave 1\n%q", name) }

// asksToLeave reports whether a host proves that it leaves.
func (f *Fleet) asksToLeave(from string, p []byte) bool {
	var l leaving
	if json.Unmarshal(p, &l) != nil || len(l.Leave) == 0 {
		return false
	}
	m, err := f.Member(from)
	if err != nil {
		return false
	}
	key, err := nkeys.FromPublicKey(m.Key)
	return err == nil && key.Verify(leaveText(from), l.Leave) == nil
}

// letLeave removes a host. What it has open ends when the roster is reread, after the answer.
func (f *Fleet) letLeave(name string) ([]byte, error) {
	_, err := f.o.Folder.Change(func(r roster.Roster) (roster.Roster, error) {
		return r.Without(name)
	})
	if errors.As(err, new(*roster.UnknownError)) { // a command has just removed it
		return nil, nil
	}
	if err == nil {
		f.o.Log.Info("a host has left the fleet", "host", name)
	}
	return nil, err
}

// ErrHome keeps the fleet's home from leaving it unasked.
var ErrHome = errors.New("this host has made the fleet, which ends without it")

// ErrUntold says that the fleet's home does not know of a host that it has left.
var ErrUntold = errors.New("the fleet's home does not know of it")

// LeaveOptions are how a host leaves its fleet.
type LeaveOptions struct {
	Folder roster.Folder
	// End: the fleet's home may leave, too.
	End bool
	// Connect makes the link; nil: it is one on NATS, as Link says, but for the name and the key.
	Connect bus.Connect
	Link    natslink.Options
}

// Leave has the host leave its fleet, and deletes what it knows of it. The error is ErrUntold if it
// has, but the home could not be told before ctx was done.
func Leave(ctx context.Context, o LeaveOptions) error {
	m, err := o.Folder.Membership()
	if err != nil {
		return err
	}
	r, err := o.Folder.Roster(m.Root)
	if err != nil {
		return err
	}
	home := r.Home == m.Name
	if home && !o.End {
		return ErrHome
	}
	var untold error
	if !home && !o.Folder.Removed() {
		untold = o.tell(ctx, m, r.Home)
	}
	if errors.Is(untold, natslink.ErrRefused) && len(o.Link.Servers) == 0 {
		untold = nil // the home's own server does not know the host any more
	}
	if err := o.Folder.Leave(); err != nil {
		return err
	}
	if untold != nil {
		return fmt.Errorf("%w: %w", ErrUntold, untold)
	}
	return nil
}

// tell tells the home.
func (o LeaveOptions) tell(ctx context.Context, m roster.Membership, home string) error {
	key, err := o.Folder.Key()
	if err != nil {
		return err
	}
	signature, err := key.Sign(leaveText(m.Name))
	if err != nil {
		return err
	}
	connect := o.Connect
	if connect == nil {
		link := o.Link
		link.Name, link.Key, link.Once = m.Name, key, true
		if len(link.Servers) == 0 {
			link.Servers = m.Servers
			if link.TLS, err = roster.ClientTLS(m.Authority); err != nil {
				return err
			}
		}
		connect = natslink.Connect(link)
	}
	node, err := bus.New(m.Name, connect, bus.Handlers{})
	if err != nil {
		return err
	}
	defer node.Close()
	request, err := json.Marshal(leaving{signature})
	if err != nil {
		return err
	}
	_, err = node.Request(ctx, home, request)
	return err
}
