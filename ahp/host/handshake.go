package host

import (
	"encoding/json"
	"errors"
	"slices"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
)

var (
	errTakenOver     = errors.New("another connection of this clientId has taken over")
	errForeignClient = ahp.NewError(ahp.CodeNotPermitted,
		"this clientId belongs to somebody else; choose another", "rule", "a clientId belongs to the principal that first used it")
)

// Hello is the answer to initialize, apart from how its version looks on the wire.
type Hello struct {
	Version ahp.Version
	// ServerSeq is that of the snapshots: a client may take it for
	// the last action it has seen.
	ServerSeq        uint64
	ServerVersion    string
	DefaultDirectory string
	Snapshots        []store.View
}

// Initialize is AHP's initialize. Initial subscriptions that do not exist are
// left out. What a connection that it takes over from followed, it follows, too:
// from the state of it on.
func (c *Conn) Initialize(p ahp.InitializeParams) (Hello, *ahp.Error) {
	if c.Initialized() {
		return Hello{}, errInitialized
	}
	v, ok := ahp.Negotiate(p.ProtocolVersions)
	if !ok {
		e := ahp.NewError(ahp.CodeVersion, "no offered protocol version is supported; termhost speaks 0.3 to 0.9 and 1.x")
		e.Data, _ = json.Marshal(map[string][]string{"supportedVersions": ahp.SupportedVersions()})
		return Hello{}, e
	}
	from, bad := c.host.seat(c, p.ClientID, v)
	if bad != nil {
		return Hello{}, bad
	}
	var channels []*store.Channel
	for _, ref := range p.InitialSubscriptions {
		if ch := c.host.channel(c.principal, string(ref)); ch != nil && !slices.Contains(channels, ch) {
			channels = append(channels, ch)
		}
	}
	c.host.list.flush()
	hello := Hello{Version: v, ServerVersion: c.host.cfg.Version, DefaultDirectory: ahp.FileURI(c.host.account.Home)}
	hello.Snapshots, hello.ServerSeq = c.sub.SubscribeAll(channels)
	c.sub.Inherit(from.channels)
	return hello, nil
}

var errInitialized = ahp.NewError(ahp.CodeInvalidRequest, "already initialized: a connection is initialized once")

// Replay is the answer to reconnect.
type Replay struct {
	Actions []*store.Entry
	Missing []string
	Owned   map[string]ahp.OwnedTerminal // see [ahp.ReconnectMeta]
}

// Reconnect is AHP's reconnect: the connection continues as the clientId, with
// the version it had, and gets what it missed. An unknown clientId leaves the
// connection as it was.
func (c *Conn) Reconnect(p ahp.ReconnectParams) (Replay, *ahp.Error) {
	if c.Initialized() {
		return Replay{}, errInitialized
	}
	h := c.host
	h.mu.Lock()
	var v ahp.Version
	cl := h.knownLocked(p.ClientID)
	foreign := cl != nil && cl.principal != c.principal.ID
	if cl != nil && !foreign {
		v = cl.version
	}
	h.mu.Unlock()
	switch {
	case foreign:
		return Replay{}, errForeignClient
	case v == ahp.Version{}:
		return Replay{}, ahp.NewError(ahp.CodeNotFound, "this clientId is not known here any more; initialize instead", "clientId", clip(p.ClientID))
	}
	from, bad := h.seat(c, p.ClientID, v)
	if bad != nil {
		return Replay{}, bad
	}
	r := Replay{Missing: []string{}, Owned: h.standing(c.client)}
	var channels []*store.Channel
	for _, ref := range p.Subscriptions {
		ch := h.channel(c.principal, string(ref))
		if ch == nil || reborn(ch, from.synced) {
			r.Missing = append(r.Missing, string(ref))
			continue
		}
		channels = append(channels, ch)
	}
	h.list.flush()
	r.Actions = c.sub.Reconnect(channels, p.LastSeenServerSeq, from.synced)
	return r, nil
}

// reborn reports whether a client followed an earlier terminal of ch's URI: the one
// that it means is gone. synced is what its last connection knew.
func reborn(ch *store.Channel, synced map[string]uint64) bool {
	at, followed := synced[ch.URI()]
	return followed && at <= ch.Born()
}

// channel returns the channel that a reference names, if p may follow it.
func (h *Host) channel(p authz.Principal, ref string) *store.Channel {
	uri, ok := ahp.NormalizeChannel(ref)
	if !ok || authz.Check(p, authz.Subscribe, authz.Target{}) != nil {
		return nil
	}
	if uri == ahp.RootURI {
		return h.store.Root()
	}
	t := h.lookup(uri)
	if t == nil {
		return nil
	}
	return t.ch
}

// Subscribe is AHP's subscribe.
func (c *Conn) Subscribe(ref string) (store.View, *ahp.Error) {
	if c.ctx.Err() != nil {
		return store.View{}, c.ended()
	}
	if err := authz.Check(c.principal, authz.Subscribe, authz.Target{}); err != nil {
		return store.View{}, refused(err)
	}
	ch := c.host.channel(c.principal, ref)
	if ch == nil {
		return store.View{}, unknownChannel(ref)
	}
	if ch == c.host.store.Root() {
		c.host.list.flush()
	}
	view, err := c.sub.Subscribe(ch)
	if err != nil {
		return store.View{}, unknownChannel(ref)
	}
	return view, nil
}

// Unsubscribe is AHP's unsubscribe. What is not subscribed to is ignored.
func (c *Conn) Unsubscribe(ref string) {
	uri, ok := ahp.NormalizeChannel(ref)
	if !ok {
		return
	}
	for _, ch := range c.sub.Channels() {
		if ch.URI() == uri {
			c.sub.Unsubscribe(ch)
		}
	}
}

// Subscriptions returns how many channels the connection follows.
func (c *Conn) Subscriptions() int { return len(c.sub.Channels()) }

func unknownChannel(ref string) *ahp.Error {
	return ahp.NewError(ahp.CodeNotFound, "there is no channel "+Printable(clip(ref))+"; it may have been disposed", "channel", clip(ref))
}
