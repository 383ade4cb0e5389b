package verbs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"termhost/ahp/host"
)

// lateWait is what a wait does about hosts that are silent when it begins. The zero value is for
// none.
type lateWait struct {
	silent  []place
	matches func(host.Info) bool // the terminals that are waited for there
	within  time.Duration        // as --timeout says; 0: for ever
}

// waitOnMatching is onMatching for `wait`. A host that is silent, and had such a terminal when it
// was heard last, is waited for as well.
func (v *invocation) waitOnMatching(matches func(host.Info) bool, within time.Duration) (
	status int, done bool,
) {
	there, silent, err := v.matchingNow(matches)
	switch {
	case err != nil:
		return v.failed(err), true
	case len(there)+len(silent) == 0:
		return StatusOK, false
	}
	for _, p := range silent {
		fmt.Fprintf(v.stderr, "waiting for %s, too\n", p.host)
	}
	return v.waitOnSeveral(there, lateWait{silent, matches, within}), true
}

// waitOnSeveral waits on each host, for the first that ends or, with --all, the last.
func (v *invocation) waitOnSeveral(places []place, late lateWait) (status int) {
	all := slices.ContainsFunc(v.words, func(w string) bool { return w == "--all" || w == "-all" })
	ctx, cancel := context.WithCancelCause(v.ctx)
	defer cancel(ErrHungUp) // so that the others end without a word
	var mu sync.Mutex
	pending := len(places) + len(late.silent)
	results := make(chan ended, pending)
	wait := func(p place) {
		one := v.partOf(p, &mu)
		v.runPart(ctx, p, one, one, func(e ended) { results <- e })
	}
	for _, p := range places {
		wait(p)
	}
	for _, p := range late.silent {
		v.Go("waiting for a silent host", func() {
			if v.isBack(ctx, p.host, late.matches) {
				wait(p)
			} else {
				results <- ended{place: p, none: true}
			}
		})
	}
	over, stop := late.timer()
	defer stop()
	asked := false
	for ; pending > 0; pending-- {
		var e ended
		select {
		case e = <-results:
		case <-over:
			return v.waitedForSilent(late)
		}
		asked = asked || !e.none
		switch {
		case v.ctx.Err() != nil && (e.err != nil || e.none || e.status == StatusLost):
			return v.cutShort()
		case e.err != nil:
			return v.failedThere(e.err)
		case e.none:
			continue
		case all && pending > 1 && e.status != StatusTimeout:
			status = e.status
			continue
		}
		for _, name := range e.place.names { // of several the host has said it
			if len(e.place.names) == 1 && e.status != StatusTimeout {
				fmt.Fprintln(v.stdout, e.place.shown(name))
			}
		}
		return e.status
	}
	if !asked {
		return v.failed(errNoneSelected)
	}
	return status
}

// timer returns a channel that gets a value when a wait for silent hosts has taken too long; stop
// releases it. A host that comes back meanwhile counts its own time.
func (l lateWait) timer() (over <-chan time.Time, stop func()) {
	if len(l.silent) == 0 || l.within <= 0 {
		return nil, func() {}
	}
	t := time.NewTimer(l.within)
	return t.C, func() { t.Stop() }
}

// waitedForSilent reports that a wait for silent hosts has taken too long.
func (v *invocation) waitedForSilent(l lateWait) int {
	var names []string
	for _, p := range l.silent {
		names = append(names, p.host)
	}
	fmt.Fprintf(v.stderr, "termhost: error: nothing has ended after %v, as far as is known;"+
		" unreachable at first: %s\n", l.within, strings.Join(names, ", "))
	return StatusTimeout
}

// isBack waits until a silent host can be asked again, and reports whether it has a terminal that
// matches. It returns false, too, when ctx ends or the host leaves the fleet.
func (v *invocation) isBack(
	ctx context.Context, name string, matches func(host.Info) bool,
) bool {
	ticker := time.NewTicker(followPause)
	defer ticker.Stop()
	for {
		hosts := v.fleet().Hosts()
		i := slices.IndexFunc(hosts, func(h FleetHost) bool { return h.Name == name })
		if i < 0 {
			return false
		}
		if hosts[i].Reachable {
			asking, cancel := context.WithTimeout(ctx, listTime)
			list, note := v.listOf(asking, hosts[i])
			cancel()
			refused := slices.ContainsFunc(list, func(l listed) bool { return l.refused })
			if note == "" || refused {
				there, _ := matching(list, matches)
				return len(there) > 0
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return false
		}
	}
}
