package verbs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"

	"termhost/ahp/host"
)

// A verb that is about terminals of several hosts runs on each of them at once. Each host says
// HOST/NAME itself, which is not believed: see mark. What they print is joined here, line by line.

// part is the peer of a verb that runs on one of several hosts: its lines go among those of the
// others, and it has neither input nor a terminal.
type part struct {
	IO
	out, err *joined
}

func (p *part) Stdin() io.Reader                 { return strings.NewReader("") }
func (p *part) Stdout() io.Writer                { return p.out }
func (p *part) Stderr() io.Writer                { return p.err }
func (p *part) Terminal() (name string, ok bool) { return "", false }
func (p *part) Window() Window                   { return Window{} }
func (p *part) Resized() <-chan struct{}         { return nil }
func (p *part) Signals() <-chan syscall.Signal   { return nil }
func (p *part) EndOutput()                       {}
func (p *part) DiscardInput()                    {}
func (p *part) RefuseInput()                     {}
func (p *part) Answers() bool                    { return true }

// ended is how a verb has ended on one of several hosts.
type ended struct {
	place  place
	status int
	err    error // why that is not known; nil: it is
	none   bool  // it was not run: there is nothing there that it is about
}

// spread runs the verb on several hosts at once, each with its line, and returns a channel that
// gets the end of each. What is printed goes to outs, in the order of places, or, if that is nil,
// to the peer.
func (v *invocation) spread(
	ctx context.Context, places []place, outs []*Answer,
) <-chan ended {
	var mu sync.Mutex
	results := make(chan ended, len(places))
	for i, p := range places {
		one := v.partOf(p, &mu)
		if outs != nil {
			one.out.w, one.err.w = outs[i], io.Discard
		}
		v.runPart(ctx, p, one, one, func(e ended) { results <- e })
	}
	return results
}

// partOf returns the peer of the verb on a host. What is printed there goes to the peer, line by
// line, under mu.
func (v *invocation) partOf(p place, mu *sync.Mutex) *part {
	one := &part{IO: v.IO, out: &joined{mu: mu, w: v.stdout}, err: &joined{mu: mu, w: v.stderr}}
	if p.host != "" && p.host != v.self() {
		one.out.mark, one.err.mark = v.markFor(p.host), saysFirst(p.host)
	}
	return one
}

// runPart runs the verb on a host, for a part that is its peer as io, and tells how it has ended.
func (v *invocation) runPart(ctx context.Context, p place, io IO, one *part, tell func(ended)) {
	line := v.lineFor(p)
	v.Go("running a verb on another host", func() {
		peer := v.Caller
		peer.IO, peer.Local = io, false
		e := ended{place: p}
		if p.host == "" || p.host == v.self() {
			peer.Carried = v.self()
			own := v.Runner.invoke(ctx, peer)
			own.isPart = true
			e.status = own.execute(line)
		} else {
			var end Exit
			end, e.err = v.fleet().Run(ctx, peer, p.host, line)
			e.status = end.Status
		}
		one.out.flush()
		one.err.flush()
		tell(e)
	})
}

// all returns every host that can be reached, and names the others to the peer.
func (v *invocation) all() (places []place) {
	for _, h := range v.fleet().Hosts() {
		if h.Reachable {
			places = append(places, place{host: h.Name})
		} else {
			fmt.Fprintln(v.stderr, h.unreachable())
		}
	}
	return places
}

// onMatching runs a verb on each host that lists a terminal that matches, and returns its status;
// done is false if no host does, or there is no other one. Hosts that do not tell are named to the
// peer.
func (v *invocation) onMatching(matches func(host.Info) bool) (status int, done bool) {
	places, _, err := v.matchingNow(matches)
	switch {
	case err != nil:
		return v.failed(err), true
	case len(places) == 0:
		return StatusOK, false
	}
	return v.onSeveral(places), true
}

// matchingNow is matching for what all hosts list now, of which it names those that do not tell to
// the peer. There are none if there is no other host.
func (v *invocation) matchingNow(matches func(host.Info) bool) (there, silent []place, err error) {
	if len(v.others()) == 0 {
		return nil, nil, nil
	}
	list, notes, err := v.listOn(nil)
	if err != nil {
		return nil, nil, err
	}
	for _, note := range notes {
		fmt.Fprintln(v.stderr, note)
	}
	there, silent = matching(list, matches)
	return there, silent, nil
}

// matching returns the hosts that list a terminal that matches, and the silent ones that did when
// they were heard last.
func matching(list []listed, matches func(host.Info) bool) (there, silent []place) {
	for _, i := range list {
		to := &there
		if !i.away.IsZero() {
			to = &silent
		}
		is := func(p place) bool { return p.host == i.on }
		if matches(i.Info) && !i.refused && !slices.ContainsFunc(*to, is) {
			*to = append(*to, place{host: i.on})
		}
	}
	return there, silent
}

// onSeveral runs a verb that may be about terminals of several hosts, and returns its status.
func (v *invocation) onSeveral(places []place) int {
	if status, wrong := v.wrong(); wrong {
		return status
	}
	switch v.verb.name {
	case "events":
		if len(places) > 1 || len(v.named()) == 0 { // else the end of the only host is its own
			return v.eventsOnSeveral(places)
		}
	case "rm":
		return v.removeOnSeveral(places)
	case "wait":
		return v.waitOnSeveral(places, lateWait{})
	case "asks":
		return v.asksOnSeveral(places)
	}
	ctx, stop := v.untilInterrupted()
	defer stop()
	results, status, found := v.spread(ctx, places, nil), StatusOK, false
	for range places {
		e := <-results
		switch {
		case ctx.Err() != nil: // the others end now
		case e.err != nil:
			status = max(status, StatusUsage, v.failedThere(e.err))
		case e.status == StatusOK:
			found = true
		case e.status > StatusFailed:
			status = max(status, e.status)
		}
	}
	if status == StatusOK && !found {
		status = StatusFailed
	}
	switch {
	case ctx.Err() == nil:
		return status
	case v.ctx.Err() == nil && v.verb.name == "events":
		return StatusOK
	}
	return v.stopped(ctx)
}

// removeOnSeveral ends terminals host by host.
func (v *invocation) removeOnSeveral(places []place) (status int) {
	results := v.spread(v.ctx, places, nil)
	for range places {
		e := <-results
		if e.err != nil {
			e.status = v.failedThere(e.err)
		}
		status = max(status, e.status)
	}
	return status
}

// asksOnSeveral prints what is held on each host, one after the other, or one array.
func (v *invocation) asksOnSeveral(places []place) int {
	outs := make([]*Answer, len(places))
	for i := range outs {
		outs[i] = new(Answer)
	}
	results, status := v.spread(v.ctx, places, outs), StatusOK
	unheard := v.unheard(places)
	for range places {
		e := <-results
		if e.err != nil {
			e.status = v.failedThere(e.err)
		}
		if e.status != StatusOK {
			unheard = append(unheard, e.place.host)
		}
		status = max(status, e.status)
	}
	if slices.Contains(v.words, "--json") || slices.Contains(v.words, "-json") {
		all := []json.RawMessage{}
		for i, out := range outs {
			list, _ := elements(out.Bytes()) // none: there is no list
			on := cmp.Or(places[i].host, v.self())
			for _, held := range list {
				if on == v.self() { // it has said so itself
					all = append(all, held)
				} else if marked, ok := hosted(on, held); ok {
					all = append(all, marked)
				}
			}
		}
		return max(status, v.printJSON(all))
	}
	printed := false
	for _, out := range outs {
		text := out.Bytes()
		if _, rows, ok := bytes.Cut(text, []byte("\n")); printed && ok {
			text = rows // one head is enough
		}
		printed = printed || len(text) > 0
		_, _ = v.stdout.Write(text)
	}
	slices.Sort(unheard)
	switch {
	case printed:
	case len(unheard) > 0:
		fmt.Fprintf(v.stderr, "nothing is waiting for an answer, as far as is known; "+
			"not reached: %s\n",
			strings.Join(unheard, ", "))
	default:
		fmt.Fprintln(v.stderr, "nothing is waiting for an answer")
	}
	return status
}

// unheard returns the hosts that a verb without NAMEs is about and that are not among places.
func (v *invocation) unheard(places []place) (names []string) {
	if len(v.named()) > 0 {
		return nil
	}
	for _, h := range v.fleet().Hosts() {
		if !slices.ContainsFunc(places, func(p place) bool { return p.host == h.Name }) {
			names = append(names, h.Name)
		}
	}
	return names
}

// shown returns a terminal's NAME or URI as the peer writes it: with this host's name, if another
// host has carried the peer here.
func (c *Caller) shown(name string) string {
	if c.Carried == "" {
		return name
	}
	return place{host: c.Carried}.shown(name)
}

// heldItems returns what is held for JSON, with this host's name if another host has carried the
// peer here.
func heldItems(c Caller, list []host.HeldInput) any {
	if c.Carried == "" {
		return list
	}
	items := []json.RawMessage{}
	for _, k := range list {
		if text, err := json.Marshal(k); err == nil {
			items = append(items, c.withHost(text))
		}
	}
	return items
}

// withHost adds this host's name to an object of JSON, if another host has carried the peer here.
func (c *Caller) withHost(object []byte) []byte {
	if c.Carried == "" {
		return object
	}
	name, _ := json.Marshal(c.Carried) // a string cannot fail
	return slices.Concat([]byte(`{"host":`), name, []byte{','}, object[1:])
}
