package fleet_test

import (
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
)

// named is a host's NAMEs.
type named struct {
	mu      sync.Mutex
	names   []string
	changed func()
}

func (n *named) Names() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.names)
}

func (n *named) FollowNames(changed func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.changed = changed
}

func (n *named) set(names ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.names = names
	n.changed()
}

// openNamed is open for a host that has NAMEs.
func (w *town) openNamed(name string, names fleet.Names) *fleet.Fleet {
	w.t.Helper()
	f, err := fleet.Open(fleet.Options{Folder: w.folder(name), Version: "1", Names: names,
		Terminals: func() int { return 0 }, Log: slog.New(slog.DiscardHandler),
		Serve:   func(_ *fleet.Fleet, _ fleet.Kind, _ roster.Member, nc net.Conn) { nc.Close() },
		Connect: w.net.Connect(name)})
	hosttest.Check(w.t, err)
	w.t.Cleanup(func() { f.Close() })
	return f
}

// A NAME that comes or goes is announced at once, and however many do, in few announcements. The
// heartbeats go on as they do without.
func TestANAMEIsAnnouncedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, box1, _ := w.three()
		hosttest.Check(t, box1.Close())
		var own named
		w.openNamed("box1", &own)
		time.Sleep(5 * time.Second)
		knows := func(name string, want bool) {
			t.Helper()
			synctest.Wait()
			if has := len(home.WithName(name)) == 1; has != want {
				t.Errorf("home knows %s: %v, want %v", name, has, want)
			}
		}
		own.set("one")
		knows("one", true)
		own.set("two")
		knows("two", false)
		time.Sleep(100 * time.Millisecond)
		knows("two", true)
		knows("one", false)

		time.Sleep(time.Minute)
		before := home.Heard("box1")
		for i := range 6000 {
			own.set(fmt.Sprint("sh-", i))
			time.Sleep(10 * time.Millisecond)
		}
		if n := home.Heard("box1") - before; n < 150 || n > 170 { // 20 of them are heartbeats
			t.Errorf("%d announcements in a minute in which names have changed all the time", n)
		}
		time.Sleep(500 * time.Millisecond)
		knows("sh-5999", true)
	})
}

// An announcement that comes just after a door has had a host give a NAME may be of before.
func TestADoorIsUnsureOfTheNAMEsOfAHostThatMayHaveGotOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, box1, _ := w.three()
		hosttest.Check(t, box1.Close())
		home.MayName("nobody")
		home.MayName("box1")
		older, err := bus.New("box1", w.net.Connect("box1"), bus.Handlers{})
		hosttest.Check(t, err)
		defer older.Close()
		time.Sleep(500 * time.Millisecond)
		hosttest.Check(t, older.Announce([]byte(`{"boot":"x"}`)))
		synctest.Wait()
		if hosts := home.WithName("any"); !slices.Equal(hosts, []string{"box1"}) {
			t.Errorf("%q may have it", hosts)
		}
		time.Sleep(2 * time.Second)
		hosttest.Check(t, older.Announce([]byte(`{"boot":"x"}`)))
		synctest.Wait()
		if hosts := home.WithName("any"); len(hosts) > 0 {
			t.Errorf("%q may still have it", hosts)
		}
	})
}
