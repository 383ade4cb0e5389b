package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"termhost/ahp/fleet/bus"
	"termhost/ahp/spelling"
	"termhost/authz/admit"
)

const (
	// heartbeat is how often a host says that it is there, give or take jitter of it.
	heartbeat = 3 * time.Second
	jitter    = 500 * time.Millisecond
	// namesInterval is how much time there is at least between two announcements of names that have
	// changed: as between two of the root's lists.
	namesInterval = 100 * time.Millisecond
	// silent is how long a host says nothing before it counts as unreachable: three heartbeats and
	// some.
	silent = 10 * time.Second
	// abandoned is how long streams wait for a silent host.
	abandoned = 10 * time.Minute
	// watch is how often the fleet's home looks whether the roster was changed by a command.
	watch = 500 * time.Millisecond
	// maxSurvey bounds what a door tells of all hosts, in bytes: a little more than all that they
	// have announced.
	maxSurvey = 16 << 20
	// MaxLabels bounds a host's labels, in bytes of JSON: they are a part of each heartbeat.
	MaxLabels = 512
)

// namesRate is how often a host announces that its names have changed: after the first ones twice a
// second, for each reaches all doors, and if the host is a door, all hosts.
var namesRate = admit.Rate{PerSecond: 2, Burst: 20}

// signRate is how many heartbeats of one host are read: some every second, when hosts join.
var signRate = admit.Rate{PerSecond: 10, Burst: 100}

// peer is what is known of another host.
type peer struct {
	heard time.Time
	sign  sign
	often *admit.Bucket // of signRate
	// unsure is when the host may last have got a NAME through this one: see MayName.
	unsure time.Time
	failed bool // it has not answered since: see NoAnswer
}

// there reports whether the host is not silent.
func (p *peer) there() bool { return time.Since(p.heard) < silent && !p.sign.Leaves }

// sign is a heartbeat, as JSON. Keys that are not known are ignored.
type sign struct {
	Boot      string            `json:"boot"`
	Version   string            `json:"version,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Terminals int               `json:"terminals"`
	Roster    int               `json:"roster"` // the version of the host's roster
	// Removal is the version of the last roster of which the host knows that it has not all members
	// of the one before; 0: it does not say.
	Removal int     `json:"removal,omitempty"`
	Asks    bool    `json:"who,omitempty"`    // all are to say that they are there
	Leaves  bool    `json:"leaves,omitempty"` // the host ends, and says nothing more
	Beat    uint64  `json:"beat,omitempty"`   // see beats; 0: the host knows nothing of them
	Names   nameSet `json:"names,omitempty"`
}

// Host is a host of the fleet as this one sees it.
type Host struct {
	Name      string            `json:"name"`
	Self      bool              `json:"self"`
	Home      bool              `json:"home"`
	Door      bool              `json:"door"`
	Reachable bool              `json:"reachable"`      // it is not silent, and answers
	Heard     time.Time         `json:"heard,omitzero"` // when it has last said that it is there
	Version   string            `json:"version,omitempty"`
	Labels    map[string]string `json:"labels"`
	Terminals int               `json:"terminals"` // that run
}

// Survey returns the hosts by name. A host that is no door hears only of doors, and asks one.
func (f *Fleet) Survey(ctx context.Context) ([]Host, error) {
	own := f.Hosts()
	if slices.ContainsFunc(own, func(h Host) bool { return h.Self && h.Door }) {
		return own, nil
	}
	err := errors.New("no door of the fleet can be reached")
	for _, h := range own {
		if !h.Door || !h.Reachable {
			continue
		}
		var list []Host
		if list, err = f.survey(ctx, h.Name); err == nil {
			return list, nil
		}
	}
	return nil, err
}

// survey returns what a door knows.
func (f *Fleet) survey(ctx context.Context, door string) (list []Host, err error) {
	s, err := f.node.Open(door, []byte(kindHosts))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	defer context.AfterFunc(ctx, func() { s.Close() })()
	_ = s.SetReadDeadline(time.Now().Add(fetchTime))
	if err := json.NewDecoder(io.LimitReader(s, maxSurvey)).Decode(&list); err != nil {
		return nil, fmt.Errorf("%s, which runs termhost %s, does not list the hosts: %w", door,
			cmp.Or(f.host(door).Version, "of an unknown version"), err)
	}
	for i := range list {
		list[i].Self = list[i].Name == f.self.Name
	}
	return list, nil
}

// Hosts returns the hosts by name, as this one hears of them.
func (f *Fleet) Hosts() []Host {
	running := f.o.Terminals()
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]Host, 0, len(f.roster.Members))
	for _, m := range f.roster.Members {
		list = append(list, f.hostLocked(m.Name, running))
	}
	return list
}

// host returns one of them.
func (f *Fleet) host(name string) Host {
	running := f.o.Terminals()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hostLocked(name, running)
}

// hostLocked returns the host of that name, where this one has so many terminals that run; f.mu is
// held.
func (f *Fleet) hostLocked(name string, running int) Host {
	m, _ := f.roster.Named(name)
	h := Host{Name: name, Home: name == f.roster.Home, Door: m.Door, Labels: map[string]string{}}
	if name == f.self.Name {
		h.Self, h.Reachable, h.Heard = true, true, time.Now()
		h.Version, h.Terminals = f.o.Version, running
		maps.Copy(h.Labels, f.o.Labels)
		return h
	}
	if p := f.peers[name]; p != nil {
		h.Heard = p.heard
		h.Reachable = p.there() && !p.failed
		h.Version, h.Terminals = p.sign.Version, p.sign.Terminals
		maps.Copy(h.Labels, p.sign.Labels)
	}
	return h
}

// NoMatchError says that no host has what `new --on` asks for.
type NoMatchError struct {
	On    string
	Hosts []Host
}

// maxShownLabels bounds how long the labels of a host are in an error, in bytes.
const maxShownLabels = 200

// Error says which hosts and labels there are.
func (e *NoMatchError) Error() string {
	var list, known []string
	for _, h := range e.Hosts {
		labels := h.labels()
		about := strings.Join(labels, ",")
		if !h.Reachable {
			about = "unreachable"
		}
		known = append(known, h.Name)
		for _, label := range labels {
			_, value, _ := strings.Cut(label, "=")
			known = append(known, label, value)
		}
		if about = about[:min(len(about), maxShownLabels)]; about != "" {
			about = " (" + about + ")"
		}
		list = append(list, h.Name+about)
	}
	return fmt.Sprintf("no host that can be reached has the name or all labels %q%s", e.On,
		spelling.AmongShown(e.On, list, known))
}

// labels returns the labels as K=V, in order.
func (h Host) labels() []string {
	list := make([]string, 0, len(h.Labels))
	for key, value := range h.Labels {
		list = append(list, key+"="+value)
	}
	slices.Sort(list)
	return list
}

// Choose returns where to make a terminal: the host of that name or, of those that have all labels
// (K=V, or V of any key), the one with the fewest terminals.
func (f *Fleet) Choose(on string) (string, error) {
	var fit []Host
	wanted := strings.Split(on, ",")
	hosts := f.Hosts()
	for _, h := range hosts {
		if h.Name == on {
			f.place(h.Name)
			return h.Name, nil
		}
		if h.Reachable && !slices.ContainsFunc(wanted, func(w string) bool { return !h.has(w) }) {
			fit = append(fit, h)
		}
	}
	if len(fit) == 0 {
		return "", &NoMatchError{on, hosts}
	}
	least := slices.MinFunc(fit, func(a, b Host) int { return a.Terminals - b.Terminals })
	f.place(least.Name)
	return least.Name, nil
}

// place counts a terminal that is to be made on another host. Until that host says how many it
// has, not all that are made at once go there.
func (f *Fleet) place(host string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.peers[host]; p != nil {
		p.sign.Terminals++
	}
}

// has reports whether a host has a label.
func (h Host) has(label string) bool {
	if key, value, both := strings.Cut(label, "="); both {
		return value != "" && h.Labels[key] == value
	}
	for _, v := range h.Labels {
		if label != "" && v == label {
			return true
		}
	}
	return false
}

// run is the Fleet's goroutine: it says every few seconds that the host is there, which names it
// has when they change, and in the end that it leaves.
func (f *Fleet) run() {
	defer close(f.ended)
	beat := time.NewTimer(0)
	defer beat.Stop()
	var look <-chan time.Time // nil: never
	if f.isHome() {
		ticker := time.NewTicker(watch)
		defer ticker.Stop()
		look = ticker.C
	}
	asks := true // the first time
	var often admit.Bucket
	var said time.Time
	var due <-chan time.Time // when names that have changed are to be announced; nil: none have
	for {
		select {
		case <-f.stop:
			f.say(false, true)
			return
		case <-look:
			f.reread()
			continue
		case <-f.renamed:
			if due == nil {
				due = time.After(namesInterval - time.Since(said))
			}
			continue
		case <-due:
			if !often.Allow(namesRate, 1, time.Now()) {
				due = time.After(namesInterval)
				continue
			}
		case <-f.speak:
		case <-beat.C:
			f.checkEcho()
			f.abandon()
			beat.Reset(heartbeat - jitter + rand.N(2*jitter))
		}
		f.say(asks, false)
		asks, said, due = false, time.Now(), nil
	}
}

// say sends a heartbeat; leaves: the last one.
func (f *Fleet) say(asks, leaves bool) {
	f.mu.Lock()
	version, removal := f.roster.Version, f.removal
	beat := f.beats.say(time.Now())
	f.mu.Unlock()
	now := sign{Boot: f.boot, Version: f.o.Version, Labels: f.o.Labels,
		Terminals: f.o.Terminals(), Roster: version, Removal: removal,
		Asks: asks, Leaves: leaves, Beat: beat}
	if f.o.Names != nil {
		now.Names = newNameSet(f.o.Names.Names())
	}
	p, err := json.Marshal(now)
	if err == nil && len(p) > bus.MaxAnnouncement { // a long version
		now.Names = nil
		p, err = json.Marshal(now)
	}
	if err == nil {
		err = f.node.Announce(p)
	}
	if err != nil && !errors.Is(err, bus.ErrClosed) {
		f.o.Log.Debug("the fleet does not hear from this host", "err", err)
	}
}

// soon has the host announce itself before its turn.
func (f *Fleet) soon() {
	select {
	case f.speak <- struct{}{}:
	default:
	}
}

// namesChanged has the host announce its names at once, or soon after it has announced something.
// It waits for nothing.
func (f *Fleet) namesChanged() {
	select {
	case f.renamed <- struct{}{}:
	default:
	}
}

// checkEcho connects anew when nothing comes back of what this host announces: the connection only
// looks alive.
func (f *Fleet) checkEcho() {
	f.mu.Lock()
	lost := time.Since(f.heardUs) > silent
	if lost {
		f.heardUs = time.Now()
	}
	f.mu.Unlock()
	if lost {
		f.node.Reconnect()
	}
}

// abandon ends the streams of hosts that have been silent for too long.
func (f *Fleet) abandon() {
	f.mu.Lock()
	var gone []string
	for name, p := range f.peers {
		if time.Since(p.heard) > abandoned {
			gone = append(gone, name)
		}
	}
	f.mu.Unlock()
	for _, name := range gone {
		f.node.Drop(name, errSilent)
	}
}

var errSilent = errors.New("the host has been silent for ten minutes")

// announced takes a heartbeat.
func (f *Fleet) announced(from string, p []byte) {
	<-f.ready
	if f.tooOften(from) {
		return
	}
	var s sign
	if json.Unmarshal(p, &s) != nil || f.node == nil { // there is no bus: see Open
		return
	}
	streams := f.node.Streams() // not under f.mu, which is a leaf
	f.mu.Lock()
	defer f.mu.Unlock()
	if from == f.self.Name {
		if s.Boot == f.boot {
			f.heardUs = time.Now()
		}
		return
	}
	if _, is := f.roster.Named(from); !is {
		return
	}
	if s.Roster > f.roster.Version && !f.closed {
		f.awaitTurnLocked(from, s, streams)
	}
	before := f.peers[from]
	if s.Leaves && (before == nil || before.sign.Boot != s.Boot) {
		return // it has restarted already
	}
	now := &peer{heard: time.Now(), sign: s, often: &admit.Bucket{}}
	if before != nil {
		now.often, now.unsure = before.often, before.unsure
	}
	f.peers[from] = now
	if before != nil && before.sign.Boot != s.Boot && !f.closed {
		f.running.Go(func() { f.node.Restarted(from, before.heard, errRestarted) })
	}
	if s.Asks && !f.answering && !f.closed { // however many ask
		f.answering = true
		time.AfterFunc(rand.N(jitter), func() {
			f.mu.Lock()
			f.answering = false
			f.mu.Unlock()
			f.soon()
		})
	}
}

// tooOften reports whether a host announces itself so often that this time it is not heard.
func (f *Fleet) tooOften(from string) bool {
	f.mu.Lock()
	p := f.peers[from]
	f.mu.Unlock()
	return p != nil && !p.often.Allow(signRate, 1, time.Now())
}

var errRestarted = errors.New("the host has restarted")
