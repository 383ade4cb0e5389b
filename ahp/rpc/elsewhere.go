package rpc

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/rpc/relay"
)

// elsewhere is what a peer has of the terminals of other hosts.
type elsewhere struct {
	remotes *relay.Remotes  // nil: it has used none
	memory  *relay.Memory   // of its client
	detach  func()          // nil: its root is not attached to the fleet's door
	meta    json.RawMessage // of its initialize or reconnect; nil: there was none
	passing destination     // of the request that is handled

	// watched are the hosts that tell what wants the peer's person; nil: none does. Others than the
	// reader read it.
	watched atomic.Pointer[relay.Remotes]
	news    chan struct{} // 1 deep: they tell something else
}

// destination is where a request goes.
type destination struct {
	door      *relay.Door
	method    string // its plain name
	host, uri string
}

func (e *elsewhere) close() {
	if e.remotes != nil {
		e.remotes.Close()
	}
	if e.detach != nil {
		e.detach()
	}
}

// count returns how many terminals of other hosts the peer follows.
func (e *elsewhere) count() int {
	if e.remotes == nil {
		return 0
	}
	return e.remotes.Count()
}

func metaOf(params json.RawMessage) json.RawMessage {
	var w struct {
		Meta json.RawMessage `json:"_meta"`
	}
	if ahp.DecodeParams(params, &w) != nil || len(w.Meta) == 0 || w.Meta[0] != '{' {
		return nil
	}
	return w.Meta
}

func refsOf(list []ahp.SubscriptionRef) []string {
	refs := make([]string, len(list))
	for i, ref := range list {
		refs[i] = string(ref)
	}
	return refs
}

// listWait is how long a client waits for the lists of hosts that are there, at most.
const listWait = time.Second

// listElsewhere has the root list the terminals of all hosts if it is among channels.
func (p *peer) listElsewhere(channels ...string) {
	if p.opts.Fleet == nil {
		return
	}
	for _, channel := range channels {
		if uri, ok := ahp.NormalizeChannel(channel); !ok || uri != ahp.RootURI {
			continue
		}
		if p.elsewhere.detach == nil {
			p.elsewhere.detach = p.opts.Fleet.Attach(p.conn)
		}
		if door := p.opts.Fleet.Door(); door != nil {
			ctx, cancel := context.WithTimeout(p.ctx, listWait)
			defer cancel()
			door.Listed(ctx, p.conn)
		}
		return
	}
}

// passesOn reports whether a request is about a terminal of another host.
func (p *peer) passesOn(door *relay.Door, r *request, method string) bool {
	var channel string
	if method == ahp.MethodAck || p.conn.Principal().Bounded() ||
		!isText(r.action.channel, &channel) {
		return false
	}
	host, uri, ok := door.Elsewhere(channel)
	p.elsewhere.passing = destination{door, method, host, uri}
	return ok
}

// hostMissing refuses to make, or follow, a terminal of a host that the fleet does not have. One of
// this host's that really has such a URI stays as it is. nil: it is nothing of that.
func (p *peer) hostMissing(door *relay.Door, r *request, method string) *ahp.Error {
	var channel string
	if method != ahp.MethodCreateTerminal && method != ahp.MethodSubscribe ||
		p.conn.Principal().Bounded() || !isText(r.action.channel, &channel) {
		return nil
	}
	e := door.Missing(channel)
	if e == nil {
		return nil
	}
	if _, err := p.conn.Lookup(channel); err == nil {
		return nil
	}
	return e
}

// remotes returns the hosts that the peer uses.
func (p *peer) remotes(door *relay.Door) *relay.Remotes {
	e := &p.elsewhere
	if e.remotes != nil && e.remotes.Door() == door {
		return e.remotes
	}
	if e.remotes != nil { // the host was in another fleet
		e.remotes.Close()
		e.memory = nil
	}
	if e.memory == nil {
		e.memory = &relay.Memory{}
	}
	e.remotes = door.NewRemotes(relay.Peer{
		Conn: p.conn, Context: p.ctx, Meta: e.meta, Refuse: p.refuse, Owe: p.oweData,
		End: p.conn.End, News: p.tellNews, Room: p.acks.room,
	}, e.memory)
	return e.remotes
}

// passOn has another host answer a request.
func (p *peer) passOn(r *request) *ahp.Error {
	to := p.elsewhere.passing
	switch to.method {
	case ahp.MethodDispatchAction:
		return p.dispatchElsewhere(r, to)
	case ahp.MethodSubscribe:
		if p.full(1) {
			return p.tooMany()
		}
	case ahp.MethodChannelFrame, ahp.MethodChannelCredit, ahp.MethodChannelReset:
		return nil // no channel of another host has flow control
	}
	p.remotes(to.door).Request(r.id, r.method, to.method, r.params, to.host, to.uri)
	return nil
}

// dispatchElsewhere passes on an action.
func (p *peer) dispatchElsewhere(r *request, to destination) *ahp.Error {
	var kind string
	seq, err := strconv.ParseInt(string(r.action.clientSeq), 10, 64)
	if e := require(field{"clientSeq", err == nil},
		field{"action", isText(r.action.kind, &kind)}); e != nil {
		return e
	}
	refusal := p.remotes(to.door).Dispatch(seq, kind, r.params, to.host, to.uri)
	if refusal != "" {
		name, _ := ahp.FleetURI(to.host, to.uri)
		p.conn.Reject(name, seq, ahp.Unknown{Name: kind}, refusal)
	}
	p.acknowledge(r)
	return nil
}

// createOn has the host of a name, or one with labels, make a terminal; done is false if it is this
// host.
func (p *peer) createOn(r *request, channel, on string) (done bool, e *ahp.Error) {
	const field = "_meta.termhost.on"
	door := p.opts.Fleet.Door()
	if door == nil || p.conn.Principal().Bounded() {
		return false, ahp.FieldProblem(field, "names no host: there is no fleet here")
	}
	host, err := door.Choose(on)
	if err != nil {
		return false, ahp.FieldProblem(field, "cannot be: "+err.Error())
	}
	uri, ok := ahp.NormalizeChannel(channel)
	if !ok {
		return false, badURI
	}
	if host == "" {
		return false, nil
	}
	p.remotes(door).Create(r.id, r.params, host, uri)
	return true, nil
}

// kept is what the host keeps of a client from one connection to the next.
type kept struct {
	grants *grants
	memory *relay.Memory
}

// kept returns what the client's last connection has kept.
func (p *peer) kept() *kept {
	if k, ok := p.conn.Kept().(*kept); ok {
		return k
	}
	return &kept{}
}

// keep keeps state for the next connection. before is the last one's; nil: the client begins anew.
func (p *peer) keep(before *kept) {
	k := &kept{grants: p.windows.grants, memory: &relay.Memory{}}
	if before != nil && before.memory != nil {
		k.memory = before.memory
	}
	p.elsewhere.memory = k.memory
	p.conn.Keep(k)
}

// split returns the references without those to terminals of other hosts, and these by host and URI
// there.
func (p *peer) split(refs []ahp.SubscriptionRef) (here []ahp.SubscriptionRef, there [][2]string) {
	door := p.opts.Fleet.Door()
	if door == nil || p.conn.Principal().Bounded() {
		return refs, nil
	}
	here = []ahp.SubscriptionRef{}
	for _, ref := range refs {
		if host, uri, ok := door.Elsewhere(string(ref)); ok {
			there = append(there, [2]string{host, uri})
		} else {
			here = append(here, ref)
		}
	}
	return here, there
}

// firstElsewhere subscribes to terminals of other hosts for initialize; nil: there are none among
// the references.
func (p *peer) firstElsewhere(refs []ahp.SubscriptionRef) *relay.First {
	_, there := p.split(refs)
	if len(there) == 0 {
		return nil
	}
	return p.remotes(p.opts.Fleet.Door()).First(p.ctx, there)
}

// resumeElsewhere goes on with terminals of other hosts.
func (p *peer) resumeElsewhere(replay *host.Replay, there [][2]string, seen uint64) {
	if len(there) == 0 {
		return
	}
	resumed := p.remotes(p.opts.Fleet.Door()).Resume(p.ctx, there, seen)
	replay.Missing = append(replay.Missing, resumed.Missing...)
	if resumed.Typed == nil {
		replay.Typed = nil
	}
	if replay.Typed != nil {
		maps.Copy(replay.Typed, resumed.Typed)
	}
}

// splitCursors is split for cursors, and returns these by the client's name.
func (p *peer) splitCursors(cursors []ahp.ChannelCursor) (
	here []ahp.ChannelCursor, there map[string][2]string) {
	there = map[string][2]string{}
	for _, cur := range cursors {
		_, elsewhere := p.split([]ahp.SubscriptionRef{cur.Channel})
		if len(elsewhere) == 0 {
			here = append(here, cur)
		} else {
			there[string(cur.Channel)] = elsewhere[0]
		}
	}
	return here, there
}

// recoverElsewhere is resumeElsewhere for a reconnect by cursors. Hosts number for themselves, so
// the client gets the present state of what it follows there. It returns the channels that go on.
func (p *peer) recoverElsewhere(recovery *host.Recovery, there map[string][2]string) (
	replayed []string) {
	if len(there) == 0 {
		return nil
	}
	replay := host.Replay{Typed: recovery.Typed}
	p.resumeElsewhere(&replay, slices.Collect(maps.Values(there)), 0)
	recovery.Typed = replay.Typed
	for ref := range there {
		if name, _ := p.conn.ChannelURI(ref); slices.Contains(replay.Missing, name) {
			recovery.Channels = append(recovery.Channels, host.ChannelRecovery{Ref: ref})
		} else {
			replayed = append(replayed, ref)
		}
	}
	return replayed
}
