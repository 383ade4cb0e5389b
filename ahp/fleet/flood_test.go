package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/bus/natslink"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// box1 says that it is there a thousand times a second, each time as another process and with
// something else.
func TestOfAFloodOfHeartbeatsTenASecondAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		home, box1, box2 := w.three()
		hosttest.Check(t, box1.Close())
		node, err := bus.New("box1", w.net.Connect("box1"), bus.Handlers{})
		hosttest.Check(t, err)
		defer node.Close()
		terminals := func() int {
			synctest.Wait()
			for _, h := range home.Hosts() {
				if h.Name == "box1" {
					return h.Terminals
				}
			}
			return 0
		}
		const seconds = 20
		read, last := 0, 0
		for i := range seconds * 1000 {
			hosttest.Check(t, node.Announce(fmt.Appendf(nil,
				`{"boot":"%d","terminals":%d,"roster":1000,"who":true}`, i, i+1000)))
			if now := terminals(); now != last {
				read, last = read+1, now
			}
			time.Sleep(time.Millisecond)
		}
		if most := 100 + 10*seconds + 1; read < 10*seconds || read > most {
			t.Errorf("%d were read in %d s, and %d may", read, seconds, most)
		}
		expect(t, home, "box1 box2 home")
		expect(t, box2, "box1 box2 home")
		nc, err := home.Dial("box2", fleet.KindCarried)
		hosttest.Check(t, err)
		_, err = nc.Read(make([]byte, 1))
		hosttest.Check(t, err)
		hosttest.Check(t, nc.Close())
		time.Sleep(time.Second)
		hosttest.Check(t, node.Announce([]byte(`{"boot":"x","terminals":7}`)))
		if now := terminals(); now != 7 {
			t.Errorf("afterwards it is not heard: it has %d", now)
		}
	})
}

// Somebody joins a host, and stays connected with its line.
func TestAGuestIsEndedSoonAfterItHasJoined(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	folder := roster.Folder(t.TempDir())
	listen := fmt.Sprintf("127.%d.%d.%d:7723", 1+rand.IntN(254), rand.IntN(255), 1+rand.IntN(254))
	hosttest.Check(t, folder.Found("home", listen, []string{"tls://" + listen}))
	home, err := fleet.Open(fleet.Options{Folder: folder, Terminals: func() int { return 0 },
		Log: slog.New(slog.DiscardHandler)})
	hosttest.Check(t, err)
	defer home.Close()
	m, err := folder.Membership()
	hosttest.Check(t, err)
	secret, err := folder.NewToken(false)
	hosttest.Check(t, err)
	secure, err := roster.ClientTLS(m.Authority)
	hosttest.Check(t, err)
	connect := func(ended chan<- struct{}) (*nats.Conn, error) {
		return nats.Connect(m.Servers[0], nats.Secure(secure), nats.Token(secret),
			nats.NoReconnect(), nats.Timeout(hosttest.Patience),
			nats.ClosedHandler(func(*nats.Conn) { close(ended) }))
	}

	request, guest := asks(t, "box", fleet.Token(m, "home", secret))
	link := natslink.Options{Name: guest, Servers: m.Servers, TLS: secure, Token: secret,
		Once: true, Log: slog.New(slog.DiscardHandler)}
	node, err := bus.New(guest, natslink.Connect(link), bus.Handlers{})
	hosttest.Check(t, err)
	defer node.Close()
	connected, ended := time.Now(), make(chan struct{})
	stays, err := connect(ended)
	hosttest.Check(t, err)
	defer stays.Close()
	ctx, cancel := context.WithTimeout(t.Context(), hosttest.Patience)
	defer cancel()
	_, err = node.Request(ctx, "home", request)
	hosttest.Check(t, err)
	joined := time.Now()
	slowtest.Receive(t, "its end", ended)
	const soon, anyway = 10 * time.Second, 30 * time.Second
	if time.Since(joined) < soon-time.Second || time.Since(connected) > anyway-time.Second {
		t.Errorf("it ends %v after it has joined, and %v after it has connected",
			time.Since(joined), time.Since(connected))
	}
	if _, err := connect(make(chan struct{})); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("it comes back with %v", err)
	}
	if _, err := home.Member("box"); err != nil {
		t.Errorf("the host that has joined: %v", err)
	}
}
