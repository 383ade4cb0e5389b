package rpc

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/rpc/relay"
)

// searchWait bounds how long other hosts may take to search. What one has found later is not shown.
const searchWait = 20 * time.Second

// unsearchedHost is a host that was to search, and has not.
type unsearchedHost struct {
	Host   string `json:"host"`
	Reason string `json:"reason"`
}

// searchParams are the params of termhost/search.
type searchParams struct {
	Pattern    string   `json:"pattern"`
	IgnoreCase bool     `json:"ignoreCase"`
	Channels   []string `json:"channels,omitempty"` // none: all terminals
}

// otherSearches are those of a peer's search that other hosts do. The zero value is none.
type otherSearches struct {
	hosts   []string
	answers <-chan relay.Answer
}

// searchElsewhere has other hosts search their terminals, all of them or those of params. It
// returns params without these; here is false if none of this host's are left.
func (p *peer) searchElsewhere(params searchParams) (own searchParams, here bool,
	others otherSearches) {
	door := p.opts.Fleet.Door()
	if door == nil || p.conn.Principal().Bounded() {
		return params, true, others
	}
	own, here = params, len(params.Channels) == 0
	there := map[string][]string{}
	if here {
		others.hosts = door.Others()
	} else {
		own.Channels = nil
		for _, channel := range params.Channels {
			if host, uri, ok := door.Elsewhere(channel); ok {
				there[host] = append(there[host], uri)
			} else {
				own.Channels, here = append(own.Channels, channel), true
			}
		}
		for host := range there {
			others.hosts = append(others.hosts, host)
		}
		slices.Sort(others.hosts)
	}
	if len(others.hosts) == 0 {
		return own, here, others
	}
	others.answers = p.remotes(door).AskAll(others.hosts, ahp.MethodSearch,
		func(host string) json.RawMessage {
			asked := params
			asked.Channels = there[host]
			return ahp.Encode(asked)
		})
	return own, here, others
}

// endSearchElsewhere ends what other hosts search for the peer.
func (p *peer) endSearchElsewhere() {
	if rs := p.elsewhere.remotes; rs != nil {
		rs.AskAll(rs.Used(), ahp.MethodSearch,
			func(string) json.RawMessage { return ahp.Encode(searchParams{}) })
	}
}

// wait returns what other hosts have found when all have answered, ctx ends or it takes too long:
// by host, and which of them have not searched.
func (o otherSearches) wait(ctx context.Context) (found searchResult) {
	late := time.NewTimer(searchWait)
	defer late.Stop()
	results, reasons := map[string]searchResult{}, map[string]string{}
	for _, host := range o.hosts {
		reasons[host] = "it does not answer"
	}
	for range o.hosts {
		select {
		case a := <-o.answers:
			delete(reasons, a.Host)
			if a.Err != nil {
				reasons[a.Host] = reasonFrom(a)
			} else if r, ok := foundBy(a); ok {
				results[a.Host] = r
			} else {
				reasons[a.Host] = "its answer cannot be read"
			}
			continue
		case <-ctx.Done():
		case <-late.C:
		}
		break
	}
	for _, host := range o.hosts {
		if reason, not := reasons[host]; not {
			found.Unsearched = append(found.Unsearched, unsearchedHost{host, reason})
		}
		found.Terminals = append(found.Terminals, results[host].Terminals...)
		found.More = found.More || results[host].More
	}
	return found
}

// reasonFrom returns why a host does not answer, without its name.
func reasonFrom(a relay.Answer) string {
	reason := strings.TrimPrefix(a.Err.Message, a.Host+" is ")
	reason = strings.TrimPrefix(reason, a.Host+": ")
	return host.Printable(strings.TrimPrefix(reason, a.Host+" "))
}

// foundBy reads the answer of another host, which may be broken into.
func foundBy(a relay.Answer) (result searchResult, ok bool) {
	if json.Unmarshal(a.Result, &result) != nil {
		return searchResult{}, false
	}
	terminals := result.Terminals
	result.Terminals = nil
	for _, t := range terminals {
		name, ok := ahp.FleetURI(a.Host, t.Channel)
		if !ok || t.Count < 1 {
			continue
		}
		t.Channel, t.Count = name, min(t.Count, searchMatches)
		t.Lines = append([]searchedLine{}, t.Lines[:min(len(t.Lines), searchLines)]...)
		for i, l := range t.Lines {
			text := []byte(host.Printable(l.Text))
			if len(text) > searchLine {
				text = text[:ahp.WholeRunes(text, searchLine)]
			}
			t.Lines[i].Text = string(text)
		}
		result.Terminals = append(result.Terminals, t)
	}
	return result, true
}

// add adds what other hosts have found, as far as there is room.
func (r *searchResult) add(found searchResult) {
	r.More, r.Unsearched = r.More || found.More, found.Unsearched
	left := searchBytes
	for _, t := range r.Terminals {
		left -= t.size()
	}
	for _, t := range found.Terminals {
		if left -= t.size(); left < 0 {
			t.Lines, r.More = []searchedLine{}, true
		}
		r.Terminals = append(r.Terminals, t)
	}
}

// size returns how many bytes the lines have.
func (s *searchedTerminal) size() (n int) {
	for i := range s.Lines {
		n += len(s.Lines[i].Text)
	}
	return n
}
