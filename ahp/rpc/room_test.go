package rpc

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/store"
	"termhost/ahp/transport"
	"termhost/authz"
)

// rooms are the windows of a peer, which have had no credit since some time.
type rooms struct {
	*peer
	other *store.Item // another's
	own   *store.Item // an answer to the peer
}

func newRooms(t *testing.T) *rooms {
	t.Helper()
	h, err := host.New(host.Config{Shell: "/bin/sh", StateDir: t.TempDir()})
	check(t, err)
	t.Cleanup(func() { check(t, h.Shutdown(context.Background())) })
	conn, err := h.Connect(authz.Principal{ID: "SHA256:alice", Name: "alice", Role: authz.Admin}, host.DoorSSH)
	check(t, err)
	t.Cleanup(conn.Close)
	_, err = conn.Initialize(ahp.InitializeParams{ClientID: "a", ProtocolVersions: []string{"1.0.0"}})
	check(t, err)
	s := store.New(store.Options{})
	c, err := s.Add(ahp.TerminalURI("t"), ahp.TerminalState{Claim: ahp.ClientClaim("c")})
	check(t, err)
	sub := s.NewSubscriber(false)
	t.Cleanup(func() { sub.Close() })
	check(t, sub.Follow(c))
	c.AppendData(make([]byte, 4<<10))
	c.Append(ahp.TerminalTitleChanged{Title: strings.Repeat("x", 4<<10)}, &ahp.Origin{ClientID: conn.ClientID()})
	items := sub.Pull(sub.Pull(nil, 1<<20), 1<<20)
	if len(items) != 2 {
		t.Fatalf("%d entries", len(items))
	}
	return &rooms{&peer{conn: conn, log: slog.New(slog.DiscardHandler), transport: transport.NewLines(nil, io.Discard, 0, nil),
		windows: windows{byURI: map[string]*window{}, grants: &grants{}}}, &items[0], &items[1]}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// window adds one whose last credit came some time ago, with that much in its queue.
func (r *rooms) window(uri string, since time.Duration, what *store.Item, weight int64) *window {
	w := &window{uri: uri, credited: time.Now().Add(-since)}
	for w.weight() < weight {
		w.queue = append(w.queue, queued{entry: *what})
	}
	r.windows.byURI[uri] = w
	r.windows.turns = append(r.windows.turns, w)
	r.windows.queued += w.weight()
	return w
}

// mayPullAnother reports whether there is room for a channel that has had all it was sent.
func (r *rooms) mayPullAnother() bool {
	return r.mayPull(&window{limits: receiveLimits{Window: 1}})
}

// TestRoomIsMadeUntilOthersGoOn: who has waited for room waits until half of it is free, so channels without credit are
// dropped until it is, also when the first of them leaves less than what is too much.
func TestRoomIsMadeUntilOthersGoOn(t *testing.T) {
	t.Parallel()
	r := newRooms(t)
	r.window("a", creditWait, r.other, maxQueued/2)
	b := r.window("b", creditWait/2, r.other, maxQueued*3/4)
	if r.mayPullAnother() {
		t.Fatal("there is room")
	}
	check(t, r.makeRoom())
	if r.windows.retry <= 0 || r.mayPullAnother() {
		t.Fatalf("%d bytes wait, and what waits is looked at again after %s", r.windows.queued, r.windows.retry)
	}
	b.credited = b.credited.Add(-creditWait)
	check(t, r.makeRoom())
	if !r.mayPullAnother() {
		t.Errorf("nobody goes on, and %d bytes wait", r.windows.queued)
	}
}

// TestAChannelThatHoldsNothingMoreIsNotReset leaves one channel without credit for long while another one, which is
// given credit, takes all the room.
func TestAChannelThatHoldsNothingMoreIsNotReset(t *testing.T) {
	t.Parallel()
	r := newRooms(t)
	r.window("a", creditWait, r.other, 1)
	r.window("b", 0, r.other, maxQueued)
	check(t, r.makeRoom())
	if r.windows.of("a") == nil || r.windows.of("b") == nil {
		t.Error("a channel is reset")
	}
	if r.windows.retry <= 0 {
		t.Error("nothing is looked at again")
	}
}

// TestAnswersAreKeptWhileRoomComesAnotherWay: a channel that holds answers only is not reset while another one is sent.
func TestAnswersAreKeptWhileRoomComesAnotherWay(t *testing.T) {
	t.Parallel()
	r := newRooms(t)
	r.window("a", creditWait, r.own, 1)
	r.window("b", 0, r.other, maxQueued).limits.Window = 1
	check(t, r.makeRoom())
	if r.windows.of("a") == nil || r.windows.of("b") == nil {
		t.Error("a channel is reset")
	}
}

// TestAnswersThatNobodyConsumesMakeRoom resets the largest channels until others go on.
func TestAnswersThatNobodyConsumesMakeRoom(t *testing.T) {
	t.Parallel()
	r := newRooms(t)
	for _, w := range []struct {
		uri  string
		size int64
	}{{"a", maxQueued / 4}, {"b", maxQueued / 2}, {"c", maxQueued}, {"d", 1}} {
		r.window(w.uri, creditWait, r.own, w.size)
	}
	check(t, r.makeRoom())
	var left []string
	for uri := range r.windows.byURI {
		left = append(left, uri)
	}
	if slices.Sort(left); !slices.Equal(left, []string{"a", "d"}) || !r.mayPullAnother() {
		t.Errorf("%v are left, with %d bytes", left, r.windows.queued)
	}
}
