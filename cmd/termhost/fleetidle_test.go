package main

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/bus/natslink"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/cable"
)

const (
	// idlers is how many hosts do nothing but be there, and cutIdlers how many of them lose the
	// network at once.
	idlers    = 500
	cutIdlers = 250
	// leastBeat is the least time between two heartbeats of a host that nothing happens to.
	leastBeat = 2500 * time.Millisecond
)

// idler is a member of a fleet without a host: it is there, and counts messages.
type idler struct {
	name string
	*fleet.Fleet
	doors, own, others atomic.Int64 // announcements that it has heard, by whose they are
	said, sent         atomic.Int64 // announcements, and messages to one host
}

// idleCrowd is many idlers.
type idleCrowd struct {
	t    *testing.T
	home *fleetHost
	all  []*idler
}

// crowd makes idlers members, and has them be there. The first of them, cutIdlers, reach the fleet's
// server at via.
func (w *fleetWorld) crowd(t *testing.T, via string) *idleCrowd {
	t.Helper()
	c := &idleCrowd{t: t, home: w.hosts["home"]}
	folder := roster.In(c.home.state())
	keys := make([]nkeys.KeyPair, idlers)
	// Joining one by one is what other tests do: here one roster has them all.
	_, err := folder.Change(func(r roster.Roster) (roster.Roster, error) {
		version := r.Version
		for i := range keys {
			key, err := nkeys.CreateUser()
			if err != nil {
				return r, err
			}
			keys[i] = key
			r, err = r.With(roster.Member{Name: fmt.Sprint("idle", i), Key: public(t, key)})
			if err != nil {
				return r, err
			}
		}
		r.Version = version + 1
		return r, nil
	})
	hosttest.Check(t, err)
	self, err := folder.Membership()
	hosttest.Check(t, err)
	signed, err := folder.Signed()
	hosttest.Check(t, err)
	hosttest.Eventually(t, "the home knows them", func() bool {
		return strings.Count(c.home.do("hosts"), "idle") == idlers
	})
	for i, key := range keys {
		m := roster.Membership{Name: fmt.Sprint("idle", i), Root: self.Root,
			Authority: self.Authority, Servers: self.Servers}
		if i < cutIdlers {
			m.Servers = []string{"tls://" + via}
		}
		own := roster.Folder(filepath.Join(w.dir, m.Name))
		hosttest.Check(t, own.Enter(m, key, signed))
		c.all = append(c.all, newIdler(t, own, m, key))
	}
	return c
}

// newIdler has a member be there until the test ends.
func newIdler(t *testing.T, folder roster.Folder, m roster.Membership, key nkeys.KeyPair) *idler {
	t.Helper()
	secure, err := roster.ClientTLS(m.Authority)
	hosttest.Check(t, err)
	i := &idler{name: m.Name}
	link := natslink.Connect(natslink.Options{Name: m.Name, Servers: m.Servers, TLS: secure,
		Key: key, Log: slog.New(slog.DiscardHandler)})
	i.Fleet, err = fleet.Open(fleet.Options{Folder: folder, Version: "1",
		Terminals: func() int { return 0 }, Log: slog.New(slog.DiscardHandler),
		Serve: func(_ *fleet.Fleet, _ fleet.Kind, _ roster.Member, nc net.Conn) { nc.Close() },
		Connect: func(r bus.Receiver) (bus.Link, error) {
			receive := r.Receive
			r.Receive = func(from string, all bool, p []byte) {
				i.heard(from, all)
				receive(from, all, p)
			}
			l, err := link(r)
			return tallied{l, i}, err
		}})
	hosttest.Check(t, err)
	t.Cleanup(func() { i.Close() })
	return i
}

// heard counts a message.
func (i *idler) heard(from string, all bool) {
	switch {
	case !all:
	case from == i.name:
		i.own.Add(1)
	case strings.HasPrefix(from, "idle"):
		i.others.Add(1)
	default:
		i.doors.Add(1)
	}
}

// tallied counts what an idler sends.
type tallied struct {
	bus.Link
	i *idler
}

// Send implements bus.Link.
func (l tallied) Send(to string, class bus.Class, p []byte) error {
	l.i.sent.Add(1)
	return l.Link.Send(to, class, p)
}

// SendAll implements bus.Link.
func (l tallied) SendAll(p []byte) error {
	l.i.said.Add(1)
	return l.Link.SendAll(p)
}

// counts are how many messages some idlers have heard and sent so far.
type counts struct {
	at                             time.Time
	doors, own, others, said, sent int64
}

func countOf(all []*idler) (n counts) {
	n.at = time.Now()
	for _, i := range all {
		n.doors += i.doors.Load()
		n.own += i.own.Load()
		n.others += i.others.Load()
		n.said += i.said.Load()
		n.sent += i.sent.Load()
	}
	return n
}

// bounded checks that since a count the idlers have heard doors and themselves only, and have sent
// no more than heartbeats, extra of them each, and so many other messages.
func (c *idleCrowd) bounded(what string, all []*idler, since counts, doors, extra, messages int64) {
	c.t.Helper()
	now := countOf(all)
	took, n := now.at.Sub(since.at), int64(len(all))
	beats := int64(took/leastBeat) + 1 + extra
	said, sent, heard := now.said-since.said, now.sent-since.sent, now.doors-since.doors
	c.t.Logf("%s: in %.1f s %d hosts have announced themselves %d times, heard doors %d times and"+
		" sent %d other messages", what, took.Seconds(), n, said, heard, sent)
	if now.others > 0 {
		c.t.Errorf("%s: hosts that are no doors hear each other, %d times", what, now.others)
	}
	if said > n*beats || now.own-since.own > n*beats || heard > n*doors*beats ||
		sent > n*messages {
		c.t.Errorf("%s: that is more than %d heartbeats and %d messages each", what, beats,
			messages)
	}
}

// reaches waits until each of the doors reaches so many other hosts.
func reaches(t *testing.T, what string, hosts int, doors ...visitor) {
	t.Helper()
	hosttest.Eventually(t, what, func() bool {
		for _, d := range doors {
			if strings.Count(d.run("hosts"), " reachable ") != hosts {
				time.Sleep(100 * time.Millisecond) // asking must not be what the door does most
				return false
			}
		}
		return true
	})
}

// beat waits until each idler has heard so many more heartbeats of doors.
func (c *idleCrowd) beat(all []*idler, times int64) {
	c.t.Helper()
	enough := make([]int64, len(all))
	for n, i := range all {
		enough[n] = i.doors.Load() + times
	}
	for n, i := range all {
		hosttest.Eventually(c.t, "the doors' heartbeats are heard", func() bool {
			return i.doors.Load() >= enough[n]
		})
	}
}

// usage logs what a host's process takes, and since when.
func (h *fleetHost) usage(what string, since usage) usage {
	h.w.t.Helper()
	now := h.uses()
	took := now.at.Sub(since.at)
	h.w.t.Logf("%s: %s takes %.1f %% of a processor for %.1f s, and %d MiB", what, h.name,
		100*float64(now.spent-since.spent)/float64(took), took.Seconds(),
		residentOf(h.w.t, h.serve.Cmd.Process.Pid)>>20)
	return now
}

// uses returns what it has taken so far.
func (h *fleetHost) uses() usage {
	h.w.t.Helper()
	return usage{time.Now(), processorTime(h.w.t, h.serve.Cmd.Process.Pid)}
}

// usage is how much processor time a process has taken at a time.
type usage struct {
	at    time.Time
	spent time.Duration
}

// processorTime returns how long a process has run on processors (proc(5)).
func processorTime(t testing.TB, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	hosttest.Check(t, err)
	_, rest, _ := strings.Cut(string(stat), ") ")
	var user, system int64
	fields := strings.Fields(rest)
	const utime, stime, tick = 14 - 3, 15 - 3, time.Second / 100
	_, err = fmt.Sscan(fields[utime]+" "+fields[stime], &user, &system)
	hosttest.Check(t, err)
	return time.Duration(user+system) * tick
}

// Five hundred hosts that do nothing cost the door little, a new door knows them within seconds, and
// half of them may lose the network at once, and have it again.
func TestFiveHundredIdleHosts(t *testing.T) {
	slow(t)
	t.Parallel()
	w, home := newFleet(t, "")
	way, at := cable.New(t, w.listen), visit(home, "alice")
	used := home.uses()
	c := w.crowd(t, way.Addr().String())
	reaches(t, "all are there", idlers, at)
	home.usage("all have connected", used)

	c.beat(c.all, 1) // what connecting has brought about is over
	before := countOf(c.all)
	used = home.uses()
	c.beat(c.all, 3)
	c.bounded("idle", c.all, before, 1, 1, 1)
	used = home.usage("idle", used)

	before = countOf(c.all)
	door := w.join("door", w.listen, "", "--door")
	another, from := visit(door, "alice"), time.Now()
	reaches(t, "a new door knows all", idlers+1, another)
	t.Logf("a new door knows all after %.1f s", time.Since(from).Seconds())
	c.beat(c.all, 2)
	// Each gets the roster, by a stream that is asked after every second, and says that it is there.
	asked := int64(time.Since(before.at) / time.Second)
	c.bounded("a new door", c.all, before, 2, 3, 12+asked)
	used = home.usage("a new door", used)

	lost, kept := c.all[:cutIdlers], c.all[cutIdlers:]
	before = countOf(kept)
	way.Cut()
	reaches(t, "both doors see who is lost", idlers-cutIdlers+1, at, another)
	c.bounded("others are lost", kept, before, 2, 1, 1)
	used = home.usage("others are lost", used)
	before = countOf(kept)
	again := countOf(lost)
	way.Mend()
	reaches(t, "all are there again", idlers+1, at, another)
	c.bounded("others are back", kept, before, 2, 1, 1)
	c.bounded("back", lost, again, 2, 4, 1) // each connection says so
	home.usage("all are back", used)
	var all sync.WaitGroup
	for _, i := range c.all {
		all.Go(func() { i.Close() })
	}
	all.Wait()
}
