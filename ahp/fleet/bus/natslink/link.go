package natslink

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"termhost/ahp/fleet/bus"
)

// All stands in subjects where a host's name would: no host may have it.
const All = "all"

const (
	prefix        = "th"
	controlSuffix = "c"
	bytesSuffix   = "b"
)

const (
	// reconnectWait and reconnectJitter space the attempts of hosts that have all lost one server.
	reconnectWait   = time.Second
	reconnectJitter = 2 * time.Second
	// pingInterval finds a connection that only looks alive within 15 s. Package fleet knows of
	// that for control only.
	pingInterval = 5 * time.Second
	maxPings     = 2
	// connectTime bounds each step of connecting, on a slow network too.
	connectTime = 5 * time.Second
	// pendingMessages and pendingBytes bound what has come and waits: 256 streams that flow.
	pendingMessages = 64 << 10
	pendingBytes    = 64 << 20
	// unsentBytes bounds what is kept for a server that is away. What a stream carries it keeps
	// itself, so this is for nothing but the start; -1: none.
	unsentBytes = -1
)

// Options are how a host reaches the server.
type Options struct {
	// Name is the host's, of the bus.
	Name string
	// Servers are URLs, such as tls://door.example:7723. InProcess is a server of this process
	// instead.
	Servers   []string
	InProcess nats.InProcessConnProvider
	// TLS, unless InProcess; nil: as the URLs say, where the server is known by the authorities in
	// CAFile, in PEM, or, if that is "", by the system's.
	TLS    *tls.Config
	CAFile string
	// Key proves the host to the server, unless Token does, or CredentialsFile, which an operator
	// of NATS has made.
	Key             nkeys.KeyPair
	Token           string
	CredentialsFile string
	// Once: a server that is not there, or refuses, is an error.
	Once bool
	// Denied is called with an ErrDenied when the server does not let the host send something, or
	// listen; nil: that is logged once for each connection. It must not block.
	Denied func(error)
	Log    *slog.Logger
}

// ErrNoServer says that none of the servers can be reached, or takes the host in.
var ErrNoServer = errors.New("no server of the fleet can be reached")

// ErrRefused says that the server does not let the host in.
var ErrRefused = errors.New("the fleet's server does not let this host in")

// ErrDenied says that the server lets the host in, but not speak or listen as itself.
var ErrDenied = errors.New("the fleet's server does not let this host speak as itself")

// maxHeard bounds the hosts that are heard one by one. With its own name a connection has then
// fewer than maxSubscriptions.
const maxHeard = 12

// link is a bus.Link.
type link struct {
	name           string
	receiver       bus.Receiver
	control, bytes *nats.Conn
	cutting        sync.WaitGroup // Reconnect

	mu    sync.Mutex                    // a leaf
	heard map[string]*nats.Subscription // by the host that announces; anybody: all
}

// anybody is the token of a subject that stands for any (NATS, subject-based messaging).
const anybody = "*"

// Connect returns what connects a host to its server. The link connects again by itself, for ever;
// the server need not be there at first.
func Connect(o Options) bus.Connect {
	return func(r bus.Receiver) (bus.Link, error) {
		l := &link{name: o.Name, receiver: r, heard: map[string]*nats.Subscription{}}
		var err error
		if l.control, err = o.dial(r); err != nil {
			return nil, err
		}
		if l.bytes, err = o.dial(r); err != nil {
			l.control.Close()
			return nil, err
		}
		err = errors.Join(
			l.subscribe(l.control, controlSuffix),
			l.subscribe(l.bytes, bytesSuffix))
		if err != nil {
			l.Close()
			return nil, err
		}
		l.reach()
		if err := l.denied(); o.Once && err != nil {
			l.Close()
			return nil, err
		}
		return l, nil
	}
}

// denied returns an ErrDenied if the server has said that the host may not listen.
func (l *link) denied() error {
	for _, c := range []*nats.Conn{l.control, l.bytes} {
		if err := c.LastError(); errors.Is(err, nats.ErrPermissionViolation) {
			return fmt.Errorf("%w: %w", ErrDenied, err)
		}
	}
	return nil
}

// dial makes one of the two connections.
func (o Options) dial(r bus.Receiver) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name("termhost " + o.Name), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(!o.Once),
		nats.ReconnectWait(reconnectWait), nats.ReconnectJitter(reconnectJitter, reconnectJitter),
		nats.IgnoreAuthErrorAbort(), nats.PingInterval(pingInterval),
		nats.MaxPingsOutstanding(maxPings), nats.Timeout(connectTime),
		nats.FlusherTimeout(writeDeadline), nats.ReconnectOnFlusherError(),
		nats.ReconnectBufSize(unsentBytes),
		nats.ReconnectHandler(func(*nats.Conn) { r.Connected() }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				o.Log.Warn("the fleet's server is lost; connecting again", "err", err)
			}
		}),
		nats.ErrorHandler(o.handleErrors()),
	}
	switch {
	case o.CredentialsFile != "":
		options = append(options, nats.UserCredentials(o.CredentialsFile))
	case o.Token != "":
		options = append(options, nats.Token(o.Token))
	case o.Key != nil:
		public, err := o.Key.PublicKey()
		if err != nil {
			return nil, err
		}
		options = append(options, nats.Nkey(public, o.Key.Sign))
	}
	servers := strings.Join(o.Servers, ",")
	if o.InProcess != nil {
		options = append(options, nats.InProcessServer(o.InProcess))
	} else if o.TLS != nil {
		options = append(options, nats.Secure(o.TLS))
	} else if o.CAFile != "" {
		options = append(options, nats.RootCAs(o.CAFile))
	}
	c, err := nats.Connect(servers, options...)
	if errors.Is(err, nats.ErrAuthorization) {
		return nil, ErrRefused
	}
	if errors.Is(err, nats.ErrNoServers) {
		return nil, ErrNoServer
	}
	if err != nil {
		return nil, fmt.Errorf("cannot connect to the fleet's server: %w", err)
	}
	return c, nil
}

// handleErrors returns what handles a connection's errors that do not end it.
func (o Options) handleErrors() nats.ErrHandler {
	var told sync.Once
	return func(_ *nats.Conn, _ *nats.Subscription, err error) {
		o.Log.Debug("fleet", "err", err)
		switch denied := fmt.Errorf("%w: %w", ErrDenied, err); {
		case !errors.Is(err, nats.ErrPermissionViolation):
		case o.Denied != nil:
			o.Denied(denied)
		default:
			told.Do(func() {
				o.Log.Warn("a fleet's host is not heard", "name", o.Name, "err", denied)
			})
		}
	}
}

// subscribe has what hosts send to this one received.
func (l *link) subscribe(c *nats.Conn, suffix string) error {
	most := mostControl
	if c == l.bytes {
		most = mostBytes
	}
	_, err := l.receive(c, subject(anybody, l.name, suffix), false, most)
	return err
}

// receive has what is sent to a subject received; most: see fair.
func (l *link) receive(c *nats.Conn, subject string, all bool, most backlog) (
	*nats.Subscription, error,
) {
	fair := fair{most: most}
	s, err := c.Subscribe(subject, func(m *nats.Msg) {
		_, rest, _ := strings.Cut(m.Subject, ".")
		if from, _, _ := strings.Cut(rest, "."); fair.takes(from, m.Sub.Pending) {
			l.receiver.Receive(from, all, m.Data)
		}
	})
	if err != nil {
		return nil, err
	}
	return s, s.SetPendingLimits(pendingMessages, pendingBytes)
}

// Hear implements bus.Link.
func (l *link) Hear(hosts []string) error {
	if hosts == nil || len(hosts) > maxHeard {
		hosts = []string{anybody}
	}
	defer l.reach()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, from := range hosts { // first those that are new: nothing is missed
		if l.heard[from] != nil {
			continue
		}
		s, err := l.receive(l.control, subject(from, All, controlSuffix), true, mostControl)
		if err != nil {
			return err
		}
		l.heard[from] = s
	}
	for from, s := range l.heard {
		if !slices.Contains(hosts, from) {
			_ = s.Unsubscribe() // it fails when the connection is closed
			delete(l.heard, from)
		}
	}
	return nil
}

// reach waits a moment for the server to know the subscriptions. One that is not there yet is no
// error.
func (l *link) reach() {
	const moment = 2 * time.Second
	for _, c := range []*nats.Conn{l.control, l.bytes} {
		if c.IsConnected() {
			_ = c.FlushTimeout(moment)
		}
	}
}

// Send implements bus.Link.
func (l *link) Send(to string, class bus.Class, p []byte) error {
	if !ValidName(to) {
		return fmt.Errorf("bus: %q is no name of a host", to)
	}
	if class == bus.Bytes {
		return publish(l.bytes, subject(l.name, to, bytesSuffix), p)
	}
	return publish(l.control, subject(l.name, to, controlSuffix), p)
}

// publish sends p, or loses it while the server is away.
func publish(c *nats.Conn, subject string, p []byte) error {
	err := c.Publish(subject, p)
	if errors.Is(err, nats.ErrReconnectBufExceeded) {
		return nil
	}
	if broken := net.Error(nil); errors.As(err, &broken) {
		_ = c.ForceReconnect() // TLS takes nothing more after a write that was late
	}
	return err
}

// SendAll implements bus.Link.
func (l *link) SendAll(p []byte) error {
	return publish(l.control, subject(l.name, All, controlSuffix), p)
}

// Reconnect implements bus.Link. It does not wait for a connection that takes nothing.
func (l *link) Reconnect() {
	for _, c := range []*nats.Conn{l.control, l.bytes} {
		l.cutting.Go(func() {
			if c.IsConnected() {
				_ = c.ForceReconnect() // otherwise it is connecting already
			}
		})
	}
}

// Close implements bus.Link.
func (l *link) Close() error {
	l.cutting.Wait()
	l.control.Close()
	l.bytes.Close()
	return nil
}

func subject(from, to, suffix string) string {
	return strings.Join([]string{prefix, from, to, suffix}, ".")
}

// maxName bounds a host's name, in bytes: a label of DNS (RFC 1035 section 2.3.4).
const maxName = 63

// ValidName reports whether a host may have that name: letters a to z, digits and hyphens, as in a
// host name, and not the name that stands for all.
func ValidName(name string) bool {
	if name == "" || name == All || len(name) > maxName || name[0] == '-' {
		return false
	}
	return !slices.ContainsFunc([]byte(name), func(c byte) bool {
		return c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
}
