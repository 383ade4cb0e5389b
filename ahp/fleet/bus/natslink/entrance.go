package natslink

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"termhost/authz/admit"
)

const (
	// maxStrangers bounds the connections that have not said who they are, and stand still. For
	// strangerGrace there may be strangerBurst times as many: all hosts come back at once when the
	// server was away. Beyond it one of the source that has most gives way.
	maxStrangers  = 256
	strangerBurst = 4
	strangerGrace = 2 * time.Second
	// maxPerSource bounds those of one address: hosts behind one NAT share it.
	maxPerSource = 64
	// maxOfOne bounds the connections of one host or guest: the two of a link, and two that the
	// network has forgotten, or that a command makes. Beyond it the oldest gives way.
	maxOfOne = 4
)

// entrance is a Server's listener. It bounds the connections of strangers, and those of each host.
// Its methods may be called concurrently.
type entrance struct {
	net.Listener
	gate *admit.Gate
	log  *slog.Logger

	mu       sync.Mutex            // a leaf
	visitors map[string]*visitor   // by the peer's address
	named    map[string][]*visitor // those that have said who they are, the oldest first
	budgets  map[string]*budget    // of those, and of some that have gone

	payload func(id uint64) int64 // how many bytes of messages a connection has sent
}

// enter listens at host:port.
func enter(address string, log *slog.Logger) (*entrance, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &entrance{Listener: l, log: log, visitors: map[string]*visitor{},
		named: map[string][]*visitor{}, budgets: map[string]*budget{},
		gate: admit.NewGate(admit.GateOptions{
			Startups:  admit.Startups{Start: maxStrangers, Rate: 100, Full: maxStrangers},
			PerSource: maxPerSource, Grace: strangerGrace, Burst: strangerBurst, Stages: 1,
			Penalties: admit.NewPenalties(time.Now), Now: time.Now, Rand: rand.IntN,
		})}, nil
}

// lead has a server that has not started accept its connections here. The server takes a listener
// that it has already, but has no option for one.
func (e *entrance) lead(s *server.Server) error {
	field := reflect.ValueOf(s).Elem().FieldByName("listener")
	if !field.IsValid() || field.Type() != reflect.TypeFor[net.Listener]() {
		return errors.New("this version of nats-server takes no listener")
	}
	*(*net.Listener)(field.Addr().UnsafePointer()) = e
	return nil
}

// Accept waits for a connection that may stay.
func (e *entrance) Accept() (net.Conn, error) {
	for {
		c, err := e.Listener.Accept()
		if err != nil {
			return nil, err
		}
		a, refusal := e.gate.Admit(admit.SourceOf(c.RemoteAddr()))
		if refusal != "" {
			e.log.Warn("a connection to the fleet's server was dropped", "remote", c.RemoteAddr(),
				"reason", refusal)
			c.Close()
			continue
		}
		v := &visitor{Conn: c, entrance: e, admission: a, remote: c.RemoteAddr().String()}
		v.ctx, v.cancel = context.WithCancel(context.Background())
		e.mu.Lock()
		e.visitors[v.remote] = v
		e.mu.Unlock()
		a.OnDrop(func() { v.Close() }, nil)
		return v, nil
	}
}

// proven records whose the connection is that comes from an address and has a server's id, and ends
// the oldest of too many.
func (e *entrance) proven(remote string, id uint64, name string) {
	e.mu.Lock()
	v := e.visitors[remote]
	if v == nil { // it is in this process, or has gone
		e.mu.Unlock()
		return
	}
	if e.budgets[name] == nil {
		e.budgets[name] = &budget{}
	}
	v.name, v.id, v.budget = name, id, e.budgets[name]
	list := append(e.named[name], v)
	e.named[name] = list
	var oldest *visitor
	if len(list) > maxOfOne {
		oldest = list[0]
	}
	e.mu.Unlock()
	v.admission.Authenticated()
	if oldest != nil {
		e.log.Warn("a host has too many connections to the fleet's server", "host", name)
		oldest.Close()
	}
}

// budgetOf returns what a connection's host may send, and the connection's id.
func (e *entrance) budgetOf(v *visitor) (*budget, uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return v.budget, v.id
}

// end ends the connections of a host or guest.
func (e *entrance) end(name string) {
	e.mu.Lock()
	list := slices.Clone(e.named[name])
	e.mu.Unlock()
	for _, v := range list {
		v.Close()
	}
}

// forget removes a connection that has ended.
func (e *entrance) forget(v *visitor) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.visitors[v.remote] == v {
		delete(e.visitors, v.remote)
	}
	list := slices.DeleteFunc(e.named[v.name], func(o *visitor) bool { return o == v })
	if len(list) > 0 {
		e.named[v.name] = list
		return
	}
	delete(e.named, v.name)
	now := time.Now()
	for name, b := range e.budgets { // who comes back at once has none that is whole
		if e.named[name] == nil && b.bytes.Full(now) && b.heads.Full(now) {
			delete(e.budgets, name)
		}
	}
}
