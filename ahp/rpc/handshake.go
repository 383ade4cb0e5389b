package rpc

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/rpc/relay"
	"termhost/ahp/store"
	"termhost/authz"
)

// onRoot refuses a channel that is not the root's. A missing one is accepted: VS Code's client
// reconnects without it.
func onRoot(channel string) *ahp.Error {
	if channel == "" {
		return nil
	}
	if uri, ok := ahp.NormalizeChannel(channel); !ok || uri != ahp.RootURI {
		return ahp.FieldProblem("channel", "must be "+ahp.RootURI)
	}
	return nil
}

func (p *peer) tooMany() *ahp.Error {
	return ahp.NewError(ahp.CodeLimit, fmt.Sprintf("a connection may follow %d channels; "+
		"unsubscribe from some", p.opts.MaxSubscriptions), "limit", "http.max_subscriptions")
}

const (
	// accountSubscriptions times the subscriptions of one connection is what all connections of an
	// account may have.
	accountSubscriptions = 4
	// freeSubscriptions is what a connection may have in any case.
	freeSubscriptions = 64
)

// full reports whether the peer has too many subscriptions for more.
func (p *peer) full(more int) bool {
	own := p.conn.Subscriptions() + p.elsewhere.count() + more
	switch most := p.opts.MaxSubscriptions; {
	case own > most:
		return true
	case own <= freeSubscriptions, p.conn.Principal().Role == authz.Admin:
		return false
	default:
		return p.conn.AccountSubscriptions()+more > accountSubscriptions*most
	}
}

func (p *peer) initialize(r *request) *ahp.Error {
	var params struct {
		ahp.InitializeParams
		capabilities
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	if e := onRoot(params.Channel); e != nil {
		return e
	}
	if e := require(field{"clientId", params.ClientID != ""},
		field{"protocolVersions", len(params.ProtocolVersions) > 0}); e != nil {
		return e
	}
	if p.full(len(params.InitialSubscriptions)) {
		return p.tooMany()
	}
	if e := p.wants(params.capabilities); e != nil {
		return e
	}
	p.elsewhere.meta = metaOf(r.params)
	p.snapshots(r.id, len(params.InitialSubscriptions), func() (func([]byte) []byte, *ahp.Error) {
		p.listElsewhere(refsOf(params.InitialSubscriptions)...)
		hello, err := p.conn.Initialize(params.InitializeParams)
		if e := Error(p.conn, err); e != nil {
			if e.Code == ahp.CodeVersion {
				p.closing = e
			}
			return nil, e
		}
		p.keep(nil)
		p.initialized()
		return p.helloResult(hello, p.firstElsewhere(params.InitialSubscriptions)), nil
	})
	return nil
}

// helloResult returns the encoder of initialize's result.
func (p *peer) helloResult(hello host.Hello, first *relay.First) func(dst []byte) []byte {
	shape := p.conn.Shape()
	return func(dst []byte) []byte {
		snapshots, serverSeq := hello.Snapshots.Start()
		dst = append(dst, `{"protocolVersion":`...)
		dst = ahp.AppendJSONString(dst, hello.Version.String())
		dst = append(dst, `,"serverSeq":`...)
		dst = strconv.AppendUint(dst, serverSeq, 10)
		dst = append(dst, `,"serverInfo":{"name":"termhost","version":`...)
		dst = ahp.AppendJSONString(dst, hello.ServerVersion)
		dst = append(dst, `},"snapshots":[`...)
		dst = appendViews(dst, snapshots, shape)
		if first != nil {
			dst = first.AppendJSON(dst, serverSeq)
			first.Release()
		}
		dst = append(dst, ']')
		if hello.DefaultDirectory != "" {
			dst = append(dst, `,"defaultDirectory":`...)
			dst = ahp.AppendJSONString(dst, hello.DefaultDirectory)
		}
		if hello.Version.HasEnvironment() {
			dst = append(dst, `,"environment":{"pathStyle":"posix"}`...)
		}
		dst = append(append(dst, `,"_meta":`...), ahp.Encode(p.announcement(hello.Hostname))...)
		return append(dst, '}')
	}
}

// announcement returns the _meta of initialize's result: what this host has beyond AHP,
// what the machine is called, and its time; to a page also which clientId the person's SSH sessions
// have.
func (p *peer) announcement(hostname string) map[string]any {
	has := map[string]any{}
	if hostname != "" {
		own := map[string]any{"hostname": hostname, "time": time.Now().UnixMilli()}
		if id := p.conn.PersonClientID(); id != "" {
			own["person"] = id
		}
		has["termhost"] = own
	}
	for _, name := range ahp.Announced() {
		has[name], has[ahp.Reserved(name)] = struct{}{}, struct{}{}
	}
	if p.extension != nil {
		key, value := p.extension.Announcement()
		has[key] = value
		if name, own := ahp.Plain(ahp.Reserved(key)); own {
			has[ahp.Reserved(name)] = value
		}
	}
	return has
}

func appendViews(dst []byte, views []store.View, shape ahp.Shape) []byte {
	for i, v := range views {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = v.AppendJSON(dst, shape)
	}
	return dst
}

func (p *peer) reconnect(r *request) *ahp.Error {
	var params struct {
		Channel       string                `json:"channel"`
		ClientID      string                `json:"clientId"`
		LastSeen      *uint64               `json:"lastSeenServerSeq"`
		Subscriptions []ahp.SubscriptionRef `json:"subscriptions"`
		Windows       *resumedWindows       `json:"windows"`
		capabilities
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	if e := onRoot(params.Channel); e != nil {
		return e
	}
	cursors, e := cursorsOf(r.params, params.LastSeen == nil && params.Subscriptions != nil)
	if e != nil {
		return e
	}
	if e := require(field{"clientId", params.ClientID != ""},
		field{"lastSeenServerSeq", params.LastSeen != nil || cursors != nil},
		field{"subscriptions", params.Subscriptions != nil}); e != nil {
		return e
	}
	ordinary, e := params.Windows.check(params.Subscriptions, cursors != nil)
	if e != nil {
		return e
	}
	if p.full(len(params.Subscriptions)) {
		return p.tooMany()
	}
	if e := p.wants(params.capabilities); e != nil {
		return e
	}
	p.elsewhere.meta = metaOf(r.params)
	p.snapshots(r.id, len(params.Subscriptions), func() (func([]byte) []byte, *ahp.Error) {
		p.listElsewhere(refsOf(params.Subscriptions)...)
		if cursors != nil {
			cursors, elsewhere := p.splitCursors(cursors)
			recovery, err := p.conn.ReconnectByCursors(params.ClientID, cursors)
			if e := Error(p.conn, err); e != nil {
				return nil, e
			}
			p.keep(p.kept())
			p.initialized()
			replayed := p.recoverElsewhere(&recovery, elsewhere)
			return p.recoveryResult(recovery, replayed), nil
		}
		ordinary, elsewhere := p.split(ordinary)
		replay, err := p.conn.Reconnect(ahp.ReconnectParams{
			Channel: params.Channel, ClientID: params.ClientID,
			LastSeenServerSeq: *params.LastSeen, Subscriptions: ordinary,
		}, params.Windows.cursors()...)
		if e := Error(p.conn, err); e != nil {
			return nil, e
		}
		before := p.kept()
		p.windows.grants.inherit(before.grants, params.Windows.cursors(),
			p.conn.ChannelURI)
		p.keep(before)
		p.initialized()
		p.resumeElsewhere(&replay, elsewhere, *params.LastSeen)
		return p.replayResult(replay, params.Windows != nil, before.grants), nil
	})
	return nil
}

// cursorsOf returns the subscriptions of a reconnect whose lastSeenServerSeq is there for each of
// them, if it may be such a one; nil: it is not.
func cursorsOf(params []byte, may bool) ([]ahp.ChannelCursor, *ahp.Error) {
	if !may {
		return nil, nil
	}
	var w struct {
		Subscriptions []ahp.ChannelCursor `json:"subscriptions"`
	}
	if e := ahp.DecodeParams(params, &w); e != nil {
		return nil, e
	}
	without := func(c ahp.ChannelCursor) bool { return c.LastSeenServerSeq == nil }
	if slices.ContainsFunc(w.Subscriptions, without) {
		return nil, nil
	}
	return w.Subscriptions, nil
}

// recoveryResult returns the encoder of the result of a reconnect by cursors.
func (p *peer) recoveryResult(recovery host.Recovery, replayed []string) func(dst []byte) []byte {
	shape := p.conn.Shape()
	return func(dst []byte) []byte {
		views, _ := recovery.Snapshots.Start()
		dst = append(dst, `{"channels":[`...)
		for i, c := range recovery.Channels {
			if i > 0 {
				dst = append(dst, ',')
			}
			switch {
			case c.Channel == nil:
				dst = append(appendRecovery(dst, ahp.RecoveryMissing, c.Ref), '}')
			case c.Snapshot:
				dst = append(appendRecovery(dst, ahp.RecoverySnapshot, c.Ref), `,"snapshot":`...)
				dst = append(views[0].AppendJSON(dst, shape), '}')
				views = views[1:]
			default:
				dst = append(appendRecovery(dst, ahp.RecoveryReplay, c.Ref), `,"actions":[`...)
				dst = append(appendEnvelopes(dst, c.Missed, shape), "]}"...)
			}
		}
		for i, ref := range replayed { // what they have missed follows
			if i+len(recovery.Channels) > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendRecovery(dst, ahp.RecoveryReplay, ref), `,"actions":[]}`...)
		}
		dst = append(dst, ']')
		return append(p.appendReconnectMeta(dst, recovery.Owned, recovery.Typed), '}')
	}
}

func appendRecovery(dst []byte, kind, channel string) []byte {
	dst = append(dst, `{"kind":"`+kind+`","channel":`...)
	return ahp.AppendJSONString(dst, channel)
}

func appendEnvelopes(dst []byte, entries []*store.Entry, shape ahp.Shape) []byte {
	size := 0
	for _, entry := range entries {
		size += entry.RoughSize()
	}
	dst = slices.Grow(dst, size) // else it would be copied each time that it is full
	for i, entry := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = entry.AppendEnvelope(dst, shape)
	}
	return dst
}

// appendReconnectMeta appends the _meta of reconnect's result, if there is any.
func (p *peer) appendReconnectMeta(dst []byte, owned map[string]ahp.OwnedTerminal,
	typed map[string]int64) []byte {
	if len(owned) == 0 && typed == nil {
		return dst
	}
	m := ahp.ReconnectMeta{Owned: owned}
	if p.conn.NameOf(ahp.MetaClientExecuted) != ahp.MetaClientExecuted {
		m.Owned, m.ReservedOwned = nil, owned
	}
	if typed != nil {
		m.Termhost = &ahp.ReconnectExtras{Typed: typed}
	}
	return append(append(dst, `,"_meta":`...), ahp.Encode(m)...)
}

// replayResult returns the encoder of reconnect's result.
func (p *peer) replayResult(replay host.Replay, windowed bool,
	before *grants) func(dst []byte) []byte {
	shape := p.conn.Shape()
	return func(dst []byte) []byte {
		resumed, missing := p.resumeWindows(replay.Windows, replay.Snapshots, before)
		dst = append(dst, `{"type":"replay","actions":[`...)
		dst = appendEnvelopes(dst, replay.Actions, shape)
		dst = append(dst, `],"missing":[`...)
		for i, channel := range append(replay.Missing, missing...) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = ahp.AppendJSONString(dst, channel)
		}
		dst = append(dst, ']')
		if windowed {
			dst = append(append(dst, `,"windows":`...), ahp.Encode(resumed)...)
		}
		return append(p.appendReconnectMeta(dst, replay.Owned, replay.Typed), '}')
	}
}
