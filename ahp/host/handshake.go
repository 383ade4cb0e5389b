package host

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
)

// Errors of Initialize and Reconnect.
var (
	ErrInitialized = errors.New("already initialized: a connection is initialized once")
	ErrVersion     = errors.New("no offered protocol version is supported; " +
		"termhost speaks 0.3 to 0.10 and 1.x")
)

// UnknownClientError says that a clientId belongs to nobody any more.
type UnknownClientError struct{ ID string } // cut to what an answer may repeat

func (e *UnknownClientError) Error() string {
	return "this clientId is not known here any more; initialize instead"
}

// Hello is the answer to initialize, whatever it looks like on the wire.
type Hello struct {
	Version          ahp.Version
	ServerVersion    string
	Hostname         string
	DefaultDirectory string
	// Snapshots gives the snapshots, and the answer's serverSeq, which is theirs: a client may take
	// it for that of the last action it has seen.
	Snapshots *store.Subscription
}

// Initialize is AHP's initialize. Initial subscriptions that do not exist are left out. If the
// connection takes over from another one of its clientId, it also follows what that one followed,
// beginning with the state.
func (c *Conn) Initialize(p ahp.InitializeParams) (Hello, error) {
	if c.Initialized() {
		return Hello{}, ErrInitialized
	}
	v, ok := ahp.Negotiate(p.ProtocolVersions)
	if !ok {
		return Hello{}, ErrVersion
	}
	from, err := c.host.bindClient(c, p.ClientID, v)
	if err != nil {
		return Hello{}, err
	}
	var channels []*store.Channel
	for _, ref := range p.InitialSubscriptions {
		if ch := c.channel(string(ref)); ch != nil && !slices.Contains(channels, ch) {
			channels = append(channels, ch)
		}
	}
	c.host.list.flush()
	hello := Hello{
		Version: v, ServerVersion: c.host.cfg().Version, Hostname: c.host.cfg().Hostname,
		DefaultDirectory: ahp.FileURI(c.host.account.Home),
		Snapshots:        c.sub.SubscribeAll(channels),
	}
	c.sub.Inherit(c.ownRoot(from.channels))
	c.settleRoot()
	for _, ch := range c.sub.Channels() {
		c.tellAsked(ch)
		c.sub.TellAsks(ch, !slices.Contains(channels, ch))
	}
	return hello, nil
}

// Replay is the answer to reconnect.
type Replay struct {
	Actions []*store.Entry
	Missing []string
	Owned   map[string]ahp.OwnedTerminal // see [ahp.ReconnectMeta]
	Typed   map[string]int64             // see [ahp.ReconnectExtras]; nil: nobody knows

	// Of channels that go on apart, each with what the client has seen of it.
	Windows   []ChannelRecovery
	Snapshots *store.Subscription // of those that get one
}

// Reconnect is AHP's reconnect: the connection goes on as the clientId, with the version that the
// last connection had, and gets what that one missed. With an unknown clientId nothing changes.
// windowed are the channels that go on apart; one without a serverSeq gets a snapshot.
func (c *Conn) Reconnect(p ahp.ReconnectParams, windowed ...ahp.ChannelCursor) (Replay, error) {
	from, err := c.bindKnown(p.ClientID)
	if err != nil {
		return Replay{}, err
	}
	r := Replay{Missing: []string{}, Owned: c.host.standing(c.client)}
	var channels []*store.Channel
	for _, ref := range p.Subscriptions {
		ch := c.sameChannel(string(ref), from)
		if ch == nil {
			r.Missing = append(r.Missing, string(ref))
			continue
		}
		channels = append(channels, ch)
	}
	r.Typed = c.typed(p.LastSeenServerSeq, from)
	c.host.list.flush()
	r.Actions = c.sub.Reconnect(channels, p.LastSeenServerSeq, from.synced)
	for _, ch := range channels {
		c.tellAsked(ch)
		c.sub.TellAsks(ch, true)
	}
	r.Windows, r.Snapshots = c.resume(windowed, from)
	c.settleRoot()
	return r, nil
}

// Recovery is the answer to a reconnect by cursors.
type Recovery struct {
	Channels  []ChannelRecovery   // each that was asked for, once
	Snapshots *store.Subscription // of the channels that get one
	Owned     map[string]ahp.OwnedTerminal
	Typed     map[string]int64 // both as in [Replay]
}

// ChannelRecovery is how the client goes on with a channel.
type ChannelRecovery struct {
	Ref           string // as the client names it
	store.Resumed        // zero: it is missing
}

// ReconnectByCursors is [Conn.Reconnect] for a client that says of each channel what it has seen
// of it. The cursors have a lastSeenServerSeq each.
func (c *Conn) ReconnectByCursors(clientID string, cursors []ahp.ChannelCursor) (Recovery, error) {
	from, err := c.bindKnown(clientID)
	if err != nil {
		return Recovery{}, err
	}
	r := Recovery{Owned: c.host.standing(c.client)}
	var last uint64 // what the client has seen of all
	for _, cur := range cursors {
		last = max(last, *cur.LastSeenServerSeq)
	}
	r.Typed = c.typed(last, from)
	c.host.list.flush()
	r.Channels, r.Snapshots = c.resume(cursors, from)
	c.settleRoot()
	return r, nil
}

// resume has the client go on with channels, each of which is returned once. One without a
// serverSeq gets a snapshot.
func (c *Conn) resume(cursors []ahp.ChannelCursor, from inherited) ([]ChannelRecovery,
	*store.Subscription) {
	var list []ChannelRecovery
	var seen []store.Seen
	named, known := map[string]bool{}, map[*store.Channel]bool{}
	for _, cur := range cursors {
		ref, seq := string(cur.Channel), uint64(math.MaxUint64) // which no client has seen
		if cur.LastSeenServerSeq != nil {
			seq = *cur.LastSeenServerSeq
		}
		ch := c.sameChannel(ref, from)
		if named[ref] || ch != nil && known[ch] {
			continue
		}
		named[ref], known[ch] = true, true
		seen = append(seen, store.Seen{Channel: ch, Seq: seq})
		list = append(list, ChannelRecovery{Ref: ref})
	}
	resumed, snapshots := c.sub.Resume(seen, from.synced)
	for i, how := range resumed {
		list[i].Resumed = how
		if how.Channel != nil {
			c.tellAsked(how.Channel)
			c.sub.TellAsks(how.Channel, true)
		}
	}
	return list, snapshots
}

// bindKnown binds the connection to a clientId that is known here.
func (c *Conn) bindKnown(clientID string) (from inherited, err error) {
	if c.Initialized() {
		return from, ErrInitialized
	}
	h := c.host
	h.mu.Lock()
	var v ahp.Version
	cl := h.knownLocked(clientID)
	foreign := cl != nil && cl.principal != c.principal.ID
	if cl != nil && !foreign {
		v = cl.version
	}
	h.mu.Unlock()
	switch {
	case foreign:
		return from, errForeignClient
	case v == ahp.Version{}:
		return from, &UnknownClientError{clip(clientID)}
	}
	return h.bindClient(c, clientID, v)
}

// sameChannel returns the channel that a reconnecting client means, if it is still there and the
// peer may follow it.
func (c *Conn) sameChannel(ref string, from inherited) *store.Channel {
	ch := c.channel(ref)
	// A connection may have a root channel of its own, which is the same to its client.
	another := ch != nil && ch.URI() != ahp.RootURI && reborn(ch, from.synced)
	if another || c.younger(ref, from.restored) {
		return nil
	}
	return ch
}

// typed returns what each terminal has taken last of the client, which has seen everything up to
// lastSeen; nil: nobody knows.
func (c *Conn) typed(lastSeen uint64, from inherited) map[string]int64 {
	if lastSeen < c.host.first || !from.restored.IsZero() {
		return nil
	}
	return c.host.typedBy(c.client.id)
}

// younger reports whether a client of an earlier host, which was connected until then at the
// latest, means an earlier terminal of a URI than the one that has it now. Zero: it has been
// connected to this host.
func (c *Conn) younger(ref string, then time.Time) bool {
	if then.IsZero() {
		return false
	}
	uri, _ := c.ChannelURI(ref)
	t := c.host.lookup(uri)
	return t != nil && t.origin.created.After(then)
}

// reborn reports whether a client means an earlier terminal of ch's URI, which is gone. synced is
// what the client's last connection knew.
func reborn(ch *store.Channel, synced map[string]uint64) bool {
	at, followed := synced[ch.URI()]
	return followed && at <= ch.Born()
}

// channel returns the channel that a reference names, if the peer may follow it.
func (c *Conn) channel(ref string) *store.Channel {
	uri, ok := c.ChannelURI(ref)
	if !ok || authz.Check(c.principal, authz.List, authz.Target{}) != nil {
		return nil
	}
	if uri == ahp.RootURI {
		return c.root.Load()
	}
	t := c.host.lookupFor(c.principal, uri)
	if t == nil || authz.Check(c.principal, authz.Subscribe, t.seen()) != nil {
		return nil
	}
	t.kept.load()
	return t.ch
}

// Subscribe is AHP's subscribe. If it returns no error, the answer is posted: answer appends it to
// dst, with the snapshot, which is taken when the answer is written.
func (c *Conn) Subscribe(ref string, answer func(dst []byte, v store.View) []byte) error {
	return c.subscribe(ref, func(ch *store.Channel) error { return c.sub.Subscribe(ch, answer) })
}

// subscribe has begin subscribe to the channel.
func (c *Conn) subscribe(ref string, begin func(*store.Channel) error) error {
	if err := c.Ended(); err != nil {
		return err
	}
	if err := authz.Check(c.principal, authz.List, authz.Target{}); err != nil {
		return err
	}
	ch := c.channel(ref)
	if ch == nil {
		return unknownChannel(ref)
	}
	if ch.URI() == ahp.RootURI {
		c.host.list.flush()
	}
	if err := begin(ch); err != nil {
		return unknownChannel(ref)
	}
	c.settleRoot()
	c.tellAsked(ch)
	c.sub.TellAsks(ch, false)
	return nil
}

// Unsubscribe is AHP's unsubscribe. A channel that the connection does not follow is ignored.
func (c *Conn) Unsubscribe(ref string) {
	uri, ok := c.ChannelURI(ref)
	if !ok {
		return
	}
	if ch := c.sub.Channel(uri); ch != nil {
		c.sub.Unsubscribe(ch)
	}
}

// Subscriptions returns how many channels the connection follows.
func (c *Conn) Subscriptions() int { return c.sub.Count() }

// Lookup returns the terminal of a channel, however its URI is spelled, if it exists for the
// connection's principal. It returns an [*EndedError] or an [*UnknownChannelError].
func (c *Conn) Lookup(ref string) (*Terminal, error) {
	if err := c.Ended(); err != nil {
		return nil, err
	}
	if uri, ok := c.ChannelURI(ref); ok {
		if t := c.host.lookupFor(c.principal, uri); t != nil {
			return t, nil
		}
	}
	return nil, unknownChannel(ref)
}

func unknownChannel(ref string) error { return &UnknownChannelError{clip(ref)} }

// inherited is what a connection takes over from the last one of its clientId.
type inherited struct {
	synced   map[string]uint64 // what the last one knew: see [store.Subscriber.Reconnect]
	restored time.Time         // by when the last one had left, if it was an earlier host's
	channels []*store.Channel  // what the last one followed, if it was still open
}

// bindClient binds the connection to a clientId, and ends another connection of this clientId.
func (h *Host) bindClient(c *Conn, id string, v ahp.Version) (from inherited, err error) {
	if id == "" || len(id) > maxClientID {
		return from, ErrClientID
	}
	switch strings.ToLower(id[:min(len(id), len(sshPrefix))]) {
	case sshPrefix:
		return from, errSSHClient
	case mcpPrefix:
		return from, errMCPClient
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := c.Ended(); err != nil {
		return from, err
	}
	cl, err := h.clientLocked(id, c.principal)
	if err != nil {
		return from, err
	}
	if old := cl.conn; old != nil && old != c {
		// The client has not left, so the terminals that it owns go on.
		from.channels = old.sub.Channels()
		cl.synced = old.sub.Close()
		old.End(ErrTakenOver)
	}
	h.nameLocked(cl, c.principal)
	cl.conn, cl.version = c, v
	c.client, c.version, c.name = cl, v, cl.name
	c.sub.Identify(id)
	h.noteClient(cl)
	h.backLocked(cl)
	h.watchers.tellConns()
	from.synced = cl.synced
	if cl.restored {
		from.restored, cl.restored = cl.left, false
	}
	return from, nil
}
