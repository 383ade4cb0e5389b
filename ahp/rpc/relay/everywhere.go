package relay

import (
	"encoding/json"

	"termhost/ahp"
)

// An Answer is what another host answers to a question to several.
type Answer struct {
	Host   string
	Result json.RawMessage
	Err    *ahp.Error // why there is no result
}

// AskAll asks hosts something that is about terminals of theirs, and sends their answers, in any
// order, to the channel, which has room for all. A host that is silent answers that it is.
func (rs *Remotes) AskAll(hosts []string, method string,
	params func(host string) json.RawMessage) <-chan Answer {
	answers := make(chan Answer, len(hosts))
	for _, name := range hosts {
		r := rs.of(name)
		q := &question{deliver: func(result json.RawMessage, e *ahp.Error) {
			answers <- Answer{name, result, e}
		}}
		e := r.silent()
		if e == nil {
			e = r.ask(q, method, params(name), ahp.RootURI)
		}
		if e != nil {
			answers <- Answer{Host: name, Err: e}
		}
	}
	return answers
}

// silent refuses what the host cannot be asked; nil: it can.
func (r *remote) silent() *ahp.Error {
	if err := r.reachable(); err != nil {
		return unreachable(r.host, err)
	}
	return nil
}

// Used returns the hosts that the client has a link to.
func (rs *Remotes) Used() (hosts []string) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for name := range rs.byHost {
		hosts = append(hosts, name)
	}
	return hosts
}

// Others returns the other hosts of the fleet, in their order.
func (d *Door) Others() (names []string) {
	for _, h := range d.fleet.Hosts() {
		if !h.Self {
			names = append(names, h.Name)
		}
	}
	return names
}
