package verbs

import (
	"fmt"
	"strings"
	"sync"

	"termhost/ahp/commandline"
	"termhost/ahp/host"
)

// maxUses bounds of how many principals it is remembered which terminal of another host each has
// used last.
const maxUses = 1000

// uses are the terminals of other hosts that principals have used last through this one, until they
// use one of this host. Its methods may be called concurrently.
type uses struct {
	mu   sync.Mutex      // a leaf
	last map[string]stop // by the principal's ID
}

// note remembers that a principal uses a terminal, which if it is this host's the host remembers.
func (u *uses) note(who string, at stop) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if at.host == "" {
		delete(u.last, who)
		return
	}
	if u.last == nil || len(u.last) >= maxUses {
		u.last = map[string]stop{}
	}
	u.last[who] = at
}

func (u *uses) of(who string) (at stop, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	at, ok = u.last[who]
	return at, ok
}

// lastElsewhere returns the terminal of another host that an attach without a NAME is for; ok is
// false if it is one of this host. It is the one that the peer has used last through this host, if
// it runs as far as is known, or, if this host has none for the peer, the only one that runs and
// that the peer holds. Who is on this machine means this host's.
func (v *invocation) lastElsewhere() (at stop, ok bool, err error) {
	if v.verb.name != "attach" || v.Local || v.asksHelp() {
		return at, false, nil
	}
	others := v.others()
	if at, ok = v.uses.of(v.principal().ID); ok {
		for _, h := range others {
			if h.Name == at.host && v.runsThere(h, at.name) {
				return at, true, nil
			}
		}
	}
	if len(others) == 0 || v.Conn.LastUsed() != nil {
		return at, false, nil
	}
	lists, _ := v.everywhere(listTime)
	var found []string
	for _, i := range lists {
		if i.State == host.StateRunning && i.Mine && i.away.IsZero() {
			at, found = stop{host: i.on, name: i.Name}, append(found, i.on+"/"+i.Name)
		}
	}
	if len(found) > 1 {
		return at, false, fmt.Errorf("there are several, and none that you used last: %s",
			strings.Join(found, ", "))
	}
	return at, len(found) == 1, nil
}

// runsThere reports whether a host lists a terminal as one that runs, or has when it told last.
func (v *invocation) runsThere(h FleetHost, name string) bool {
	list, _ := v.listOf(v.ctx, h)
	for _, i := range list {
		if i.Name == name {
			return i.State == host.StateRunning
		}
	}
	return false
}

// attachTo returns the verb's command line, which has no NAME, with that of a terminal.
func (v *invocation) attachTo(at stop) string {
	line := v.edited(func(_ int, text string) string { return text })
	if !v.tail {
		line += " --"
	}
	return line + " " + commandline.Quote(at.name)
}
