package carry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/fleet"
	"termhost/ahp/rpc/relay"
	"termhost/authz"
)

// Door is what AHP sees of the fleet: an AHP connection to another host is the subsystem "ahp" of
// an SSH session there.
type Door struct{ *Carrier }

// A Door is the relay.Fleet.
var _ relay.Fleet = Door{}

// Name implements relay.Fleet.
func (d Door) Name() string { return d.Fleet.Name() }

// Hosts implements relay.Fleet. A host that is no door reaches none but itself.
func (d Door) Hosts() (list []relay.Host) {
	self, err := d.Fleet.Member(d.Fleet.Name())
	door := err == nil && self.Door
	for _, h := range d.Fleet.Hosts() {
		if door || h.Self {
			list = append(list,
				relay.Host{Name: h.Name, Self: h.Self, Reachable: h.Reachable, Heard: h.Heard,
					Version: h.Version})
		}
	}
	return list
}

// Has implements relay.Fleet.
func (d Door) Has(host string) bool {
	_, err := d.Fleet.Member(host)
	return err == nil && host != d.Fleet.Name()
}

// Reachable implements relay.Fleet.
func (d Door) Reachable(host string) error {
	if _, err := d.Fleet.Member(host); err != nil {
		return err
	}
	if self, err := d.Fleet.Member(d.Fleet.Name()); err != nil || !self.Door {
		return fleet.ErrNoDoor
	}
	return d.Fleet.Reachable(host)
}

// Heard implements relay.Fleet.
func (d Door) Heard(host string) uint64 { return d.Fleet.Heard(host) }

// MayName implements relay.Fleet.
func (d Door) MayName(host string) { d.Fleet.MayName(host) }

// Dial implements relay.Fleet.
func (d Door) Dial(ctx context.Context, p authz.Principal, from authz.Source, host string) (
	io.ReadWriteCloser, error) {
	l, err := d.dialFor(ctx, p, from, host)
	if err != nil {
		return nil, err
	}
	c, err := l.ahp()
	if err != nil {
		l.close()
		return nil, l.notBegun(ctx, err)
	}
	l.begun()
	return c, nil
}

// ahp begins AHP on the connection.
func (l *link) ahp() (*ahpConn, error) {
	ch, reqs, err := l.OpenChannel("session", nil)
	if err != nil {
		return nil, err
	}
	c := &ahpConn{Channel: ch, link: l, complained: make(chan struct{})}
	go func() {
		defer close(c.complained)
		p, _ := io.ReadAll(io.LimitReader(ch.Stderr(), maxComplaint))
		c.complaint = string(p)
		_, _ = io.Copy(io.Discard, ch.Stderr())
	}()
	go gossh.DiscardRequests(reqs)
	name := struct{ Name string }{"ahp"}
	if ok, err := ch.SendRequest("subsystem", true, gossh.Marshal(&name)); err != nil || !ok {
		return nil, fmt.Errorf("%s carries no AHP: its termhost may be an older one", l.host)
	}
	return c, nil
}

// maxComplaint bounds what is kept of why a host ends a connection, in bytes.
const maxComplaint = 1 << 10

// ahpConn is an AHP connection to another host.
type ahpConn struct {
	gossh.Channel
	link *link

	complained chan struct{} // closed when complaint is set
	complaint  string        // what the host has said on stderr
}

// Read implements io.Reader. It fails with the reason that the host has for the end.
func (c *ahpConn) Read(p []byte) (int, error) {
	n, err := c.Channel.Read(p)
	if err == nil {
		return n, nil
	}
	if stream, ok := c.link.nc.(interface{ Err() error }); ok && stream.Err() != nil {
		return n, stream.Err()
	}
	late := time.AfterFunc(goodbye, c.link.close)
	<-c.complained
	late.Stop()
	if text := lastLine(c.complaint); text != "" {
		return n, errors.New(text)
	}
	return n, err
}

// Close ends the SSH connection.
func (c *ahpConn) Close() error {
	c.link.close()
	return nil
}

// lastLine returns the last line of a complaint, without the program's name.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimPrefix(text[strings.LastIndexByte(text, '\n')+1:], "termhost: ")
}
