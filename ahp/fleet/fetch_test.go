package fleet_test

import (
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nkeys"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
)

// many makes a fleet of home and n hosts, box0 and so on, of which none runs yet. The first of them
// have folders.
func (w *town) many(n, first int) {
	w.t.Helper()
	hosttest.Check(w.t, w.folder("home").Found("home", "127.0.0.1:1", nil))
	keys := map[string]nkeys.KeyPair{}
	_, err := w.folder("home").Change(func(r roster.Roster) (roster.Roster, error) {
		for i := range n {
			name := fmt.Sprint("box", i)
			var err error
			if keys[name], err = nkeys.CreateUser(); err != nil {
				return r, err
			}
			if r, err = with(r, name, keys[name], false); err != nil {
				return r, err
			}
		}
		return r, nil
	})
	hosttest.Check(w.t, err)
	for i := range first {
		name := fmt.Sprint("box", i)
		w.enter(name, keys[name])
	}
}

func with(r roster.Roster, name string, key nkeys.KeyPair, door bool) (roster.Roster, error) {
	public, err := key.PublicKey()
	if err != nil {
		return r, err
	}
	return r.With(roster.Member{Name: name, Key: public, Door: door})
}

// enter gives a host its folder.
func (w *town) enter(name string, key nkeys.KeyPair) {
	w.t.Helper()
	m, err := w.folder("home").Membership()
	hosttest.Check(w.t, err)
	signed, err := w.folder("home").Signed()
	hosttest.Check(w.t, err)
	m.Name, m.Listen = name, ""
	hosttest.Check(w.t, w.folder(name).Enter(m, key, signed))
}

// add adds a host to the roster of the home, as a command does.
func (w *town) add(name string, door bool) {
	w.t.Helper()
	key, err := nkeys.CreateUser()
	hosttest.Check(w.t, err)
	_, err = w.folder("home").Change(func(r roster.Roster) (roster.Roster, error) {
		return with(r, name, key, door)
	})
	hosttest.Check(w.t, err)
	w.enter(name, key)
}

func (w *town) remove(name string) {
	w.t.Helper()
	_, err := w.folder("home").Change(func(r roster.Roster) (roster.Roster, error) {
		return r.Without(name)
	})
	hosttest.Check(w.t, err)
}

// sent counts the bytes that the home sends in streams, by when.
type sent struct {
	mu sync.Mutex
	at []time.Time
	n  []int
}

func (s *sent) lose(from, _ string, class bus.Class, p []byte) bool {
	if from == "home" && class == bus.Bytes {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.at, s.n = append(s.at, time.Now()), append(s.n, len(p))
	}
	return false
}

// most returns how many bytes there are in all, and in that window which has the most.
func (s *sent) most(window time.Duration) (all, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	within, first := 0, 0
	for i, at := range s.at {
		all += s.n[i]
		within += s.n[i]
		for at.Sub(s.at[first]) > window {
			within -= s.n[first]
			first++
		}
		most = max(most, within)
	}
	return all, most
}

// A hundred hosts hear of a new roster at one moment. The times are those of a bubble.
func TestHostsTakeTurnsToFetchANewRoster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, counted := newTown(t), &sent{}
		const hosts = 100
		w.many(hosts, hosts)
		w.net.Lose = counted.lose
		home := w.open("home", nil)
		var all []*fleet.Fleet
		for i := range hosts {
			all = append(all, w.open(fmt.Sprint("box", i), nil))
		}
		time.Sleep(10 * time.Second)
		if bytes, _ := counted.most(time.Second); bytes != 0 {
			t.Errorf("%d bytes are fetched of a roster that all have", bytes)
		}
		w.add("new", false)
		time.Sleep(10 * time.Second)
		for _, f := range append(all, home) {
			if n := len(f.Hosts()); n != hosts+2 {
				t.Errorf("%s knows %d hosts", f.Name(), n)
			}
		}
		// They take 190 ms for 1.6 MB, by chance.
		bytes, most := counted.most(20 * time.Millisecond)
		t.Logf("%d bytes, at most %d within 20 ms", bytes, most)
		if bytes < hosts*hosts*100 || bytes > hosts*hosts*300 {
			t.Errorf("%d bytes are fetched", bytes)
		}
		if most > bytes/3 {
			t.Errorf("of %d bytes %d are fetched within 20 ms", bytes, most)
		}
	})
}

// In a large fleet a host's turn may be late. What it has to know is known in time.
func TestADoorIsKnownBeforeItsRosterHasBeenFetchedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		w.many(1000, 2) // which take 19 s
		w.open("home", nil)
		box, other := w.open("box0", nil), w.open("box1", nil)
		time.Sleep(5 * time.Second)
		w.add("door", true)
		door, err := bus.New("door", w.net.Connect("door"), bus.Handlers{}) // it obeys no roster
		hosttest.Check(t, err)
		defer door.Close()
		time.Sleep(4 * time.Second)
		late := 0
		for _, f := range []*fleet.Fleet{box, other} {
			if len(f.Hosts()) == 1001 {
				late++
			}
		}
		t.Logf("%d of 2 hosts have yet to fetch the roster", late)
		const hello = "carried from door\n"
		streams, buf := map[string]*bus.Stream{}, make([]byte, len(hello))
		for _, name := range []string{"box0", "box1"} {
			s, err := door.Open(name, []byte(fleet.KindCarried))
			hosttest.Check(t, err)
			if _, err := io.ReadFull(s, buf); err != nil || string(buf) != hello {
				t.Fatalf("%s says %q (%v)", name, buf, err)
			}
			streams[name] = s
		}
		hosttest.Check(t, streams["box1"].Close())

		// It is removed. A host with a stream of it ends that, and one without believes it no more.
		began := time.Now()
		w.remove("door")
		if _, err := streams["box0"].Read(buf); err == nil || time.Since(began) > 2*time.Second {
			t.Errorf("its stream ends after %v (%v)", time.Since(began), err)
		}
		time.Sleep(2*time.Second - time.Since(began))
		for _, name := range []string{"box0", "box1"} {
			s, err := door.Open(name, []byte(fleet.KindCarried))
			hosttest.Check(t, err)
			if p, err := io.ReadAll(s); len(p) > 0 || err == nil {
				t.Errorf("%s says %q to a door that was removed", name, p)
			}
		}
	})
}
