package relay

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
)

// looked are the terminals of a host that the client's person looks at, and those that want the
// person.
type looked struct {
	on  bool     // the host is told
	at  []string // by the host's URIs
	due bool     // the link has not been told yet

	wanting ahp.Wanting       // with the client's URIs
	groups  map[string]string // likewise
}

// Look has the other hosts know what the client's person looks at: terminals by host and URI there.
// From the first time on there is a link to each host, also to those that join, and
// [Remotes.Wanting] has what they tell.
func (rs *Remotes) Look(at map[string][]string) {
	rs.mu.Lock()
	first := rs.lookedAt == nil
	rs.lookedAt = at
	rs.mu.Unlock()
	rs.lookAround()
	if first {
		rs.links.Go(rs.keepLooking)
	}
}

// keepLooking tells hosts that join, and the client of them.
func (rs *Remotes) keepLooking() {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for told := rs.Hosts(); ; {
		select {
		case <-ticker.C:
		case <-rs.ctx.Done():
			return
		}
		rs.lookAround()
		if now := rs.Hosts(); !slices.Equal(now, told) {
			told = now
			rs.peer.News()
		}
	}
}

// Hosts returns the hosts of the fleet.
func (rs *Remotes) Hosts() (all []ahp.FleetHost) {
	for _, h := range rs.door.fleet.Hosts() {
		one := ahp.FleetHost{Host: h.Name, Self: h.Self}
		if !h.Reachable && !h.Self {
			one.Unreachable = h.Heard.UTC().Format(time.RFC3339)
		}
		all = append(all, one)
	}
	return all
}

// lookAround tells the hosts that do not know it what is looked at.
func (rs *Remotes) lookAround() {
	rs.mu.Lock()
	at := rs.lookedAt
	rs.mu.Unlock()
	for _, name := range rs.door.Others() {
		rs.of(name).look(at[name])
	}
}

// look has the host know what is looked at there.
func (r *remote) look(at []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.looked.on && slices.Equal(r.looked.at, at) {
		return
	}
	r.looked.on, r.looked.at, r.looked.due = true, at, true
	r.startLocked()
	r.tellWriter()
}

// lookAnewLocked has a new link be told the person's looks. The link's answer replaces the last
// one.
func (r *remote) lookAnewLocked() { r.looked.due, r.looked.groups = r.looked.on, nil }

// appendLookingLocked appends what the link is to be told.
func (r *remote) appendLookingLocked(dst []byte) []byte {
	if !r.looked.due {
		return dst
	}
	r.looked.due = false
	params := ahp.Encode(struct {
		Terminals []string `json:"terminals"`
	}{append([]string{}, r.looked.at...)})
	return appendRequest(dst, 0, ahp.MethodLooking, params, ahp.RootURI)
}

const (
	// maxSaid bounds what a program says that wants somebody, in bytes; its host cuts it far below.
	maxSaid = 4 << 10
	// maxGroup bounds the name of a group, in bytes.
	maxGroup = 256
)

// wants takes note of what wants the client's person on the host.
func (r *remote) wants(params json.RawMessage) error {
	var told ahp.Wanting
	if json.Unmarshal(params, &told) != nil {
		return errMessage
	}
	var now ahp.Wanting
	for _, w := range told.Terminals[:min(len(told.Terminals), maxListed)] {
		name, ok := ahp.FleetURI(r.host, w.Terminal)
		if !ok || !host.Want(w.Why).Valid() {
			continue
		}
		w.Terminal = name
		w.Text = host.Printable(w.Text[:ahp.WholeRunes(w.Text, maxSaid)])
		now.Terminals = append(now.Terminals, w)
	}
	for _, k := range told.Keyboards[:min(len(told.Keyboards), maxListed)] {
		if name, ok := ahp.FleetURI(r.host, k.Terminal); ok {
			k.Terminal = name
			now.Keyboards = append(now.Keyboards, k)
		}
	}
	r.mu.Lock()
	r.looked.wanting = now
	r.mu.Unlock()
	r.all.peer.News()
	return nil
}

// belong takes note of which terminals of the host belong together.
func (r *remote) belong(params json.RawMessage) error {
	var told ahp.Groups
	if json.Unmarshal(params, &told) != nil {
		return errMessage
	}
	now := map[string]string{}
	for uri, group := range told.Groups {
		name, ok := ahp.FleetURI(r.host, uri)
		if group = host.Printable(group); ok && len(group) <= maxGroup && len(now) < maxListed {
			now[name] = group
		}
	}
	r.mu.Lock()
	r.looked.groups = now
	r.mu.Unlock()
	r.all.peer.News()
	return nil
}

// Wanting returns what wants the client's person on the other hosts, and which terminals belong
// together there. Of a host that is silent it is what was told last.
func (rs *Remotes) Wanting() (all ahp.Wanting, groups map[string]string) {
	rs.mu.Lock()
	remotes := maps.Clone(rs.byHost)
	rs.mu.Unlock()
	groups = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(remotes)) {
		r := remotes[name]
		r.mu.Lock()
		all.Terminals = append(all.Terminals, r.looked.wanting.Terminals...)
		all.Keyboards = append(all.Keyboards, r.looked.wanting.Keyboards...)
		maps.Copy(groups, r.looked.groups)
		r.mu.Unlock()
	}
	return all, groups
}
