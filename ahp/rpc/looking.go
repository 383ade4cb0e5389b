package rpc

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
)

// wantingPause is how much time there is at least between two notifications of what wants the
// peer's person: a terminal may ring and wait as often as it likes.
const wantingPause = 100 * time.Millisecond

// looking is the notification of what the peer's person looks at. From the first one on the peer is
// told what wants them.
func (p *peer) looking(r *request) *ahp.Error {
	var params struct {
		Terminals []string `json:"terminals"`
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	if p.conn.Looking(p.lookElsewhere(params.Terminals)) {
		p.background.Go(p.tellWanting)
	}
	if r.id != nil {
		p.respond(r.id, appendNull)
	}
	return nil
}

// tellWanting tells the peer what wants its person, which terminals belong together, and the hosts
// of the fleet, whenever that changes. A peer that does not read is told the next thing when it has
// read the last.
func (p *peer) tellWanting() {
	var told [3][]byte
	told[1] = p.appendGroups(nil, map[string]string{}) // which is not told
	told[2] = p.appendHosts(nil)                       // if there is no fleet
	written := make(chan struct{}, 1)
	for {
		select {
		case <-p.conn.Calls():
		case <-p.elsewhere.news:
		case <-p.ctx.Done():
			return
		}
		wanted, _ := p.conn.Wanting() // who may not list is told of none
		unused, _ := p.conn.Unused()
		groups, _ := p.conn.Groups()
		wanting := wantingOf(wanted, unused)
		hosts := p.addElsewhere(&wanting, groups)
		all := [...][]byte{p.appendWanting(nil, wanting), p.appendGroups(nil, groups),
			p.appendHosts(hosts)}
		for i, now := range all {
			if bytes.Equal(now, told[i]) {
				continue
			}
			told[i] = now
			p.conn.Subscriber().Post(func(dst []byte) []byte {
				written <- struct{}{}
				return append(dst, now...)
			}, len(now))
			select {
			case <-written:
			case <-p.ctx.Done():
				return
			}
		}
		select {
		case <-time.After(wantingPause):
		case <-p.ctx.Done():
			return
		}
	}
}

// wantingOf returns what wants the peer's person on this host.
func wantingOf(list []host.Wanted, unused []host.Unused) ahp.Wanting {
	all := ahp.Wanting{Channel: ahp.RootURI, Terminals: []ahp.Wanted{}}
	for _, w := range list {
		all.Terminals = append(all.Terminals, ahp.Wanted{Terminal: w.Terminal.URI(),
			Why: string(w.Why), Since: w.Since.UTC().Truncate(time.Second), Text: w.Text})
	}
	for _, u := range unused {
		all.Keyboards = append(all.Keyboards,
			ahp.UnusedKeyboard{Terminal: u.Terminal.URI(), Window: u.Window})
	}
	return all
}

// lookElsewhere tells the other hosts what the peer's person looks at there, and returns the
// terminals of this one.
func (p *peer) lookElsewhere(terminals []string) (here []string) {
	door := p.opts.Fleet.Door()
	if door == nil || p.conn.Principal().Bounded() {
		return terminals
	}
	there := map[string][]string{}
	for _, ref := range terminals {
		if on, uri, ok := door.Elsewhere(ref); ok {
			there[on] = append(there[on], uri)
		} else {
			here = append(here, ref)
		}
	}
	remotes := p.remotes(door)
	remotes.Look(there)
	p.elsewhere.watched.Store(remotes)
	return here
}

// tellNews has the peer be told of what wants its person on other hosts.
func (p *peer) tellNews() {
	select {
	case p.elsewhere.news <- struct{}{}:
	default:
	}
}

// addElsewhere adds what other hosts tell, and returns the hosts of the fleet.
func (p *peer) addElsewhere(wanting *ahp.Wanting, groups map[string]string) []ahp.FleetHost {
	remotes := p.elsewhere.watched.Load()
	if remotes == nil || p.opts.Fleet.Door() != remotes.Door() {
		return nil
	}
	all, others := remotes.Wanting()
	wanting.Terminals = append(wanting.Terminals, all.Terminals...)
	slices.SortStableFunc(wanting.Terminals, func(a, b ahp.Wanted) int {
		return a.Since.Compare(b.Since)
	})
	wanting.Keyboards = append(wanting.Keyboards, all.Keyboards...)
	maps.Copy(groups, others)
	return remotes.Hosts()
}

// appendHosts returns the notification of the fleet's hosts.
func (p *peer) appendHosts(hosts []ahp.FleetHost) []byte {
	return ahp.AppendNotification(nil, p.conn.NameOf(ahp.MethodHosts),
		ahp.FleetHosts{Channel: ahp.RootURI, Hosts: append([]ahp.FleetHost{}, hosts...)})
}

// appendGroups appends the notification of which terminals belong together.
func (p *peer) appendGroups(dst []byte, groups map[string]string) []byte {
	return ahp.AppendNotification(dst, p.conn.NameOf(ahp.MethodGroups),
		ahp.Groups{Channel: ahp.RootURI, Groups: groups})
}

func (p *peer) appendWanting(dst []byte, wanting ahp.Wanting) []byte {
	return ahp.AppendNotification(dst, p.conn.NameOf(ahp.MethodWanting), wanting)
}
