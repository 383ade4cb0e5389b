package verbs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/spelling"
	"termhost/sshd/listing"
	"termhost/sshd/wording"
)

const (
	// listTime bounds how long a host that is there may take to list its terminals.
	listTime = 3 * time.Second
	// askedAtOnce bounds how many hosts are asked at once for one list.
	askedAtOnce = 32
	// maxSeen and maxSeenBytes bound the lists that are kept for when their hosts are silent: one
	// for each host and person.
	maxSeen      = 512
	maxSeenBytes = 64 << 20
)

// listed is a terminal of the fleet.
type listed struct {
	host.Info
	on   string    // the host; "": there is one only
	away time.Time // since when the host is silent, and this is what was seen last; zero: it is not
	raw  []byte    // as JSON
	// refused: the host is there, but does not let the person in. away is set as well.
	refused bool
}

// seen keeps what hosts have listed last, by host and principal. Its methods may be called
// concurrently.
type seen struct {
	mu    sync.Mutex // a leaf
	lists map[[2]string][]byte
	bytes int // of all
}

func (s *seen) put(host, who string, list []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [2]string{host, who}
	s.bytes += len(list) - len(s.lists[key])
	if s.lists == nil || len(s.lists) >= maxSeen || s.bytes > maxSeenBytes {
		s.lists, s.bytes = map[[2]string][]byte{}, len(list)
	}
	s.lists[key] = list
}

func (s *seen) get(host, who string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists[[2]string{host, who}]
}

// others returns the hosts of the fleet besides this one, for a peer that may be carried there. On
// a host that is no door there are none.
func (v *invocation) others() []FleetHost {
	f := v.fleet()
	if f == nil {
		return nil
	}
	door := false
	list := slices.DeleteFunc(f.Hosts(), func(h FleetHost) bool {
		door = door || h.Self && h.Door
		return h.Self
	})
	if !door {
		return nil
	}
	return list
}

// fleet returns the fleet; nil: there is none, or the peer was carried here by it, or stays here.
// It is the same for the whole run of a verb: what asks a fleet that was left gets errors.
func (v *invocation) fleet() Fleet { return v.inFleet }

// everywhere is listEach for all other hosts.
func (v *invocation) everywhere(within time.Duration) (list []listed, notes []string) {
	return v.listEach(v.others(), within)
}

// listEach returns the terminals of hosts, with what there is to say of those that do not tell
// within a time.
func (v *invocation) listEach(hosts []FleetHost, within time.Duration) (
	list []listed, notes []string,
) {
	ctx, cancel := context.WithTimeout(v.ctx, within)
	defer cancel()
	lists, complaints := v.listAll(ctx, hosts)
	return slices.Concat(lists...),
		slices.DeleteFunc(complaints, func(text string) bool { return text == "" })
}

// listOn returns the terminals of all hosts, or of those that are named, with what there is to say
// of hosts that do not tell.
func (v *invocation) listOn(names []string) (list []listed, notes []string, err error) {
	own, err := v.Conn.List()
	if err != nil {
		return nil, nil, err
	}
	self := v.self()
	others, err := v.othersNamed(names, self)
	if err != nil {
		return nil, nil, err
	}
	if len(names) > 0 && !slices.Contains(names, self) {
		own = nil
	}
	list, notes = v.listEach(others, listTime)
	return v.withHosts(own, list), notes, nil
}

// othersNamed returns the hosts of those names besides this one, self; all if none is named. Only
// in a fleet is any named.
func (v *invocation) othersNamed(names []string, self string) ([]FleetHost, error) {
	others := v.others()
	if len(names) == 0 {
		return others, nil
	}
	hosts := v.fleet().Hosts()
	for _, name := range names {
		is := func(h FleetHost) bool { return h.Name == name }
		switch {
		case !slices.ContainsFunc(hosts, is):
			return nil, NoHost(name, hosts)
		case name != self && !slices.ContainsFunc(others, is):
			return nil, fmt.Errorf("this host is not a door of its fleet; log in to one that"+
				" is, or to %s itself", name)
		}
	}
	return slices.DeleteFunc(others, func(h FleetHost) bool {
		return !slices.Contains(names, h.Name)
	}), nil
}

// NoHost says which hosts there are instead of the one that is named.
func NoHost(name string, hosts []FleetHost) error {
	known := make([]string, len(hosts))
	for i, h := range hosts {
		known[i] = h.Name
	}
	return fmt.Errorf("the fleet has no host %q%s", name, spelling.Among(name, known))
}

// listAll returns the terminals of each of the hosts, and what there is to say of it.
func (v *invocation) listAll(ctx context.Context, hosts []FleetHost) (
	lists [][]listed, complaints []string,
) {
	lists, complaints = make([][]listed, len(hosts)), make([]string, len(hosts))
	v.askEach(ctx, len(hosts), func(ctx context.Context, i int) {
		lists[i], complaints[i] = v.listOf(ctx, hosts[i])
	})
	return lists, complaints
}

// askEach calls ask for each of n hosts, for some at once, until all have answered. Its ctx ends
// after listTime.
func (v *invocation) askEach(ctx context.Context, n int, ask func(ctx context.Context, i int)) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	var asking sync.WaitGroup
	places := make(chan struct{}, askedAtOnce)
	for i := range n {
		asking.Add(1)
		v.Go("asking another host for a list", func() {
			defer asking.Done()
			places <- struct{}{}
			defer func() { <-places }()
			ask(ctx, i)
		})
	}
	asking.Wait()
}

// complaint is what there is to say of a host that has answered with an error, on one line. One of
// another version may not know what it was asked.
func (v *invocation) complaint(h FleetHost, err error) string {
	text := strings.TrimPrefix(err.Error(), "termhost: error: ")
	text = host.Printable(strings.ReplaceAll(text, "\nhint: ", "; "))
	var refused *RefusedError
	if errors.As(err, &refused) {
		return text
	}
	for _, now := range v.fleet().Hosts() {
		if now.Name == h.Name && !now.Reachable { // it has not answered
			return now.unreachable()
		}
	}
	who := h.Name
	does, named := strings.CutPrefix(text, h.Name+" ")
	known := h.Version == "" || h.Version == v.Version || strings.HasPrefix(does, "runs termhost ")
	if !known {
		who = fmt.Sprintf("%s, which runs termhost %s", h.Name, host.Printable(h.Version))
	}
	switch {
	case named && !known:
		return who + ", " + does
	case named:
		return text
	}
	return who + ": " + does
}

// listOf returns the terminals of a host. If it does not tell, they are those that it has told
// last, and note says why: it may be silent for so short a time that it counts as reachable.
func (v *invocation) listOf(ctx context.Context, h FleetHost) (list []listed, note string) {
	who := v.principal().ID
	var text []byte
	var away time.Time
	var refused *RefusedError
	if !h.Reachable {
		note = h.unreachable()
	} else if told, err := v.fleet().Output(ctx, v.Caller, h.Name, "ls --json"); err != nil {
		note = v.complaint(h, err)
		errors.As(err, &refused)
	} else {
		text = told
		v.seen.put(h.Name, who, text)
	}
	if note != "" {
		text, away = v.seen.get(h.Name, who), h.Heard
	}
	items, _ := elements(text) // none: there is no list
	for _, raw := range items {
		if says, ok := saysHost(raw); !ok || says != "" {
			continue // it speaks as a host: this one says which it is
		}
		i := listed{on: h.Name, away: away, raw: raw, refused: refused != nil}
		var holder struct {
			Claim struct{ Holder, ClientID string }
		}
		if json.Unmarshal(raw, &i.Info) != nil || json.Unmarshal(raw, &holder) != nil ||
			!ahp.ValidName(i.Name) {
			continue // of a version that this one does not understand
		}
		if c := i.LastCommand; c != nil {
			c.Running = c.ExitCode == nil && c.DurationMs == nil
		}
		i.Holder = holder.Claim.Holder
		i.Mine = holder.Claim.ClientID == host.SSHClientID(v.principal())
		list = append(list, i)
	}
	return list, note
}

// unreachable says since when a host is silent.
func (h FleetHost) unreachable() string {
	if h.Heard.IsZero() {
		return h.Name + " is unreachable"
	}
	return fmt.Sprintf("%s is unreachable since %s", h.Name, wording.Age(time.Since(h.Heard)))
}

// withHosts adds this host's terminals to those of the others, in the order of [listing.Compare];
// of equal ones this host's are first, then those of the others by the hosts' names.
func (v *invocation) withHosts(own []host.Info, all []listed) []listed {
	self := ""
	if len(v.others()) > 0 {
		self = v.self()
	}
	others := all
	all = []listed{} // in JSON there is a list, an empty one too
	for _, i := range own {
		all = append(all, listed{Info: i, on: self})
	}
	all = append(all, others...)
	slices.SortStableFunc(all, func(a, b listed) int {
		return listing.Compare(a.Info, b.Info)
	})
	return all
}

// MarshalJSON adds the host, and since when it is silent. The URI is the one that is known here.
func (i listed) MarshalJSON() ([]byte, error) {
	if i.raw != nil {
		marked, ok := hostedAs(origin{i.on, i.away, i.refused}, i.raw)
		if !ok {
			return nil, fmt.Errorf("%s answers with a list that cannot be read", i.on)
		}
		return marked, nil
	}
	raw, err := json.Marshal(i.Info)
	if err != nil || i.on == "" {
		return raw, err
	}
	on := Caller{Carried: i.on}
	return on.withHost(raw), nil
}

// hostColumn puts the hosts before the rows of a list of terminals, which has room for cols cells.
func hostColumn(list []listed, wide bool, cols int) [][]string {
	infos := make([]host.Info, len(list))
	widest := len("HOST")
	for n, i := range list {
		infos[n] = i.Info
		widest = max(widest, len(i.on))
	}
	table := listing.Table(infos, wide)
	for n, i := range list {
		if i.refused {
			table[n+1][listing.State] = listing.Cell{Text: "refused"}
		} else if !i.away.IsZero() {
			table[n+1][listing.State] = listing.Cell{Text: "unreachable"}
		}
	}
	if len(list) == 0 || list[0].on == "" {
		return listing.Fitted(table, cols)
	}
	if cols > 0 {
		cols = max(cols-widest-listing.Gap, 1)
	}
	rows := listing.Fitted(table, cols)
	for n := range rows {
		name := "HOST"
		if n > 0 {
			name = list[n-1].on
		}
		rows[n] = append([]string{name}, rows[n]...)
	}
	return rows
}
