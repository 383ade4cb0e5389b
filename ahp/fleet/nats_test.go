package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// Thirty hosts join over TLS, see each other, and the door reaches each of them. Then the one with
// the server restarts, and does again.
func TestThirtyHostsOnARealServer(t *testing.T) {
	slowtest.Skip(t)
	dir, hosts := t.TempDir(), []string{"home"}
	listen := fmt.Sprintf("127.%d.%d.%d:7723", 1+rand.IntN(254), rand.IntN(255), 1+rand.IntN(254))
	folder := func(name string) roster.Folder { return roster.Folder(dir + "/" + name) }
	open := func(name string) *fleet.Fleet {
		f, err := fleet.Open(fleet.Options{Folder: folder(name), Version: "1",
			Terminals: func() int { return 1 }, Log: slog.New(slog.DiscardHandler),
			Serve: func(f *fleet.Fleet, _ fleet.Kind, _ roster.Member, nc net.Conn) {
				defer nc.Close()
				_, _ = io.WriteString(nc, f.Name()+"\n")
			}})
		hosttest.Check(t, err)
		return f
	}
	hosttest.Check(t, folder("home").Found("home", listen, []string{"tls://" + listen}))
	home := open("home")
	m, err := folder("home").Membership()
	hosttest.Check(t, err)
	for i := range 29 {
		name := fmt.Sprintf("box%d", i)
		secret, err := folder("home").NewToken(false)
		hosttest.Check(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), hosttest.Patience)
		hosttest.Check(t, fleet.Join(ctx, fleet.JoinOptions{Folder: folder(name), Name: name,
			Servers: m.Servers, Token: fleet.Token(m, "home", secret),
			Log: slog.New(slog.DiscardHandler)}))
		cancel()
		f := open(name)
		defer f.Close()
		hosts = append(hosts, name)
	}
	reachAll(t, home, hosts)
	hosttest.Check(t, home.Close())
	home = open("home")
	defer home.Close()
	reachAll(t, home, hosts)
}

// TestAHostMayJoinWhileTheServerStarts: the line is pasted as soon as it is printed.
func TestAHostMayJoinWhileTheServerStarts(t *testing.T) {
	t.Parallel()
	home := roster.Folder(t.TempDir())
	listen := fmt.Sprintf("127.%d.%d.%d:7723", 1+rand.IntN(254), rand.IntN(255), 1+rand.IntN(254))
	hosttest.Check(t, home.Found("home", listen, []string{"tls://" + listen}))
	m, err := home.Membership()
	hosttest.Check(t, err)
	join := func(secret string) error {
		return fleet.Join(t.Context(), fleet.JoinOptions{Folder: roster.Folder(t.TempDir()),
			Name: "box", Servers: m.Servers, Token: fleet.Token(m, "home", secret),
			Log: slog.New(slog.DiscardHandler)})
	}
	if err := join("none"); !errors.Is(err, fleet.ErrNoAnswer) {
		t.Errorf("without a server: %v", err)
	}
	secret, err := home.NewToken(false)
	hosttest.Check(t, err)
	joined := make(chan error)
	go func() { joined <- join(secret) }()
	f, err := fleet.Open(fleet.Options{Folder: home, Terminals: func() int { return 0 },
		Log: slog.New(slog.DiscardHandler)})
	hosttest.Check(t, err)
	defer f.Close()
	hosttest.Check(t, <-joined)
}

// reachAll waits until a door sees all hosts, and reads what each of them says.
func reachAll(t *testing.T, door *fleet.Fleet, hosts []string) {
	t.Helper()
	hosttest.Eventually(t, "all hosts are there", func() bool {
		n := 0
		for _, h := range door.Hosts() {
			if h.Reachable {
				n++
			}
		}
		return n == len(hosts)
	})
	var all sync.WaitGroup
	for _, name := range hosts[1:] {
		all.Go(func() {
			nc, err := door.Dial(name, fleet.KindCarried)
			if err != nil {
				t.Error(err)
				return
			}
			defer nc.Close()
			_ = nc.SetReadDeadline(time.Now().Add(hosttest.Patience))
			if p, err := io.ReadAll(nc); string(p) != name+"\n" || err != nil {
				t.Errorf("%s says %q (%v)", name, p, err)
			}
		})
	}
	all.Wait()
}
