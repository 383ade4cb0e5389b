package store

import (
	"testing"

	"termhost/ahp"
)

// drop ends a connection and begins the one that replaces it.
func drop(t *testing.T, sub *Subscriber) (next *Subscriber, synced map[string]uint64) {
	t.Helper()
	synced = sub.Close()
	next = sub.store.NewSubscriber(sub.raw)
	t.Cleanup(func() { next.Close() })
	return next, synced
}

func TestReconnectReplaysWhatWasMissed(t *testing.T) {
	s := New(Options{})
	a, b := newTerminal(t, s, "a"), newTerminal(t, s, "b")
	sub := subscribed(t, s, a, b)
	a.AppendData([]byte("1"))
	items := pullAll(sub)
	lastSeen := items[len(items)-1].Entry.Seq()
	b.AppendData([]byte("2"))
	a.AppendData([]byte("3"))
	pullAll(sub) // it never arrived
	sub, synced := drop(t, sub)
	list := sub.Reconnect([]*Channel{a, nil, b, a}, lastSeen, synced)
	if len(list) != 2 || list[0].Channel() != b.URI() || list[1].Channel() != a.URI() {
		t.Errorf("%v", types(entries(list)))
	}
	a.AppendData([]byte("4"))
	if got := types(pullAll(sub)); got != "data" {
		t.Error(got)
	}
}

// cut is a connection that was cut: what it read, the newest serverSeq that arrived, and
// what is remembered of it.
type cut struct {
	c        *Channel
	lastSeen uint64
	synced   map[string]uint64
}

func TestReconnectRebuildsWhatItCannotReplay(t *testing.T) {
	for _, tc := range []struct {
		name    string
		prepare func(t *testing.T, s *Store) cut
		want    string
	}{
		{"a log too short", func(t *testing.T, s *Store) cut {
			c := newTerminal(t, s, "a")
			sub := subscribed(t, s, c)
			seen := s.Seq()
			for range 20 {
				c.AppendData(make([]byte, 1<<10))
			}
			return cut{c, seen, sub.Close()}
		}, "cleared data* titleChanged claimed"},
		{"a log that went on while nobody was connected", func(t *testing.T, s *Store) cut {
			c := newTerminal(t, s, "a")
			sub := subscribed(t, s, c)
			seen, synced := s.Seq(), sub.Close()
			for range 20 {
				c.AppendData(make([]byte, 1<<10))
			}
			return cut{c, seen, synced}
		}, "cleared data* titleChanged claimed"},
		{"a log that lost what was written and never arrived", func(t *testing.T, s *Store) cut {
			c := newTerminal(t, s, "a")
			sub := subscribed(t, s, c)
			seen := s.Seq()
			for range 20 {
				c.AppendData(make([]byte, 1<<10))
				pullAll(sub)
			}
			return cut{c, seen, sub.Close()}
		}, "cleared data* titleChanged claimed"},
		{"an answer that never came after an action that did", func(t *testing.T, s *Store) cut {
			c, other := newTerminal(t, s, "a"), newTerminal(t, s, "b")
			sub := subscribed(t, s, other)
			other.AppendData([]byte("x"))
			seen := s.Seq()
			post(t, sub, c) // which would have brought it
			return cut{c, seen, sub.Close()}
		}, rebuilt},
		{"a snapshot that may not have arrived", func(t *testing.T, s *Store) cut {
			c := newTerminal(t, s, "a")
			seen := s.Seq()
			return cut{c, seen, subscribed(t, s, c).Close()}
		}, rebuilt},
		{"a resynchronisation that may not have arrived", func(t *testing.T, s *Store) cut {
			c := newTerminal(t, s, "a")
			sub := subscribed(t, s, c)
			for range 20 {
				c.AppendData(make([]byte, 1<<10))
			}
			c.Append(ahp.TerminalCleared{}, nil)
			items := pullAll(sub) // the resynchronisation
			return cut{c, items[len(items)-2].Entry.Seq(), sub.Close()}
		}, rebuilt},
		{"a reader that fell off while another channel went on", func(t *testing.T, s *Store) cut {
			c, other := newTerminal(t, s, "a"), newTerminal(t, s, "b")
			sub := subscribed(t, s, c, other)
			for range 20 {
				c.AppendData(make([]byte, 1<<10))
			}
			c.Append(ahp.TerminalCleared{}, nil)
			other.AppendData([]byte("x"))
			items := sub.Pull(nil, 1)
			if items[0].Entry.Channel() != other.URI() {
				t.Fatal("the other channel comes first")
			}
			return cut{c, items[0].Entry.Seq(), sub.Close()}
		}, rebuilt},
		{"what it was not subscribed to", func(t *testing.T, s *Store) cut {
			c := newTerminal(t, s, "a")
			return cut{c, s.Seq(), s.NewSubscriber(false).Close()}
		}, rebuilt},
		{"what it had unsubscribed from", func(t *testing.T, s *Store) cut {
			c := newTerminal(t, s, "a")
			sub := subscribed(t, s, c)
			sub.Unsubscribe(c)
			return cut{c, s.Seq(), sub.Close()}
		}, rebuilt},
		{"another terminal of the same URI", func(t *testing.T, s *Store) cut {
			old := newTerminal(t, s, "a")
			sub := subscribed(t, s, old)
			old.Remove()
			c := newTerminal(t, s, "a")
			synced := sub.Close()
			if synced[c.URI()] >= c.Born() {
				t.Error("the two cannot be told apart")
			}
			return cut{c, s.Seq(), synced}
		}, rebuilt},
		{"a serverSeq that was never given out", func(t *testing.T, s *Store) cut {
			c := newTerminal(t, s, "a")
			return cut{c, s.Seq() + 5, subscribed(t, s, c).Close()}
		}, rebuilt},
		{"the root's list", func(t *testing.T, s *Store) cut {
			sub := subscribed(t, s, s.Root())
			seen := s.Seq()
			s.PublishTerminals()
			s.PublishTerminals()
			return cut{s.Root(), seen, sub.Close()}
		}, "terminalsChanged"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := New(Options{LogBytes: 8 << 10})
			was := tc.prepare(t, s)
			sub := subscribed(t, s)
			list := sub.Reconnect([]*Channel{was.c}, was.lastSeen, was.synced)
			if got := types(entries(list)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			for i := 1; i < len(list); i++ {
				if list[i].Seq() <= list[i-1].Seq() {
					t.Error("the numbers do not rise")
				}
			}
			if got := types(pullAll(sub)); got != "" {
				t.Errorf("then came %s", got)
			}
		})
	}
}

func TestWhatExceedsTheReplayIsResynchronisedAfterTheAnswer(t *testing.T) {
	s := New(Options{LogBytes: 16 << 20, ContentBytes: 1 << 20})
	big, small := newTerminal(t, s, "big"), newTerminal(t, s, "small")
	sub := subscribed(t, s, big, small)
	seen := s.Seq()
	for range ReplayLimit / (64 << 10) {
		if big.AppendData(make([]byte, 64<<10)) {
			big.Checkpoint(nil)
		}
	}
	small.AppendData([]byte("x"))
	next, synced := drop(t, sub)
	next.Post(nothing, 0)
	list := next.Reconnect([]*Channel{big, small}, seen, synced)
	if got := types(entries(list)); got != "data" || list[0].Channel() != small.URI() {
		t.Error(got)
	}
	small.AppendData([]byte("y"))
	items := pullAll(next)
	if got := types(items); got != "post data cleared data* titleChanged claimed" {
		t.Error(got)
	}

	// Cut before the resynchronisation came, it is not forgotten.
	next, synced = drop(t, next)
	list = next.Reconnect([]*Channel{big}, seen, synced)
	if got := types(entries(list)); got != "cleared data* titleChanged claimed" {
		t.Error(got)
	}
}

func TestAResynchronisationThatNeverCameIsNotForgotten(t *testing.T) {
	s := New(Options{LogBytes: 16 << 20, ContentBytes: 1 << 20})
	c := newTerminal(t, s, "a")
	sub := subscribed(t, s, c)
	seen := s.Seq()
	for range ReplayLimit / (64 << 10) {
		if c.AppendData(make([]byte, 64<<10)) {
			c.Checkpoint(nil)
		}
	}
	next, synced := drop(t, sub)
	if list := next.Reconnect([]*Channel{c}, seen, synced); len(list) != 0 {
		t.Fatal("this was to exceed the replay")
	}
	next, synced = drop(t, next)
	list := next.Reconnect([]*Channel{c}, s.Seq(), synced)
	if got := types(entries(list)); got != "cleared data* titleChanged claimed" {
		t.Errorf("what was never sent counts as known: %s", got)
	}
}

func TestAReplayKeepsNoEncodings(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	sub := subscribed(t, s, c)
	pullAll(subscribed(t, s, c))
	seen := s.Seq()
	for range 50 {
		c.AppendData(make([]byte, 1000))
	}
	next, synced := drop(t, sub)
	for _, e := range next.Reconnect([]*Channel{c}, seen, synced) {
		e.AppendEnvelope(nil, ahp.ShapeLifecycle)
	}
	for _, e := range c.log.entries {
		if e.keptBytes() > 0 {
			t.Fatal("an encoding stays that nobody will need")
		}
	}
}

// Official clients keep each action that they have dispatched until it is answered, and show
// it on top of the host's state.
func TestASenderThatFellOffTheLogGetsItsAnswersBeforeTheState(t *testing.T) {
	for _, own := range []string{"gone from the log", "still in it"} {
		t.Run(own, func(t *testing.T) {
			s := New(Options{LogBytes: 8 << 10})
			c := newTerminal(t, s, "a")
			sub, other := s.NewSubscriber(false), s.NewSubscriber(false)
			defer sub.Close()
			defer other.Close()
			sub.Identify("me")
			other.Identify("other")
			for _, each := range []*Subscriber{sub, other} {
				subscribe(t, each, c)
			}
			by := func(client string, seq int64) *ahp.Origin {
				return &ahp.Origin{ClientID: client, ClientSeq: seq}
			}
			act := func() {
				c.Append(ahp.TerminalTitleChanged{Title: "mine"}, by("me", 7))
				begun := ahp.TerminalCommandExecuted{CommandID: "x", CommandLine: "make"}
				c.Append(begun, by("me", 8))
				c.Append(ahp.TerminalTitleChanged{Title: "not mine"}, by("other", 7))
			}
			flood := func() {
				for range 20 {
					c.AppendData(make([]byte, 1<<10))
				}
			}
			if own == "still in it" {
				flood()
				act()
			} else {
				act()
				flood()
			}
			items := pullAll(sub)
			const answers, begin, end = 2, "titleChanged commandExecuted " +
				"cleared commandDetectionAvailable ", " titleChanged claimed"
			switch got := types(items); got {
			case begin + "data* commandExecuted" + end, begin + "commandExecuted data*" + end:
			default:
				t.Errorf("it is sent %s", got)
			}
			for i, it := range items {
				o := it.Entry.Origin()
				if (o != nil) != (i < answers) || o != nil && *o != *by("me", int64(7+i)) {
					t.Errorf("item %d is of %v", i, o)
				}
				if i > 0 && it.Entry.Seq() <= items[i-1].Entry.Seq() {
					t.Errorf("item %d has the number %d", i, it.Entry.Seq())
				}
			}
			if got := types(pullAll(other)); got[:12] != "titleChanged" {
				t.Errorf("the other is sent %s", got)
			}
		})
	}
}

// A reconnect that has to rebuild the state answers what the log still holds.
func TestAReconnectThatRebuildsAnswersWhatTheLogHolds(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	sub := s.NewSubscriber(false)
	sub.Identify("me")
	lastSeen := s.Seq()
	post(t, sub, c) // the answer never arrives
	c.Append(ahp.TerminalTitleChanged{Title: "mine"}, &ahp.Origin{ClientID: "me", ClientSeq: 7})
	next, synced := drop(t, sub)
	next.Identify("me")
	list := next.Reconnect([]*Channel{c}, lastSeen, synced)
	got := types(entries(list))
	if got != "titleChanged cleared data titleChanged claimed" || list[0].Origin() == nil {
		t.Errorf("%s", got)
	}
}

func TestEachChannelIsResumedFromItsOwnCursor(t *testing.T) {
	s := New(Options{LogBytes: 8 << 10})
	fast, slow := newTerminal(t, s, "fast"), newTerminal(t, s, "slow")
	short, gone := newTerminal(t, s, "short"), newTerminal(t, s, "gone")
	sub := subscribed(t, s, fast, slow, short, gone)
	seen := s.Seq()
	slow.AppendData([]byte("1")) // it never arrives, unlike what comes after it
	fast.AppendData([]byte("2"))
	later := s.Seq()
	for range 20 {
		short.AppendData(make([]byte, 1<<10))
	}
	fast.AppendData([]byte("3"))
	next, synced := drop(t, sub)
	gone.Remove()
	list, snapshots := next.Resume([]Seen{{gone, later}, {fast, later}, {nil, later}, {short, later},
		{slow, seen}}, synced)
	if len(list) != 5 || list[0].Channel != nil || list[2].Channel != nil {
		t.Fatalf("what is gone is resumed: %v", list)
	}
	for i, want := range map[int]string{1: "3", 4: "1"} {
		missed := list[i].Missed
		if list[i].Snapshot || len(missed) != 1 || string(dataOf(Item{Entry: missed[0]})) != want {
			t.Errorf("%s missed %v, want %s", list[i].Channel.URI(), missed, want)
		}
	}
	if !list[3].Snapshot || list[3].Missed != nil {
		t.Errorf("a log that is too short gives %v", list[3])
	}
	short.AppendData([]byte("in the snapshot"))
	views, seq := snapshots.Start()
	if len(views) != 1 || views[0].URI != short.URI() || views[0].Seq != seq || seq <= later {
		t.Fatalf("the snapshots are %v, at %d", views, seq)
	}
	for _, c := range []*Channel{short, fast, slow} {
		c.AppendData([]byte("after " + c.URI()))
	}
	var got string
	for _, it := range pullAll(next) {
		got += string(dataOf(it)) + "; "
	}
	want := "after " + short.URI() + "; after " + fast.URI() + "; after " + slow.URI() + "; "
	if got != want {
		t.Errorf("then came %q, want %q", got, want)
	}

	// The snapshot's serverSeq is a cursor.
	last, synced := drop(t, next)
	list, _ = last.Resume([]Seen{{short, seq}, {fast, 0}, {slow, s.Seq() + 1}}, synced)
	if len(list[0].Missed) != 1 || !list[1].Snapshot || !list[2].Snapshot {
		t.Errorf("from a snapshot, from nothing and from after a crash: %v", list)
	}
}

func TestResumedChannelsThatExceedTheReplayGetSnapshots(t *testing.T) {
	s := New(Options{LogBytes: 2 * ReplayLimit, ContentBytes: 64 << 10})
	big, small := newTerminal(t, s, "big"), newTerminal(t, s, "small")
	sub := subscribed(t, s, big, small)
	seen := s.Seq()
	for range ReplayLimit/(64<<10) + 1 {
		if big.AppendData(make([]byte, 64<<10)) {
			big.Checkpoint(nil)
		}
	}
	small.AppendData([]byte("1"))
	next, synced := drop(t, sub)
	list, _ := next.Resume([]Seen{{big, seen}, {small, seen}}, synced)
	if !list[0].Snapshot || list[0].Missed != nil || len(list[1].Missed) != 1 {
		t.Errorf("%v", list)
	}
}
