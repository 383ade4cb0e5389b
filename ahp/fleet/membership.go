package fleet

import (
	"errors"
	"fmt"
	"time"

	"termhost/ahp/fleet/roster"
)

// isHome reports whether this host signs the roster.
func (f *Fleet) isHome() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.roster.Home == f.self.Name
}

// reread puts the roster in force that a command has stored on the fleet's home.
func (f *Fleet) reread() {
	now := f.o.Folder.RosterChanged()
	f.mu.Lock()
	same := roster.Same(now, f.file)
	f.mu.Unlock()
	if same {
		return
	}
	next, err := f.o.Folder.Roster(f.self.Root)
	if err != nil {
		changed := ""
		if now != nil {
			changed = now.ModTime().String()
		}
		if f.news(fmt.Sprint(changed, " ", err)) {
			f.o.Log.Error("the fleet's roster stays as it was", "err", err)
		}
		return
	}
	f.mu.Lock()
	f.file = now
	f.mu.Unlock()
	f.adopt(next)
	f.soon()
}

// store puts a newer roster in force, and keeps its signed form. Of two that come at once the newer
// one stays.
func (f *Fleet) store(next roster.Roster, signed []byte) error {
	f.storing.Lock()
	defer f.storing.Unlock()
	if !f.adopt(next) {
		return nil
	}
	return f.o.Folder.SaveRoster(signed)
}

// errRemoved ends the streams with a host that is not, or not as before, in the fleet any more.
var errRemoved = errors.New("the host was removed from the fleet")

// farewell is how long a host that was removed is still connected to the fleet's server, after all
// have fetched the roster. So it is told, and ends what it has open; nobody believes it meanwhile.
const farewell = 5 * time.Second

// adopt puts a newer roster in force, and ends what it does not allow any more. It reports whether
// it is newer.
func (f *Fleet) adopt(next roster.Roster) bool {
	f.mu.Lock()
	if next.Version <= f.roster.Version {
		f.mu.Unlock()
		return false
	}
	before := f.roster
	f.roster = next
	_, stays := next.Named(f.self.Name)
	var gone []string
	for _, m := range before.Members {
		if now, is := next.Named(m.Name); !is || now != m || !stays {
			gone = append(gone, m.Name)
			delete(f.peers, m.Name)
		}
	}
	if len(gone) > 0 {
		f.removal = next.Version
	}
	if !f.closed {
		f.running.Go(func() { f.follow(stays) })
	}
	f.mu.Unlock()
	why := errRemoved
	if !stays {
		why = roster.ErrRemoved
	}
	for _, name := range gone {
		f.node.Drop(name, why)
	}
	f.soon()
	return true
}

// follow does what takes its time when another roster is in force. stays: this host is on it.
func (f *Fleet) follow(stays bool) {
	if !stays {
		f.o.Log.Warn(roster.ErrRemoved.Error())
		_ = f.node.Close() // it would try for ever to connect again
		return
	}
	f.hear()
	if f.server == nil {
		return
	}
	f.mu.Lock()
	spread := spreadOf(len(f.roster.Members))
	f.mu.Unlock()
	late := time.NewTimer(spread + farewell)
	defer late.Stop()
	select {
	case <-f.stop:
	case <-late.C:
		f.server.Prune()
	}
}

// hear has the host hear those that the roster in force makes it need.
func (f *Fleet) hear() {
	f.hearing.Lock()
	defer f.hearing.Unlock()
	f.mu.Lock()
	r := f.roster
	f.mu.Unlock()
	if err := f.node.Hear(hears(r, f.self.Name)); err != nil {
		f.o.Log.Debug("the fleet's doors are not heard", "err", err)
	}
}

// hears returns whose announcements a host needs; nil: everybody's. Only doors open streams to
// others, and each host has to know of those that may have some to it.
func hears(r roster.Roster, self string) []string {
	list := []string{self}
	for _, m := range r.Members {
		switch {
		case m.Name == self && m.Door:
			return nil
		case m.Name != self && (m.Door || m.Name == r.Home):
			list = append(list, m.Name)
		}
	}
	return list
}

// Removed reports whether this host is not in the fleet any more.
func (f *Fleet) Removed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, is := f.roster.Named(f.self.Name)
	return !is
}
