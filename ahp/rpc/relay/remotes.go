package relay

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"termhost/ahp"
)

const (
	// ownerWindow is how much output an owner sends beyond what was written to the client, in
	// bytes.
	ownerWindow = 256 << 10
	// promptWindow is that for a client that acknowledges promptly: what a key does waits behind
	// it where the client's line is slow.
	promptWindow = 32 << 10
	// ackParts is into how many parts a window is divided: when one is written the owner hears of
	// it.
	ackParts = 4
	// ackWithin is how long the owner waits to hear of less, if the client acknowledges promptly.
	ackWithin = 20 * time.Millisecond
	// maxPassing is how much of all owners waits for the client's writer, in bytes, before no more
	// is read from them. A single message may be larger.
	maxPassing = 128 << 10
	// maxMessage bounds a message of an owner, in bytes: the state of a terminal, or the answer to
	// a reconnect.
	maxMessage = 32 << 20
	// maxQueued bounds what waits to be sent to one owner, in bytes, as a terminal's queue of keys
	// is.
	maxQueued = 1 << 20
	// maxUnanswered bounds the actions and the requests that one owner has not answered.
	maxUnanswered = 1024
	// look is how often a host is looked at that somebody waits for.
	look = time.Second
)

// Remotes are the hosts that a door's client uses, each with its link.
type Remotes struct {
	peer   Peer
	door   *Door
	memory *Memory
	prompt bool // the client acknowledges promptly, and so do its links
	ctx    context.Context
	cancel context.CancelFunc
	links  sync.WaitGroup

	mu     sync.Mutex // a leaf
	byHost map[string]*remote
	// lookedAt has what the client's person looks at, by host; nil: no host is told.
	lookedAt map[string][]string
	passing  int           // bytes that wait for the client's writer
	room     chan struct{} // 1 deep: there may be room again
}

// NewRemotes returns those of a client, which has no link yet. It must be closed. memory is what
// was remembered of the client's last connection.
func (d *Door) NewRemotes(p Peer, memory *Memory) *Remotes {
	rs := &Remotes{peer: p, door: d, memory: memory, byHost: map[string]*remote{},
		room: make(chan struct{}, 1), prompt: acksPromptly(p.Meta)}
	rs.ctx, rs.cancel = context.WithCancel(p.Context)
	return rs
}

// window returns how much output an owner sends beyond what was written to the client, in bytes.
func (rs *Remotes) window() int64 {
	if rs.prompt {
		return promptWindow
	}
	return ownerWindow
}

// acksPromptly reports whether a client's capabilities have it.
func acksPromptly(meta json.RawMessage) bool {
	for _, name := range []string{ahp.MethodAck, ahp.Reserved(ahp.MethodAck)} {
		if string(member(member(meta, name), "prompt")) == "true" {
			return true
		}
	}
	return false
}

// Door returns the door that the links are from.
func (rs *Remotes) Door() *Door { return rs.door }

// Close ends all links, and returns when they have ended.
func (rs *Remotes) Close() {
	rs.cancel()
	rs.links.Wait()
}

// of returns the one of a host.
func (rs *Remotes) of(host string) *remote {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r := rs.byHost[host]
	if r == nil {
		r = newRemote(rs, host)
		rs.byHost[host] = r
	}
	return r
}

// Request passes on a request, or a notification if id is nil, that is about the terminal uri of a
// host. plain is the method's plain name.
func (rs *Remotes) Request(id []byte, method, plain string, params json.RawMessage,
	host, uri string) {
	r := rs.of(host)
	if err := r.reachable(); err != nil && id != nil {
		rs.peer.Refuse(id, unreachable(host, err))
		return
	} else if err != nil {
		r.forget(plain, uri)
		return
	}
	var q *question
	if id != nil {
		q = &question{id: id}
		if plain == ahp.MethodSubscribe {
			q.follows = uri
		}
	}
	r.forget(plain, uri)
	if e := r.ask(q, method, params, uri); e != nil && id != nil {
		rs.peer.Refuse(id, e)
	}
}

// Create has a host make a terminal that it names uri, and answers with the name that the terminal
// has here. params are those of createTerminal.
func (rs *Remotes) Create(id []byte, params json.RawMessage, host, uri string) {
	r := rs.of(host)
	name, ok := ahp.FleetURI(host, uri)
	if err := r.reachable(); err != nil {
		rs.peer.Refuse(id, unreachable(host, err))
		return
	} else if !ok {
		rs.peer.Refuse(id, ahp.FieldProblem("channel", "cannot be named on another host"))
		return
	}
	meta := member(params, "_meta")
	params = appendObject(nil, params, func(dst []byte) []byte {
		dst = append(dst, `"_meta":{"termhost":`...)
		return append(appendObject(dst, member(meta, "termhost"), nothing, "on"), '}')
	}, "_meta")
	rs.door.fleet.MayName(host)
	q := &question{deliver: func(_ json.RawMessage, e *ahp.Error) {
		rs.door.fleet.MayName(host)
		r.answer(&question{id: id}, appendObject(nil, nil, appendString("channel", name)), e)
	}}
	if e := r.ask(q, ahp.MethodCreateTerminal, params, uri); e != nil {
		rs.peer.Refuse(id, e)
	}
}

// Dispatch passes on an action on the terminal uri of a host, or returns why not. kind is its type.
func (rs *Remotes) Dispatch(seq int64, kind string, params json.RawMessage, host, uri string) (
	refusal string) {
	r := rs.of(host)
	if err := r.reachable(); err != nil {
		return err.Error()
	}
	return r.dispatch(seq, kind, params, uri)
}

// Count returns how many terminals the client follows.
func (rs *Remotes) Count() (n int) {
	rs.mu.Lock()
	var all []*remote
	for _, r := range rs.byHost {
		all = append(all, r)
	}
	rs.mu.Unlock()
	for _, r := range all {
		r.mu.Lock()
		n += len(r.follows)
		r.mu.Unlock()
	}
	return n
}

// waitRoom returns when more may be read from owners.
func (rs *Remotes) waitRoom(ctx context.Context) error {
	for {
		rs.mu.Lock()
		most := maxPassing
		if room := rs.peer.Room(); room > 0 {
			most = int(min(room, maxPassing))
		}
		full := rs.passing >= most
		rs.mu.Unlock()
		if !full {
			rs.tellRoom() // another link may wait
			return nil
		}
		select {
		case <-rs.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (rs *Remotes) tellRoom() {
	select {
	case rs.room <- struct{}{}:
	default:
	}
}

// largeMessage is from which size on, in bytes, few are written at once.
const largeMessage = 128 << 10

// passOn passes on a message of a host, which appends with a number of the door's. size is about
// how much memory it takes, seq the host's number for it, and 0 if it has none. written is called
// when it is written.
func (rs *Remotes) passOn(host string, text func(dst []byte, seq uint64) []byte, size int,
	seq uint64, written func()) {
	rs.mu.Lock()
	rs.passing += size
	rs.mu.Unlock()
	rs.peer.Conn.Subscriber().PassOn(func(dst []byte, number uint64) []byte {
		rs.mu.Lock()
		rs.passing -= size
		rs.mu.Unlock()
		rs.tellRoom()
		if seq != 0 {
			rs.memory.add(host, number, seq)
		}
		if written != nil {
			written()
		}
		return text(dst, number)
	}, size >= largeMessage)
}
