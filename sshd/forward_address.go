package sshd

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"termhost/authz"
)

const (
	// lookupTime bounds how long the addresses of a name may take to be found.
	lookupTime = 5 * time.Second
	// connectTime bounds how long the target of a forward may take to accept.
	connectTime = 30 * time.Second
)

// connect opens a connection to where the peer wants to forward.
func (c *conn) connect(host string, port uint32) (net.Conn, error) {
	addrs, err := c.permitted(authz.ForwardOpen, host, port)
	if err != nil {
		return nil, err
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
	return nil, plainError(err)
}

// relay returns nc, which a forward leads to. The host is told whose bytes it carries, for as long
// as it is open.
func (c *conn) relay(nc net.Conn) net.Conn {
	tcp, ok := nc.(*net.TCPConn)
	if !ok || !c.principal().Inside {
		return nc
	}
	return &relayed{TCPConn: tcp, over: sync.OnceFunc(c.cfg.Host.Relay(tcp))}
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
