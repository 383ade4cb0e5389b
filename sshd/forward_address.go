package sshd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"termhost/authz"
	"termhost/sshd/verbs"
)

const (
	// lookupTime bounds how long the addresses of a name may take to be found.
	lookupTime = 5 * time.Second
	// connectTime bounds how long the target of a forward may take to accept.
	connectTime = 30 * time.Second
)

// connect opens a connection to where the peer wants to forward.
func (c *conn) connect(host string, port uint32) (net.Conn, error) {
	if nc, err := c.jump(host, port); nc != nil || err != nil {
		return nc, err
	}
	addrs, err := c.permitted(authz.ForwardOpen, host, port)
	if err != nil {
		return nil, c.noJump(host, port, err)
	}
	ctx, cancel := context.WithTimeout(c.ctx, connectTime)
	defer cancel()
	for _, addr := range addrs {
		var nc net.Conn
		var dialer net.Dialer
		nc, err = dialer.DialContext(ctx, "tcp", addr.String())
		if err == nil {
			return c.relay(nc), nil
		}
	}
	return nil, c.noJump(host, port, plainError(err))
}

// jumpPort is the port of `ssh -J`, unless the client's configuration says another. The SSH server
// of the other host is meant, wherever that listens.
const jumpPort = 22

// jump connects to the SSH server of another host of the fleet: `ssh -J`. It returns nil for what
// is none. The peer proves itself there; here it only needs to be let through.
func (c *conn) jump(host string, port uint32) (net.Conn, error) {
	if c.cfg.Fleet == nil || c.cfg.Jump == nil || port != jumpPort {
		return nil, nil
	}
	f := c.cfg.Fleet()
	if f == nil || !slices.ContainsFunc(f.Hosts(), func(h verbs.FleetHost) bool {
		return h.Name == host && !h.Self
	}) {
		return nil, nil
	}
	if c.srv.policy.Load().Forwarding == ForwardNowhere {
		return nil, ruleForwardsOff
	}
	target := authz.Target{Host: host, Port: port}
	if err := authz.Check(c.principal(), authz.ForwardOpen, target); err != nil {
		return nil, err
	}
	return c.cfg.Jump(host)
}

// noJump adds to the error of a forward why it is no `ssh -J` to a host of the fleet, for who may
// do that.
func (c *conn) noJump(host string, port uint32, err error) error {
	if c.cfg.Fleet == nil || c.cfg.Jump == nil || port != jumpPort {
		return err
	}
	f, target := c.cfg.Fleet(), authz.Target{Host: host, Port: port}
	if _, ip := netip.ParseAddr(host); f == nil || ip == nil ||
		authz.Check(c.principal(), authz.ForwardOpen, target) != nil {
		return err
	}
	hosts := f.Hosts()
	for _, h := range hosts {
		if h.Name == host && h.Self {
			return fmt.Errorf("%w; %s is this host itself: log in to it without -J", err, host)
		}
	}
	return fmt.Errorf("%w; %w", err, verbs.NoHost(host, hosts))
}

// relay returns nc, which a forward leads to. The host is told whose bytes it carries, for as long
// as it is open.
func (c *conn) relay(nc net.Conn) net.Conn {
	tcp, ok := nc.(*net.TCPConn)
	if !ok || !c.principal().Inside {
		return nc
	}
	return &relayed{TCPConn: tcp, over: sync.OnceFunc(c.cfg.Host.Relay(tcp, c.source.Within))}
}

// relayed is a connection that carries what a peer inside a terminal sends.
type relayed struct {
	*net.TCPConn
	over func()
}

// Close closes the connection. It may be called again.
func (r *relayed) Close() error {
	err := r.TCPConn.Close()
	r.over()
	return err
}

// permitted returns the addresses, at least one, of a host and port that the peer names. what is
// the verb that it needs for them.
func (c *conn) permitted(what authz.Verb, host string, port uint32) ([]netip.AddrPort, error) {
	forwarding := c.srv.policy.Load().Forwarding
	switch {
	case forwarding == ForwardNowhere:
		return nil, ruleForwardsOff
	case strings.EqualFold(strings.TrimSuffix(host, "."), forwardHost):
		return nil, ruleDoorOnly
	case port > 1<<16-1:
		return nil, errMalformed
	}
	target := authz.Target{Host: host, Port: port}
	if err := authz.Check(c.principal(), what, target); err != nil {
		return nil, err
	}
	addrs, err := c.lookup(host)
	var found []netip.AddrPort
	for _, a := range addrs {
		// An address is checked after its name has been looked up, and it is what is used: the
		// name may mean another one a moment later.
		if forwarding == ForwardAnywhere || a.IsLoopback() {
			found = append(found, netip.AddrPortFrom(a, uint16(port)))
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case forwarding == ForwardLoopback:
		return nil, ruleForwardsLoopback
	default:
		return nil, plainError(err)
	}
}

// lookup returns the addresses that a host stands for; it fails if there are none.
func (c *conn) lookup(host string) ([]netip.Addr, error) {
	switch addr, err := netip.ParseAddr(host); {
	case err == nil:
		return []netip.Addr{addr.Unmap()}, nil
	case host == "", host == "*": // every interface (RFC 4254 section 7.1)
		return []netip.Addr{netip.IPv6Unspecified()}, nil
	case strings.EqualFold(host, "localhost"):
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, lookupTime)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return addrs, err
}

// plainError strips from an error what package net puts before the reason.
func plainError(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
