package host_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/ahptest"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// The model drives a host at random, with several people, agents and a guest, each on several
// connections, and knows the outcome by design section 8: the holder of each terminal, and the
// actions that are taken, or refused with a rule. Every connection keeps mirrors of the channels
// that it follows. At the end of a run, and now and then before, they equal the host's states.

// modelHolder is who holds a terminal.
type modelHolder struct {
	claim     ahp.Claim
	principal string
}

// modelTerm is what the model knows of a terminal.
type modelTerm struct {
	t      *host.Terminal
	uri    string
	owner  *modelClient // of a client-executed one; nil: the host runs it
	stays  bool         // when its owner is away
	holder modelHolder
	title  string
	exited bool

	last    *modelConn // who claimed it last; nil: nobody since it was made
	role    authz.Role // that one's
	running bool       // a command of the owner's

	claimedAt uint64 // the serverSeq of the last claim
}

// modelClient is a clientId.
type modelClient struct {
	id        string
	principal authz.Principal
	conn      *modelConn // nil: it is away
	seq       int64      // of its last action
	seen      uint64     // the serverSeq of the newest action that it has read
	mirrors   map[string]*modelMirror
}

// modelMirror is a client's copy of a channel's state.
type modelMirror struct {
	of       *modelTerm // nil: the root
	from     uint64     // the serverSeq of its snapshot
	terminal ahp.TerminalState
	root     ahp.RootState
}

// modelConn is a connection.
type modelConn struct {
	c      *host.Conn
	client *modelClient
	first  int64            // the clientSeq of the client's last action before it
	due    map[int64]string // the answers that have not come: a part of the rejection, or ""
}

// hostModel is one run.
type hostModel struct {
	t       *testing.T
	c       ahptest.Choices
	h       *host.Host
	clock   *laterClock
	people  []authz.Principal
	clients map[string]*modelClient
	conns   []*modelConn
	terms   []*modelTerm
	log     []string
}

const (
	modelClients   = 7 // few, so that several principals want the same
	modelTerminals = 4
	modelServers   = 2 // of these the first ones are executed by the host
)

func newHostModel(t *testing.T, c ahptest.Choices) *hostModel {
	dave := hosttest.Principal("dave", authz.Admin) // two admins seize from each other
	m := &hostModel{t: t, c: c, clock: newClock(), clients: map[string]*modelClient{},
		people: []authz.Principal{alice, carol, dave, bot, eve}}
	m.h = hosttest.New(t, func(c *host.Config) {
		c.ClientGrace = time.Hour
		c.Now = m.clock.Now
	})
	return m
}

func (m *hostModel) did(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf(format, args...))
}

func (m *hostModel) fail(format string, args ...any) {
	m.t.Helper()
	last := m.log[max(0, len(m.log)-40):]
	m.t.Fatalf("%s\nafter:\n  %s", fmt.Sprintf(format, args...), strings.Join(last, "\n  "))
}

func (m *hostModel) run() {
	for m.c.More() {
		// Two claims cross if they are close together; here only those of which one was made
		// before the other one was read of.
		m.clock.advance(crossing)
		m.step()
	}
	m.settle()
	for _, c := range slices.Clone(m.conns) {
		m.close(c)
	}
}

func (m *hostModel) step() {
	n := m.c.N(100)
	if n < 12 || len(m.conns) == 0 {
		m.connect()
		return
	}
	c := m.conns[m.c.N(len(m.conns))]
	switch {
	case n < 24:
		m.create(c)
	case n < 34:
		m.subscribe(c, m.uri())
	case n < 37:
		m.unsubscribe(c)
	case n < 42:
		m.read(c)
	case n < 47:
		m.dispose(c)
	case n < 52:
		m.close(c)
	case n < 54:
		m.settle()
	case n < 60:
		m.race(c)
	default:
		m.dispatch(c)
	}
}

// who returns a principal that may connect: one of the people, or a guest of a terminal.
func (m *hostModel) who() authz.Principal {
	i := m.c.N(len(m.people) + 1)
	if i < len(m.people) {
		return m.people[i]
	}
	if len(m.terms) == 0 {
		return eve
	}
	i = m.c.N(len(m.terms))
	// Another terminal makes another guest, though it may have the same NAME.
	name := fmt.Sprintf("g%d-%d", m.c.N(2), m.terms[i].t.Info(alice).CreatedAt.UnixNano())
	return guestOf(m.terms[i].t, name, authz.Operator)
}

// connect connects somebody with a clientId of the pool, new or again.
func (m *hostModel) connect() {
	p := m.who()
	id := fmt.Sprintf("c%d", m.c.N(modelClients))
	conn, err := m.h.Connect(p, host.DoorWebSocket)
	if err != nil {
		m.fail("Connect: %v", err)
	}
	m.t.Cleanup(conn.Close) // a failed run leaves it
	c := &modelConn{c: conn, due: map[int64]string{}}
	cl := m.clients[id]
	again := cl != nil && m.c.N(3) > 0
	m.did("%s connects as %s, again: %v", p.Name, id, again)
	var bad error
	var replay host.Replay
	if again {
		params := ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: id, LastSeenServerSeq: cl.seen}
		for uri := range cl.mirrors {
			params.Subscriptions = append(params.Subscriptions, ahp.SubscriptionRef(uri))
		}
		replay, bad = conn.Reconnect(params)
	} else {
		_, bad = conn.Initialize(initParams("1.0.0", id))
	}
	if foreign := cl != nil && cl.principal.ID != p.ID; foreign != (bad != nil) {
		m.fail("%s as %s: %v", p.Name, id, bad)
	} else if foreign {
		conn.Close()
		return
	}
	if cl == nil {
		cl = &modelClient{id: id, principal: p}
		m.clients[id] = cl
	}
	inherits := cl.conn != nil
	if inherits {
		m.forget(cl.conn)
	}
	cl.principal, cl.conn, c.client, c.first = p, c, cl, cl.seq
	m.conns = append(m.conns, c)
	if again {
		m.resume(c, replay)
		return
	}
	cl.seen = 0
	if !inherits { // else it follows what the other one did, beginning with the state
		cl.mirrors = map[string]*modelMirror{}
	}
}
