package fleet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
)

func TestMain(m *testing.M) {
	if os.Getenv(crowdVariable) != "" {
		if err := crowdMain(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// town is a fleet within this process.
type town struct {
	t   *testing.T
	net *bus.Network
	dir string
	log *slog.Logger // of hosts that are opened

	mu     sync.Mutex
	silent map[string]bool // hosts of which nothing is heard
	mute   map[string]bool // hosts whose announcements nobody hears
}

func newTown(t *testing.T) *town {
	w := &town{t: t, net: &bus.Network{}, dir: t.TempDir(),
		log: slog.New(slog.DiscardHandler), silent: map[string]bool{},
		mute: map[string]bool{}}
	w.net.Lose = func(from, to string, _ bus.Class, p []byte) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		const announced = 1 // the kind of a message
		return w.silent[from] || w.silent[to] || w.mute[from] && p[0] == announced
	}
	return w
}

// mutes has nobody hear a host's announcements, or hear them again.
func (w *town) mutes(host string, is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mute[host] = is
}

func (w *town) cut(host string, is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silent[host] = is
}

func (w *town) folder(name string) roster.Folder {
	return roster.Folder(filepath.Join(w.dir, name))
}

// open runs a host that is in the fleet.
func (w *town) open(name string, labels map[string]string) *fleet.Fleet {
	w.t.Helper()
	f, err := fleet.Open(fleet.Options{Folder: w.folder(name), Labels: labels, Version: "1",
		Terminals: func() int { return len(name) }, Log: w.log,
		Serve: func(_ *fleet.Fleet, kind fleet.Kind, door roster.Member, nc net.Conn) {
			defer nc.Close()
			_, _ = io.WriteString(nc, string(kind)+" from "+door.Name+"\n")
			_, _ = io.Copy(nc, nc)
		}, Connect: w.net.Connect(name)})
	hosttest.Check(w.t, err)
	w.t.Cleanup(func() { f.Close() })
	return f
}

// token returns one of the fleet's home.
func (w *town) token(door bool) string {
	w.t.Helper()
	secret, err := w.folder("home").NewToken(door)
	hosttest.Check(w.t, err)
	m, err := w.folder("home").Membership()
	hosttest.Check(w.t, err)
	return fleet.Token(m, "home", secret)
}

// join makes a host a member.
func (w *town) join(name, token string) error {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	return fleet.Join(ctx, fleet.JoinOptions{Folder: w.folder(name), Name: name, Token: token,
		Log: slog.New(slog.DiscardHandler), Connect: w.net.Connect})
}

// three runs a fleet of home, which is a door, and box1 and box2, which are none.
func (w *town) three() (home, box1, box2 *fleet.Fleet) {
	w.t.Helper()
	hosttest.Check(w.t, w.folder("home").Found("home", "127.0.0.1:1", nil))
	home = w.open("home", nil)
	hosttest.Check(w.t, w.join("box1", w.token(false)))
	hosttest.Check(w.t, w.join("box2", w.token(false)))
	box1, box2 = w.open("box1", map[string]string{"gpu": "a100"}), w.open("box2", nil)
	time.Sleep(5 * time.Second) // in a bubble
	return home, box1, box2
}

// state describes hosts.
func state(list []fleet.Host) string {
	var b strings.Builder
	for _, h := range list {
		b.WriteString(" " + h.Name)
		if !h.Reachable {
			b.WriteString("?")
		}
	}
	return b.String()[1:]
}

func expect(t *testing.T, f *fleet.Fleet, want string) {
	t.Helper()
	list, err := f.Survey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := state(list); got != want {
		t.Errorf("%s sees %q, want %q", f.Name(), got, want)
	}
}

func TestALineIsGoodForOneHostAndOneHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		hosttest.Check(t, w.folder("home").Found("home", "127.0.0.1:1", nil))
		w.open("home", nil)
		line, clash, late := w.token(false), w.token(false), w.token(false)
		hosttest.Check(t, w.join("box1", line))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.join("box2", line); err == nil || !strings.Contains(err.Error(), "one host") {
			t.Errorf("a second host: %v", err)
		}
		if err := fleet.Join(ctx, fleet.JoinOptions{Folder: w.folder("box3"), Name: "box1",
			Token: clash, Log: slog.New(slog.DiscardHandler), Connect: w.net.Connect,
		}); err == nil || !strings.Contains(err.Error(), "named box1") {
			t.Errorf("a name that is taken: %v", err)
		}
		hosttest.Check(t, w.join("box3", clash)) // the line is still good
		time.Sleep(time.Hour)
		if err := w.join("box4", late); err == nil {
			t.Error("a line of an hour ago is good")
		}
		for _, bad := range []string{"", "a.b.c", strings.ToUpper(line), "x" + line} {
			if err := w.join("box4", bad); err == nil {
				t.Errorf("%q is good", bad)
			}
		}
	})
}

// Whoever runs the server sees what a host asks with, and answers in the home's place.
func TestTheServerCanNeitherJoinNorTakeOverWhoDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		hosttest.Check(t, w.folder("home").Found("home", "127.0.0.1:1", nil))
		hosttest.Check(t, w.folder("evil").Found("home", "127.0.0.1:1", nil))
		m, err := w.folder("home").Membership()
		hosttest.Check(t, err)
		real, err := w.folder("home").Signed()
		hosttest.Check(t, err)
		forged, err := w.folder("evil").Signed()
		hosttest.Check(t, err)
		line := w.token(true)
		var asked []byte
		var guest string
		sends := [][]byte{forged, real, forged}
		server, err := bus.New("home", w.net.Connect("home"), bus.Handlers{
			Asked: func(_ context.Context, from string, p []byte) ([]byte, error) {
				asked, guest = bytes.Clone(p), from
				return json.Marshal(map[string]any{"authority": m.Authority})
			},
			Opened: func(_ string, _ []byte, s *bus.Stream) {
				defer s.Close()
				_, _ = s.Write(sends[0])
				sends = sends[1:]
			}})
		hosttest.Check(t, err)
		if err := w.join("box1", line); !errors.Is(err, roster.ErrSignature) || asked != nil {
			t.Errorf("another fleet's server: %v, and it was asked %q", err, asked)
		}
		if err := w.join("box1", line); !errors.Is(err, roster.ErrSignature) {
			t.Errorf("another roster: %v", err)
		}
		hosttest.Check(t, server.Close())
		if strings.Contains(string(asked), line[strings.LastIndexByte(line, '.')+1:]) {
			t.Errorf("the secret is sent: %s", asked)
		}
		w.open("home", nil)
		thief, err := bus.New(guest, w.net.Connect(guest), bus.Handlers{})
		hosttest.Check(t, err)
		changed := bytes.Replace(asked, []byte("box1"), []byte("box2"), 1)
		if _, err := thief.Request(t.Context(), "home", changed); err == nil ||
			err.Error() != roster.ErrToken.Error() {
			t.Errorf("a request that was changed: %v", err)
		}
		hosttest.Check(t, thief.Close())
		hosttest.Check(t, w.join("box1", line))
	})
}

func TestASilentHostIsUnreachableAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, box1, _ := w.three()
		expect(t, home, "box1 box2 home")
		expect(t, box1, "box1 box2 home")
		if heard := state(box1.Hosts()); heard != "box1 box2? home" { // it need not hear of box2
			t.Errorf("box1 hears of %q", heard)
		}
		w.cut("box2", true)
		time.Sleep(12 * time.Second)
		expect(t, home, "box1 box2? home")
		var away *fleet.UnreachableError
		if _, err := home.Dial("box2", fleet.KindCarried); !errors.As(err, &away) ||
			time.Since(away.Since) < 10*time.Second {
			t.Errorf("it is dialled with %v", err)
		}
		w.cut("box2", false)
		time.Sleep(5 * time.Second)
		expect(t, home, "box1 box2 home")
	})
}

func TestOnlyDoorsOpenStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, box1, _ := w.three()
		read := func(nc net.Conn, err error) string {
			t.Helper()
			hosttest.Check(t, err)
			defer nc.Close()
			buf := make([]byte, 100)
			n, err := nc.Read(buf)
			return fmt.Sprint(string(buf[:n]), err)
		}
		if got := read(home.Dial("box2", fleet.KindCarried)); got != "carried from home\n<nil>" {
			t.Errorf("a door's gets %q", got)
		}
		if _, err := box1.Dial("box2", fleet.KindCarried); !errors.Is(err, fleet.ErrNoDoor) {
			t.Errorf("a host that is no door is told %v", err)
		}
		hosttest.Check(t, box1.Close())
		for from, want := range map[string]string{
			"box1": "box1 is not a door of the fleet", "join-0": "box2 does not know join-0"} {
			thief, err := bus.New(from, w.net.Connect(from), bus.Handlers{})
			hosttest.Check(t, err)
			if got := read(thief.Open("box2", []byte(fleet.KindCarried))); got != want {
				t.Errorf("%s gets %q, want %q", from, got, want)
			}
			hosttest.Check(t, thief.Close())
		}
		if _, err := home.Dial("box3", fleet.KindJump); err == nil ||
			!strings.Contains(err.Error(), "box1, box2, home") {
			t.Errorf("one to an unknown host: %v", err)
		}
	})
}

// The command only replaces the roster's file, while the hosts run.
func TestRemovingAHostEndsItsStreamsEverywhereWithinTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, box1, _ := w.three()
		nc, err := home.Dial("box2", fleet.KindCarried)
		hosttest.Check(t, err)
		defer nc.Close()
		_, _ = nc.Read(make([]byte, 100))
		began := time.Now()
		_, err = w.folder("home").Change(func(r roster.Roster) (roster.Roster, error) {
			return r.Without("box2")
		})
		hosttest.Check(t, err)
		if _, err := nc.Read(make([]byte, 1)); err == nil ||
			!strings.Contains(err.Error(), "removed") || time.Since(began) > 2*time.Second {
			t.Errorf("it ends with %v after %v", err, time.Since(began))
		}
		time.Sleep(2*time.Second - time.Since(began))
		expect(t, home, "box1 home")
		expect(t, box1, "box1 home")
	})
}

// box1 and a guest say all the time that they have the newest roster, and never send one.
func TestALiarDoesNotKeepARemovalFromTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, box1, box2 := w.three()
		hosttest.Check(t, box1.Close())
		stop := make(chan struct{})
		var lying sync.WaitGroup
		for _, name := range []string{"box1", "join-0"} {
			n, err := bus.New(name, w.net.Connect(name), bus.Handlers{
				Opened: func(string, []byte, *bus.Stream) { <-stop }})
			hosttest.Check(t, err)
			lying.Go(func() {
				defer n.Close()
				for {
					select {
					case <-stop:
						return
					case <-time.After(10 * time.Millisecond):
						_ = n.Announce([]byte(`{"roster":1000}`))
					}
				}
			})
		}
		time.Sleep(time.Second)
		_, err := w.folder("home").Change(func(r roster.Roster) (roster.Roster, error) {
			return r.Without("box1")
		})
		hosttest.Check(t, err)
		time.Sleep(2 * time.Second)
		expect(t, home, "box2 home")
		expect(t, box2, "box2 home")
		close(stop)
		lying.Wait()
	})
}

func TestAHostLeavesAndNobodyElseSendsItAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, box1, box2 := w.three()
		thief, err := bus.New("thief", w.net.Connect("thief"), bus.Handlers{})
		hosttest.Check(t, err)
		for _, request := range []string{`{"leave":"AAAA"}`, `{"leave":""}`, `{}`} {
			if _, err := thief.Request(t.Context(), "home", []byte(request)); err == nil {
				t.Errorf("%s is answered", request)
			}
		}
		hosttest.Check(t, thief.Close())
		if err := fleet.Leave(t.Context(), fleet.LeaveOptions{Folder: w.folder("home")}); !errors.Is(
			err, fleet.ErrHome) {
			t.Errorf("the home leaves: %v", err)
		}
		hosttest.Check(t, box1.Close())
		hosttest.Check(t, fleet.Leave(t.Context(), fleet.LeaveOptions{Folder: w.folder("box1"),
			Connect: w.net.Connect("box1")}))
		time.Sleep(5 * time.Second)
		expect(t, home, "box2 home")
		hosttest.Check(t, box2.Close())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		w.cut("home", true)
		if err := fleet.Leave(ctx, fleet.LeaveOptions{Folder: w.folder("box2"),
			Connect: w.net.Connect("box2")}); !errors.Is(err, fleet.ErrUntold) {
			t.Errorf("the home is silent: %v", err)
		}
		if _, err := w.folder("box2").Membership(); !errors.Is(err, roster.ErrNoFleet) {
			t.Errorf("it is still in: %v", err)
		}
	})
}
