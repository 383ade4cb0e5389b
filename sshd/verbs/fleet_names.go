package verbs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"termhost/ahp"
	"termhost/ahp/commandline"
	"termhost/ahp/host"
)

// naming is which words of a verb's command line, beside the flags, are NAMEs of terminals.
type naming int

const (
	namesNone  naming = iota
	namesFirst        // the first
	namesAll          // all
	namesRest         // all but the first
)

// operands returns where the words beside the flags are in v.words.
func (v *invocation) operands() (at []int) {
	for i := 0; i < len(v.words); {
		if n := knownFlags(v.fs, v.words[i:]); n > 0 {
			i += n
			continue
		}
		if name, _, _ := flagName(v.words[i]); name == "" {
			at = append(at, i)
		}
		i++
	}
	return at
}

// named returns where the NAMEs are in v.words.
func (v *invocation) named() []int {
	at := v.operands()
	switch {
	case v.verb.names == namesAll, len(at) == 0:
		return at
	case v.verb.names == namesFirst:
		return at[:1]
	case v.verb.names == namesRest:
		return at[1:]
	}
	return nil
}

// place is a host with those of the verb's NAMEs that are there.
type place struct {
	host  string         // "": this one
	names map[int]string // by their position in v.words; or URIs that the host has
}

// shown returns a NAME or URI that the host has as the peer writes it.
func (p place) shown(name string) string {
	if uri, ok := ahp.FleetURI(p.host, name); ok {
		return uri
	}
	return p.host + "/" + name
}

// elsewhere runs the verb on the other hosts on which its NAMEs are, and returns the status. NAMEs
// on this host lose the host's name; done is false if there are no others.
func (v *invocation) elsewhere() (status int, done bool) {
	if v.fleet() == nil || v.verb.names == namesNone {
		return StatusOK, false
	}
	if v.verb.names == namesRest && len(v.operands()) == 0 {
		return StatusOK, false // something is missing, which is said here
	}
	at := v.named()
	if len(at) == 0 {
		to, ok, err := v.lastElsewhere()
		switch {
		case err != nil:
			return v.failed(err), true
		case ok:
			return v.carried(to.host, v.attachTo(to)), true
		}
	}
	places, err := v.places(at)
	if err == nil {
		err = v.renamedThere(places)
	}
	switch {
	case err != nil:
		return v.failed(err), true
	case len(at) == 0 && v.verb.everywhere && !v.asksHelp() && v.hasOthers():
		return v.onSeveral(v.all()), true
	case len(places) == 0 || len(places) == 1 && places[0].host == "":
		v.stay(places)
		return StatusOK, false
	case len(places) == 1 && !v.verb.everywhere:
		return v.carried(places[0].host, v.lineFor(places[0])), true
	}
	for i := range places {
		if places[i].host == "" {
			places[i].host = v.self()
		}
	}
	return v.onSeveral(places), true
}

// hasOthers reports whether there are other hosts that the verb is about. `events` is also about
// those that join a door later.
func (v *invocation) hasOthers() bool {
	return len(v.others()) > 0 || v.verb.name == "events" && v.isDoor()
}

// asksHelp reports whether the peer wants the verb explained.
func (v *invocation) asksHelp() bool {
	return slices.ContainsFunc(v.words, func(w string) bool {
		return w == "-h" || w == "-help" || w == "--help"
	})
}

// self returns this host's name; "": it is in no fleet.
func (v *invocation) self() string {
	f := v.fleet()
	if f == nil {
		return ""
	}
	for _, h := range f.Hosts() {
		if h.Self {
			return h.Name
		}
	}
	return ""
}

// carried runs a line on a host, and returns its status.
func (v *invocation) carried(host, line string) int {
	f, t := v.fleet(), v.newTour()
	if t == nil || !v.verb.terminal && v.verb.name != "run" {
		end, err := f.Run(v.ctx, v.Caller, host, line)
		return v.carriedStatus(end, err, stop{host: host})
	}
	var from *Arrival
	if v.Arriving != "" {
		from = &Arrival{Text: v.Arriving}
	}
	there, err := f.Show(v.ctx, v.Caller, host, line, from)
	if err != nil {
		return v.carriedStatus(Exit{}, err, stop{host: host})
	}
	return v.touredStatus(t.run(&ready{to: stop{host: host}, there: there}))
}

// carriedStatus is the status of what has run on another host, and has shown the terminal at.
func (v *invocation) carriedStatus(end Exit, err error, at stop) int {
	var left *LeftError
	switch {
	case errors.As(err, &left):
		return v.left(left, at)
	case err != nil && v.ctx.Err() != nil:
		return v.cutOff(at)
	case err != nil:
		return v.failedThere(err)
	}
	v.died.Signal, v.died.Core = end.Signal, end.Core
	return end.Status
}

// places sorts the NAMEs by their hosts.
func (v *invocation) places(at []int) (places []place, err error) {
	hosts := v.fleet().Hosts()
	for _, i := range at {
		on, name, both := strings.Cut(v.words[i], "/")
		if host, uri, ok := ahp.SplitFleetURI(v.words[i]); ok {
			on, name = host, uri
		}
		known := slices.ContainsFunc(hosts, func(h FleetHost) bool { return h.Name == on })
		switch {
		case !both:
			if on, err = v.hostOf(v.words[i]); err != nil {
				return nil, err
			}
			name = v.words[i]
		case !known:
			// A client may have named a terminal of this host so: see [ahp.SplitFleetURI].
			if _, missing := v.find(v.words[i]); missing != nil && ahp.ValidName(on) {
				return nil, NoHost(on, hosts)
			}
			on, name = "", v.words[i]
		case on == v.self():
			on = ""
		}
		n := slices.IndexFunc(places, func(p place) bool { return p.host == on })
		if n < 0 {
			n, places = len(places), append(places, place{on, map[int]string{}})
		}
		places[n].names[i] = name
	}
	return places, nil
}

// hostOf returns the host of a NAME without one: "", which is this one, if it has the NAME or no
// host has it. Of several none is chosen. Hosts are asked only where it matters: all of them if
// this one has no such terminal, else those that may have one, for a peer from elsewhere. Who is on
// this machine, as an agent in a terminal is, means this host's. If no host has the NAME, it may be
// the beginning of one: see begun.
func (v *invocation) hostOf(name string) (on string, err error) {
	_, err = v.find(name)
	var missing *host.NotFoundError
	makes := v.verb.name == "attach" && slices.Contains(v.words, "-A")
	here := !errors.As(err, &missing)
	if makes || here && (err != nil || v.Local || !v.isDoor()) {
		return "", nil
	}
	var found []string
	list := v.withName(name, here)
	for _, i := range list {
		if i.Name == name && (i.away.IsZero() || !here) {
			on, found = i.on, append(found, i.on+"/"+name)
		}
	}
	if here && len(found) > 0 {
		found = append(found, v.self()+"/"+name)
	}
	switch {
	case len(found) > 1:
		return "", fmt.Errorf("there are several: %s", strings.Join(found, ", "))
	case len(found) == 0 && !here && !(v.Local && len(missing.Candidates) > 0):
		return v.begun(missing, list)
	}
	return on, nil
}

// begun returns the only host with a terminal whose NAME or title begins with a NAME that no host
// has, for an attach: see [host.Conn.FindBegun]. missing has this host's, and list those of the
// others. Otherwise the error says which there are; if they are all this host's, it says so itself.
func (v *invocation) begun(missing *host.NotFoundError, list []listed) (on string, err error) {
	all := &host.NotFoundError{Name: missing.Name, Whole: v.verb.name != "attach"}
	for _, i := range list {
		if missing.Name != "" && (strings.HasPrefix(i.Name, missing.Name) ||
			strings.HasPrefix(i.Title, missing.Name)) {
			on, all.Candidates = i.on, append(all.Candidates, i.on+"/"+i.Name)
		}
	}
	if len(all.Candidates) == 0 {
		return "", nil
	}
	self := v.self()
	for _, own := range missing.Candidates {
		all.Candidates = append(all.Candidates, self+"/"+own)
	}
	if len(all.Candidates) == 1 && !all.Whole {
		return on, nil
	}
	return "", all
}

// isDoor reports whether this host may carry anybody anywhere.
func (v *invocation) isDoor() bool {
	return slices.ContainsFunc(v.fleet().Hosts(),
		func(h FleetHost) bool { return h.Self && h.Door })
}

// withName returns terminals of other hosts, among them those of a NAME. likely: only hosts that
// may have one are asked.
func (v *invocation) withName(name string, likely bool) []listed {
	hosts := v.others()
	if likely {
		names := v.fleet().WithName(name)
		hosts = slices.DeleteFunc(hosts, func(h FleetHost) bool {
			return !slices.Contains(names, h.Name)
		})
	}
	lists, _ := v.listAll(v.ctx, hosts)
	return slices.Concat(lists...)
}

// ownNames returns NAMEs for a verb that only a terminal's own host has, without this host's name.
// The error says where to go for another host's.
func (v *invocation) ownNames(names []string) (own []string, err error) {
	if v.fleet() == nil {
		return names, nil
	}
	hosts, self := v.fleet().Hosts(), v.self()
	for _, name := range names {
		on, bare, both := strings.Cut(name, "/")
		known := slices.ContainsFunc(hosts, func(h FleetHost) bool { return h.Name == on })
		switch {
		case !both || !ahp.ValidName(on):
			bare = name
		case !known:
			return nil, NoHost(on, hosts)
		case on != self:
			return nil, fmt.Errorf("%s is of another host, which only lets in whom it is asked for"+
				" itself: `ssh -J HOST %s %s`, with the NAME %s", name, on, v.verb.name, bare)
		}
		own = append(own, bare)
	}
	return own, nil
}

// stay takes this host's name from the NAMEs.
func (v *invocation) stay(places []place) {
	for _, p := range places {
		for i, name := range p.names {
			v.words[i], v.raw[i] = name, name
		}
	}
}

// lineFor returns the verb's command line with the NAMEs of one host only, as that host has them.
func (v *invocation) lineFor(p place) string {
	at := v.named()
	return v.edited(func(i int, text string) string {
		name, here := p.names[i]
		switch {
		case here && name != v.words[i]:
			return commandline.Quote(name)
		case here || !slices.Contains(at, i):
			return text
		}
		return ""
	})
}

// edited returns the command line with other words; "" leaves one out. Everything else, quotes
// included, stays as the peer has written it.
func (v *invocation) edited(edit func(i int, text string) string) string {
	parts, from := []string{v.verb.name}, v.from
	if v.verb.text {
		at, _ := v.textAt()
		from = from[:at]
	}
	for i, from := range from {
		_, n, _ := scanWord(from, false) // it has been scanned before
		if text := edit(i, from[:n]); text != "" {
			parts = append(parts, text)
		}
	}
	switch {
	case v.verb.text:
		parts = append(parts, v.textElsewhere(len(from))...)
	case v.tail:
		parts = append(parts, "--", v.rest)
	}
	return strings.Join(parts, " ")
}

// textElsewhere returns the text to type, which begins at a word, as a host takes it whose peer is
// not local. There it is verbatim, where a local peer has quoted each of its arguments.
func (v *invocation) textElsewhere(at int) (parts []string) {
	text, exact := v.textFrom(at)
	if text == "" {
		return nil
	}
	if v.Local {
		typed, flags, err := v.written(text, exact)
		switch {
		case err != nil: // the other host says so
		case typed == "-" && !exact:
			text = commandline.Join(append([]string{typed}, flags...))
		default:
			parts = append(parts, flags...)
			text, exact = typed, true
		}
	}
	if exact {
		parts = append(parts, "--")
	}
	return append(parts, text)
}

// defineHosts lists the hosts of the fleet.
func defineHosts(fs *flag.FlagSet) func(*invocation) int {
	asJSON := fs.Bool("json", false, "print a JSON array")
	return func(v *invocation) int { return v.hosts(*asJSON) }
}

// noFleet says why there is no fleet, for a peer to read.
func (v *invocation) noFleet() error {
	if v.NoFleet == nil || v.Carried != "" || v.principal().Guest != "" {
		return errors.New("this host is in no fleet")
	}
	return v.NoFleet()
}

func (v *invocation) hosts(asJSON bool) int {
	f := v.fleet()
	if f == nil {
		return v.failed(v.noFleet())
	}
	ctx, cancel := context.WithTimeout(v.ctx, listTime)
	defer cancel()
	list, err := f.Survey(ctx)
	switch {
	case err != nil:
		return v.failed(err)
	case asJSON:
		return v.printJSON(list)
	}
	rows := [][]string{{"HOST", "STATE", "RUNNING", "DOOR", "VERSION", "LABELS"}}
	for _, h := range list {
		rows = append(rows, h.row())
	}
	writeTable(v.stdout, rows, v.Window().Cols)
	return StatusOK
}

// row is the host's of the list.
func (h FleetHost) row() []string {
	state, door := "reachable", "no"
	switch {
	case h.Self:
		state = "this host"
	case !h.Reachable:
		state = strings.TrimPrefix(h.unreachable(), h.Name+" is ")
	}
	if h.Door {
		door = "yes"
	}
	var labels []string
	for key, value := range h.Labels {
		labels = append(labels, key+"="+value)
	}
	slices.Sort(labels)
	return []string{h.Name, state, fmt.Sprint(h.Terminals), door, h.Version,
		strings.Join(labels, ",")}
}
