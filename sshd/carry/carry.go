package carry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/fleet"
	"termhost/authz"
	"termhost/ptypool/vt"
	"termhost/sshd/verbs"
)

// connectTime bounds how long a host that is there may take to let this one in.
const connectTime = 10 * time.Second

// Carrier runs verbs on the other hosts of a fleet. Its methods may be called concurrently.
type Carrier struct {
	Fleet *fleet.Fleet
	Audit *slog.Logger
	// Patience is how long a viewer waits for a host that has gone; 0: ten minutes.
	Patience time.Duration
}

// A Carrier is the verbs.Fleet.
var _ verbs.Fleet = (*Carrier)(nil)

// Hosts implements verbs.Fleet.
func (c *Carrier) Hosts() []verbs.FleetHost { return hostsOf(c.Fleet.Hosts()) }

// Survey implements verbs.Fleet.
func (c *Carrier) Survey(ctx context.Context) ([]verbs.FleetHost, error) {
	all, err := c.Fleet.Survey(ctx)
	return hostsOf(all), err
}

func hostsOf(all []fleet.Host) []verbs.FleetHost {
	list := make([]verbs.FleetHost, len(all))
	for i, h := range all {
		list[i] = verbs.FleetHost(h)
	}
	return list
}

// Choose implements verbs.Fleet.
func (c *Carrier) Choose(on string) (string, error) { return c.Fleet.Choose(on) }

// WithName implements verbs.Fleet.
func (c *Carrier) WithName(name string) []string { return c.Fleet.WithName(name) }

// mayName notes that a command line gives, or has given, a terminal of a host a NAME, if it may.
func (c *Carrier) mayName(host, line string) {
	switch verb, _, _ := strings.Cut(line, " "); verb {
	case "new", "rename", "run", "share":
		c.Fleet.MayName(host)
	}
}

// errGuest keeps those in who were invited to this host's terminals.
var errGuest = errors.New("an invitation is for terminals of the host that has made it")

// dial connects to a host as the peer.
func (c *Carrier) dial(ctx context.Context, peer verbs.Caller, host string) (*link, error) {
	return c.dialFor(ctx, peer.Conn.Principal(), peer.Conn.Source(), host)
}

// dialFor connects to a host as a principal that has come from somewhere. The connection ends after
// connectTime, unless begun is called.
func (c *Carrier) dialFor(ctx context.Context, p authz.Principal, source authz.Source,
	host string) (*link, error) {
	if p.Guest != "" || p.Command != "" {
		return nil, errGuest
	}
	to, err := c.Fleet.Member(host)
	if err != nil {
		return nil, err
	}
	key, err := to.SSHKey()
	if err != nil {
		return nil, err
	}
	nc, err := c.Fleet.Dial(host, fleet.KindCarried)
	if err != nil {
		return nil, err
	}
	assertion := fleet.Assertion{Owner: host, Door: c.Fleet.Name(), Principal: p,
		From: source.From, Connection: source.ID}
	var why string
	known := false // it is the host
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	until := time.Now().Add(connectTime)
	_ = nc.SetDeadline(until)
	conn, chans, reqs, err := gossh.NewClientConn(nc, host, &gossh.ClientConfig{
		User: assertion.String(),
		Auth: []gossh.AuthMethod{gossh.PublicKeys(c.Fleet.Signer())},
		HostKeyCallback: func(_ string, _ net.Addr, got gossh.PublicKey) error {
			if !bytes.Equal(got.Marshal(), key.Marshal()) {
				return fmt.Errorf("it does not have the key of %s", host)
			}
			known = true
			return nil
		},
		HostKeyAlgorithms: []string{gossh.KeyAlgoED25519},
		BannerCallback: func(text string) error {
			why = vt.Printable(text)
			return nil
		},
		Config: gossh.Config{
			// The two cost least where processors have instructions for AES.
			KeyExchanges: []string{gossh.KeyExchangeCurve25519},
			Ciphers:      []string{gossh.CipherAES128GCM, gossh.CipherAES256GCM},
		},
	})
	if err != nil {
		stop()
		nc.Close()
		switch {
		case why != "":
			return nil, &verbs.RefusedError{Host: host, Why: plainReason(why)}
		case !inTime(ctx, until):
			return nil, c.noAnswer(ctx, host)
		case !known || errors.Is(err, io.EOF) || streamError(nc) != nil:
			_ = c.Fleet.NoAnswer(host) // err says more
			return nil, fmt.Errorf("%s did not let you in: %w", host, err)
		}
		return nil, fmt.Errorf("%s refuses: %w", host, err)
	}
	c.Audit.Info(authz.AuditCarry, append([]any{"who", p.Name, "to", host}, source.Attrs(p)...)...)
	return &link{gossh.NewClient(conn, chans, reqs), nc, c, host, until, stop}, nil
}

// plainReason strips from a host's reason the package that it comes from.
func plainReason(why string) string {
	for _, prefix := range []string{"keys: ", "authz: "} {
		why = strings.TrimPrefix(why, prefix)
	}
	return why
}

// link is an SSH connection to another host.
type link struct {
	*gossh.Client
	nc    net.Conn
	by    *Carrier
	host  string
	until time.Time // the host has done what it was asked for, or the connection ends
	stop  func() bool
}

// begun says that the host has begun with what it was asked for.
func (l *link) begun() { _ = l.nc.SetDeadline(time.Time{}) }

// notBegun returns why it has not, with an error of the SSH connection. ctx is that of dial.
func (l *link) notBegun(ctx context.Context, err error) error {
	if inTime(ctx, l.until) {
		return err
	}
	return l.by.noAnswer(ctx, l.host)
}

// inTime reports whether neither ctx nor until has ended a connection.
func inTime(ctx context.Context, until time.Time) bool {
	return ctx.Err() == nil && time.Now().Before(until)
}

// noAnswer notes that a host has not answered in time, unless the peer has not waited, and returns
// that.
func (c *Carrier) noAnswer(ctx context.Context, host string) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%s does not answer", host)
	}
	return c.Fleet.NoAnswer(host)
}

// streamError returns why a stream of the fleet has broken off; nil: it has not.
func streamError(nc net.Conn) error {
	if s, ok := nc.(interface{ Err() error }); ok {
		return s.Err()
	}
	return nil
}

// goodbye is how long a host takes to close a connection whose sessions it has ended.
const goodbye = time.Second

// ends reports whether the host closes the connection, as it does when it ends itself.
func (l *link) ends() bool {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = l.Wait() // at the latest until close
	}()
	late := time.NewTimer(goodbye)
	defer late.Stop()
	select {
	case <-closed:
		return true
	case <-late.C:
		return false
	}
}

func (l *link) close() {
	l.stop()
	l.Client.Close()
	l.nc.Close()
}

// Output implements verbs.Fleet.
func (c *Carrier) Output(ctx context.Context, peer verbs.Caller, host, line string) (
	[]byte, error) {
	l, err := c.dial(ctx, peer, host)
	if err != nil {
		return nil, err
	}
	defer l.close()
	s, err := l.NewSession()
	if err != nil {
		return nil, l.notBegun(ctx, err)
	}
	defer s.Close()
	var out, complaint answer
	out.full, complaint.full = l.close, l.close
	s.Stdout, s.Stderr = &out, &complaint
	c.mayName(host, line)
	if err = s.Start(line); err != nil {
		return nil, l.notBegun(ctx, err)
	}
	defer c.mayName(host, line)
	l.begun()
	err = s.Wait()
	switch {
	case ctx.Err() != nil:
		err = c.noAnswer(ctx, host)
	case out.over || complaint.over:
		err = verbs.ErrAnswer
	case err != nil && len(complaint.Bytes()) > 0:
		err = errors.New(string(bytes.TrimSpace(complaint.Bytes())))
	}
	return out.Bytes(), err
}

// answer is a verbs.Answer that ends the connection to a host that says too much: it might never
// stop.
type answer struct {
	verbs.Answer
	full func()
	over bool
}

// Write implements io.Writer.
func (a *answer) Write(p []byte) (int, error) {
	n, err := a.Answer.Write(p)
	if err != nil {
		a.over = true
		a.full()
	}
	return n, err
}
