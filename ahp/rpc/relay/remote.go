package relay

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
)

// remote is a host that a door's client uses.
type remote struct {
	all  *Remotes
	host string
	wake chan struct{} // 1 deep: there is something to write

	mu      sync.Mutex // a leaf
	running bool       // there is a goroutine that keeps up the link
	ready   bool       // the link is there, and what is queued is written
	link    int        // counts the links
	queue   []outgoing
	queued  int // bytes of it
	lastID  uint64
	asked   map[uint64]*question
	late    map[uint64]string // subscriptions whose question was answered by the door, by its id
	follows map[string]bool   // what the client follows, by the owner's URI
	sent    []*sentAction     // that are not answered, the oldest first
	typed   typed
	toAck   int64 // bytes of output that were written and not acknowledged
	ackSoon bool  // a timer has these acknowledged
	ackDue  bool  // it has run out
	looked  looked

	// The link's goroutine uses them; others before it runs.
	known   bool // the client goes on: it has a state of what it follows
	resumed func(typed map[string]int64, missing []string)

	receiving sync.Mutex // held while a message is taken; mu is taken under it
	lastSeen  uint64     // the owner's last number that was passed on, or that the client has seen
	holds     int        // see hold
	held      []message
	heldBytes int
	released  chan struct{} // closed when holds is 0 again
}

// maxHeld bounds the messages that wait for release, in bytes: the owner's window, and the
// envelopes of its output.
const maxHeld = 1 << 20

// outgoing is a message for the owner.
type outgoing struct {
	text   []byte
	action *sentAction // nil: it is none
}

// question is a request that the owner has to answer.
type question struct {
	id      []byte // the client's
	method  string
	uri     string // the owner's, of the terminal that it is about
	follows string // the owner's URI that it subscribes to; ""
	// deliver takes the answer in place of the client; nil: the client gets it.
	deliver func(result json.RawMessage, e *ahp.Error)
}

// sentAction is an action that was passed on.
type sentAction struct {
	seq     int64 // the client's
	kind    string
	uri     string
	written bool // to the link
}

func newRemote(all *Remotes, host string) *remote {
	return &remote{all: all, host: host, wake: make(chan struct{}, 1), typed: newTyped(),
		asked: map[uint64]*question{}, late: map[uint64]string{}, follows: map[string]bool{}}
}

// reachable returns why the host is asked nothing.
func (r *remote) reachable() error { return r.all.door.fleet.Reachable(r.host) }

// forget takes note that the client follows a terminal no more.
func (r *remote) forget(method, uri string) {
	if method == ahp.MethodUnsubscribe {
		r.mu.Lock()
		delete(r.follows, uri)
		r.mu.Unlock()
	}
}

// errFull refuses what a host does not take fast enough.
func (r *remote) errFull() *ahp.Error {
	return ahp.NewError(ahp.CodeLimit, r.host+" does not keep up: wait for its answers",
		"limit", "unanswered requests")
}

// ask sends a message about a terminal; q is nil for a notification.
func (r *remote) ask(q *question, method string, params json.RawMessage, uri string) *ahp.Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.asked) >= maxUnanswered || r.queued >= maxQueued {
		return r.errFull()
	}
	var id uint64
	if q != nil {
		id, q.method, q.uri = r.nextIDLocked(), method, uri
		r.asked[id] = q
	}
	// No flow control: a door sends no frames.
	r.enqueueLocked(outgoing{text: appendRequest(nil, id, method, params, uri, "flowControl")})
	return nil
}

// dispatch sends an action.
func (r *remote) dispatch(seq int64, kind string, params json.RawMessage, uri string) (
	refusal string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.sent) >= maxUnanswered || r.queued >= maxQueued {
		return r.errFull().Message
	}
	params = r.typed.passable(kind, params, uri)
	if heard := r.all.door.fleet.Heard(r.host); heard != 0 && kind == inputType {
		params = appendObject(nil, params, func(dst []byte) []byte {
			return strconv.AppendUint(append(dst, `"heard":`...), heard, 10)
		}, "heard")
	}
	a := &sentAction{seq: seq, kind: kind, uri: uri}
	r.sent = append(r.sent, a)
	r.enqueueLocked(outgoing{
		appendRequest(nil, 0, ahp.MethodDispatchAction, params, uri), a})
	return ""
}

func (r *remote) nextIDLocked() uint64 {
	r.lastID++
	return r.lastID
}

func (r *remote) enqueueLocked(o outgoing) {
	r.queue = append(r.queue, o)
	r.queued += len(o.text)
	r.startLocked()
	r.tellWriter()
}

// startLocked has a goroutine keep up the link.
func (r *remote) startLocked() {
	if !r.running && r.all.ctx.Err() == nil {
		r.running = true
		r.all.links.Go(r.run)
	}
}

func (r *remote) tellWriter() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// take returns what is to be written to the link, at most about 64 KiB.
func (r *remote) take() (text []byte) {
	const most = 64 << 10
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ready {
		return nil
	}
	text = r.appendLookingLocked(text)
	if r.toAck >= r.all.window()/ackParts || r.toAck > 0 && r.ackDue {
		text = fmt.Appendf(text, `{"jsonrpc":"2.0","method":"`+ahp.MethodAck+
			`","params":{"channel":"`+ahp.RootURI+`","bytes":%d}}`+"\n", r.toAck)
		r.toAck = 0
	}
	r.ackDue = false
	for len(r.queue) > 0 && len(text) < most {
		o := r.queue[0]
		r.queue[0] = outgoing{}
		r.queue = r.queue[1:]
		r.queued -= len(o.text)
		if o.action != nil {
			o.action.written = true
		}
		text = append(text, o.text...)
	}
	return text
}

// wrote counts output of a link that was written to the client.
func (r *remote) wrote(link int, bytes int64) {
	r.all.peer.Owe(bytes)
	r.mu.Lock()
	defer r.mu.Unlock()
	if link != r.link {
		return
	}
	if r.toAck += bytes; r.toAck >= r.all.window()/ackParts {
		r.tellWriter()
	} else if r.all.prompt && !r.ackSoon {
		r.ackSoon = true
		time.AfterFunc(ackWithin, r.ackNow)
	}
}

// ackNow has what was written be acknowledged.
func (r *remote) ackNow() {
	r.mu.Lock()
	r.ackSoon, r.ackDue = false, true
	r.mu.Unlock()
	r.tellWriter()
}

// silence refuses all that the host has not answered. What it follows stands still.
func (r *remote) silence(why error) {
	r.mu.Lock()
	asked := r.asked
	r.asked = map[uint64]*question{}
	for id, q := range asked {
		if q.follows != "" && r.ready {
			r.late[id] = q.follows
		}
	}
	var unsent, kept []*sentAction
	for _, a := range r.sent {
		if a.written {
			kept = append(kept, a)
		} else {
			unsent = append(unsent, a)
		}
	}
	r.sent, r.queue, r.queued = kept, nil, 0
	r.mu.Unlock()
	e := unreachable(r.host, why)
	for _, q := range asked {
		r.answer(q, nil, e)
	}
	r.reject(unsent, why.Error())
}

// reject refuses actions of the client.
func (r *remote) reject(list []*sentAction, why string) {
	for _, a := range list {
		name, _ := ahp.FleetURI(r.host, a.uri)
		r.all.peer.Conn.Reject(name, a.seq, ahp.Unknown{Name: a.kind}, why)
	}
}

// answer answers a request.
func (r *remote) answer(q *question, result json.RawMessage, e *ahp.Error) {
	if e != nil {
		e.Message = host.Printable(e.Message)
	}
	switch {
	case q.deliver != nil:
		q.deliver(result, e)
	case e != nil:
		r.all.peer.Refuse(q.id, e)
	default:
		head := append(append([]byte(`{"jsonrpc":"2.0","id":`), q.id...), `,"result":`...)
		text := append(append(head, result...), '}')
		r.all.passOn(r.host, func(dst []byte, _ uint64) []byte { return append(dst, text...) },
			len(text), 0, nil)
	}
}

// settle takes note that an owner has answered an action.
func (r *remote) settle(seq int64, taken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, a := range r.sent {
		if a.seq != seq {
			continue
		}
		r.sent = append(r.sent[:i], r.sent[i+1:]...)
		if taken && a.kind == inputType {
			r.typed.taken[a.uri] = seq
		}
		return
	}
}
