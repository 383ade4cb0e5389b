package relay

import (
	"context"
	"encoding/json"
	mrand "math/rand/v2"
	"slices"
	"sync"
	"time"

	crand "crypto/rand"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/transport"
	"termhost/authz"
)

const (
	// maxList bounds a host's list, in bytes: that of as many terminals as a host has at most.
	maxList = 16 << 20
	// maxListed bounds the terminals of a host.
	maxListed = 20_000
	// linger is how long a list is followed that nobody reads: a page that is loaded again finds
	// it.
	linger = time.Minute
)

// list follows the terminals of all other hosts for one principal.
type list struct {
	door      *Door
	principal authz.Principal
	from      authz.Source
	clientID  string
	shown     *host.FleetList
	changed   chan struct{} // 1 deep

	// Guarded by Door.mu.
	readers int
	unread  time.Time // since when there are none

	mu       sync.Mutex // a leaf
	hosts    map[string]*listed
	settling chan struct{} // closed with the next change; nil: nobody waits
}

// listed is what one host lists.
type listed struct {
	stop      context.CancelFunc
	terminals []ahp.TerminalInfo
	told      bool // it has listed them, or refused
}

// listOf returns the list of a connection's principal, which is followed from now on.
func (d *Door) listOf(c *host.Conn) *list {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := c.Principal()
	l := d.lists[p.ID]
	if l == nil {
		l = &list{door: d, principal: p, from: c.Source(), clientID: "fleet-" + crand.Text(),
			shown: d.host.NewFleetList(), changed: make(chan struct{}, 1),
			hosts: map[string]*listed{}}
		d.lists[p.ID] = l
		d.run.Go(l.run)
	}
	l.readers++
	return l
}

func (l *list) tell() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// run keeps the list up to date until nobody has read it for a while, or the door is closed.
func (l *list) run() {
	ctx, cancel := context.WithCancel(l.door.ctx)
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel()
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		hosts := l.door.fleet.Hosts()
		l.follow(ctx, &following, hosts)
		l.shown.Set(l.merged(hosts))
		select {
		case <-l.changed:
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if l.abandoned() {
			l.shown.Close()
			return
		}
	}
}

// abandoned reports whether nobody has read the list for a while. It is forgotten then.
func (l *list) abandoned() bool {
	d := l.door
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case l.readers > 0:
		l.unread = time.Time{}
	case l.unread.IsZero():
		l.unread = time.Now()
	case time.Since(l.unread) > linger:
		delete(d.lists, l.principal.ID)
		return true
	}
	return false
}

// follow follows the hosts that are new, and no more those that are gone.
func (l *list) follow(ctx context.Context, following *sync.WaitGroup, hosts []Host) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, at := range l.hosts {
		if !slices.ContainsFunc(hosts, func(h Host) bool { return h.Name == name && !h.Self }) {
			at.stop()
			delete(l.hosts, name)
			l.settleLocked()
		}
	}
	for _, h := range hosts {
		if l.hosts[h.Name] != nil || h.Self {
			continue
		}
		at := &listed{}
		l.hosts[h.Name] = at
		ctx, stop := context.WithCancel(ctx)
		at.stop = stop
		following.Go(func() { l.keepUp(ctx, h.Name, at) })
	}
}

func (l *list) settleLocked() {
	if l.settling != nil {
		close(l.settling)
		l.settling = nil
	}
}

// settled returns when each host that is there has listed its terminals.
func (l *list) settled(ctx context.Context) {
	for {
		hosts := l.door.fleet.Hosts()
		l.mu.Lock()
		waits := slices.ContainsFunc(hosts, func(h Host) bool {
			at := l.hosts[h.Name]
			return !h.Self && h.Reachable && (at == nil || !at.told)
		})
		if l.settling == nil {
			l.settling = make(chan struct{})
		}
		settling := l.settling
		l.mu.Unlock()
		if !waits {
			l.shown.Set(l.merged(hosts))
			l.shown.Flush()
			return
		}
		select {
		case <-settling:
		case <-ctx.Done():
			return
		}
	}
}

// merged returns the terminals of all other hosts, by host. Those of a host that is silent are what
// was seen last.
func (l *list) merged(hosts []Host) (all []ahp.TerminalInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range hosts {
		at := l.hosts[h.Name]
		if at == nil {
			continue
		}
		since := ""
		if !h.Reachable {
			since = h.Heard.UTC().Format(time.RFC3339)
		}
		for _, t := range at.terminals {
			t.Termhost.Unreachable = since
			all = append(all, t)
		}
	}
	return all
}

// set takes what a host lists.
func (l *list) set(at *listed, terminals []ahp.TerminalInfo) {
	l.mu.Lock()
	at.terminals, at.told = terminals, true
	l.settleLocked()
	l.mu.Unlock()
	l.tell()
}

// keepUp follows the list of a host until ctx ends.
func (l *list) keepUp(ctx context.Context, name string, at *listed) {
	for pause := minPause; ctx.Err() == nil; pause = min(2*pause, maxPause) {
		begun := time.Now()
		refused, err := l.read(ctx, name, at)
		if refused {
			l.door.log.Debug("another host lists nothing", "host", name, "err", err)
			l.set(at, nil)
		}
		if time.Since(begun) > steady {
			pause = minPause
		}
		for wait := pause/2 + mrand.N(pause/2); ; wait = look {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return
			}
			if l.door.fleet.Reachable(name) == nil {
				break
			}
		}
	}
}

// read reads a host's list until the link is lost. refused: the host is there, and does not tell
// this principal.
func (l *list) read(ctx context.Context, name string, at *listed) (refused bool, err error) {
	if err := l.door.fleet.Reachable(name); err != nil {
		return false, err
	}
	conn, err := l.door.fleet.Dial(ctx, l.principal, l.from, name)
	if err != nil {
		return l.door.fleet.Reachable(name) == nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	params := ahp.Encode(ahp.InitializeParams{Channel: ahp.RootURI, ClientID: l.clientID,
		ProtocolVersions:     ahp.SupportedVersions(),
		InitialSubscriptions: []ahp.SubscriptionRef{ahp.RootURI}})
	hello := appendRequest(nil, 1, ahp.MethodInitialize, params, ahp.RootURI)
	if _, err := conn.Write(hello); err != nil {
		return false, err
	}
	lines := transport.NewLines(conn, conn, maxList, func(string) error { return conn.Close() })
	for {
		line, err := lines.Read()
		if err != nil {
			return false, readError(err)
		}
		m, err := parse(line)
		if err != nil {
			return true, err
		}
		list, is, err := listIn(m)
		if err != nil {
			return true, err
		}
		if is {
			l.set(at, named(name, list))
		}
	}
}

// listIn returns the terminals that a message lists; is is false if it lists none.
func listIn(m message) (list []ahp.TerminalInfo, is bool, err error) {
	switch {
	case m.err != nil:
		return nil, false, m.err
	case m.id == 1:
		var hello struct {
			Snapshots []struct {
				State ahp.RootState `json:"state"`
			} `json:"snapshots"`
		}
		if json.Unmarshal(m.result, &hello) != nil || len(hello.Snapshots) != 1 {
			return nil, false, errMessage
		}
		return hello.Snapshots[0].State.Terminals, true, nil
	case m.method == ahp.MethodAction:
		e, err := ahp.DecodeEnvelope(m.params)
		if err != nil || e.Channel != ahp.RootURI {
			return nil, false, err
		}
		a, err := ahp.DecodeAction(e.Action)
		changed, is := a.(ahp.RootTerminalsChanged)
		return changed.Terminals, is, err
	}
	return nil, false, nil
}

// named returns the terminals of a host as a door's clients name them, without those that cannot be
// named.
func named(name string, list []ahp.TerminalInfo) []ahp.TerminalInfo {
	all, seen := []ahp.TerminalInfo{}, map[string]bool{}
	for _, t := range list[:min(len(list), maxListed)] {
		uri, ok := ahp.FleetURI(name, t.Resource)
		if !ok || seen[uri] {
			continue
		}
		seen[uri] = true
		t.Resource, t.Title = uri, host.CleanTitle(t.Title)
		t.Termhost.Host, t.Termhost.Unreachable = name, ""
		all = append(all, t)
	}
	return all
}
