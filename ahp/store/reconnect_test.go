package store

import (
	"testing"

	"termhost/ahp"
)

// drop ends a connection and begins the one that continues it.
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

func TestReconnectRebuildsWhatItCannotReplay(t *testing.T) {
	for _, tc := range []struct {
		name string
		// prepare returns the channel to reconnect to, the newest serverSeq
		// that arrived, and what is remembered of the connection that was cut.
		prepare func(t *testing.T, s *Store) (*Channel, uint64, map[string]uint64)
		want    string
	}{
		{"a log too short", func(t *testing.T, s *Store) (*Channel, uint64, map[string]uint64) {
			c := newTerminal(t, s, "a")
			sub := subscribed(t, s, c)
			seen := s.Seq()
			for range 20 {
				c.AppendData(make([]byte, 1<<10))
			}
			return c, seen, sub.Close()
		}, "cleared data* titleChanged claimed"},
		{"a log that went on while nobody was connected", func(t *testing.T, s *Store) (*Channel, uint64, map[string]uint64) {
			c := newTerminal(t, s, "a")
			sub := subscribed(t, s, c)
			seen, synced := s.Seq(), sub.Close()
			for range 20 {
				c.AppendData(make([]byte, 1<<10))
			}
			return c, seen, synced
		}, "cleared data* titleChanged claimed"},
		{"a log that lost what was written and never arrived", func(t *testing.T, s *Store) (*Channel, uint64, map[string]uint64) {
			c := newTerminal(t, s, "a")
			sub := subscribed(t, s, c)
			seen := s.Seq()
			for range 20 {
				c.AppendData(make([]byte, 1<<10))
				pullAll(sub)
			}
			return c, seen, sub.Close()
		}, "cleared data* titleChanged claimed"},
		{"an answer that never arrived, right after an action that did", func(t *testing.T, s *Store) (*Channel, uint64, map[string]uint64) {
			c, other := newTerminal(t, s, "a"), newTerminal(t, s, "b")
			sub := subscribed(t, s, other)
			other.AppendData([]byte("x"))
			seen := s.Seq()
			sub.Post(nothing) // which would have brought it
			if _, err := sub.Subscribe(c); err != nil {
				t.Error(err)
			}
			return c, seen, sub.Close()
		}, rebuilt},
		{"a snapshot that may not have arrived", func(t *testing.T, s *Store) (*Channel, uint64, map[string]uint64) {
			c := newTerminal(t, s, "a")
			seen := s.Seq()
			return c, seen, subscribed(t, s, c).Close()
		}, rebuilt},
		{"a resynchronisation that may not have arrived", func(t *testing.T, s *Store) (*Channel, uint64, map[string]uint64) {
			c := newTerminal(t, s, "a")
			sub := subscribed(t, s, c)
			for range 20 {
				c.AppendData(make([]byte, 1<<10))
			}
			c.Append(ahp.TerminalCleared{}, nil)
			items := pullAll(sub) // the resynchronisation
			return c, items[len(items)-2].Entry.Seq(), sub.Close()
		}, rebuilt},
		{"a reader that had fallen off while another channel went on", func(t *testing.T, s *Store) (*Channel, uint64, map[string]uint64) {
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
			return c, items[0].Entry.Seq(), sub.Close()
		}, rebuilt},
		{"what it was not subscribed to", func(t *testing.T, s *Store) (*Channel, uint64, map[string]uint64) {
			c := newTerminal(t, s, "a")
			return c, s.Seq(), s.NewSubscriber(false).Close()
		}, rebuilt},
		{"what it had unsubscribed from", func(t *testing.T, s *Store) (*Channel, uint64, map[string]uint64) {
			c := newTerminal(t, s, "a")
			sub := subscribed(t, s, c)
			sub.Unsubscribe(c)
			return c, s.Seq(), sub.Close()
		}, rebuilt},
		{"another terminal of the same URI", func(t *testing.T, s *Store) (*Channel, uint64, map[string]uint64) {
			old := newTerminal(t, s, "a")
			sub := subscribed(t, s, old)
			old.Remove()
			c := newTerminal(t, s, "a")
			synced := sub.Close()
			if synced[c.URI()] >= c.Born() {
				t.Error("the two cannot be told apart")
			}
			return c, s.Seq(), synced
		}, rebuilt},
		{"a serverSeq that was never given out", func(t *testing.T, s *Store) (*Channel, uint64, map[string]uint64) {
			c := newTerminal(t, s, "a")
			return c, s.Seq() + 5, subscribed(t, s, c).Close()
		}, rebuilt},
		{"the root's list", func(t *testing.T, s *Store) (*Channel, uint64, map[string]uint64) {
			sub := subscribed(t, s, s.Root())
			seen := s.Seq()
			s.PublishTerminals()
			s.PublishTerminals()
			return s.Root(), seen, sub.Close()
		}, "terminalsChanged"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := New(Options{LogBytes: 8 << 10})
			c, lastSeen, synced := tc.prepare(t, s)
			sub := subscribed(t, s)
			list := sub.Reconnect([]*Channel{c}, lastSeen, synced)
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
	next.Post(nothing)
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
	if got := types(entries(next.Reconnect([]*Channel{big}, seen, synced))); got != "cleared data* titleChanged claimed" {
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
	if got := types(entries(next.Reconnect([]*Channel{c}, s.Seq(), synced))); got != "cleared data* titleChanged claimed" {
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

// Official clients keep what they have dispatched until it is answered, and show it
// on top of what the host says.
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
				if _, err := each.Subscribe(c); err != nil {
					t.Fatal(err)
				}
			}
			act := func() {
				c.Append(ahp.TerminalTitleChanged{Title: "mine"}, &ahp.Origin{ClientID: "me", ClientSeq: 7})
				c.Append(ahp.TerminalCommandExecuted{CommandID: "x", CommandLine: "make"}, &ahp.Origin{ClientID: "me", ClientSeq: 8})
				c.Append(ahp.TerminalTitleChanged{Title: "not mine"}, &ahp.Origin{ClientID: "other", ClientSeq: 7})
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
			if got := types(items); got != "titleChanged commandExecuted cleared commandDetectionAvailable data* commandExecuted titleChanged claimed" &&
				got != "titleChanged commandExecuted cleared commandDetectionAvailable commandExecuted data* titleChanged claimed" {
				t.Errorf("it is sent %s", got)
			}
			for i, it := range items {
				o := it.Entry.Origin()
				if i > 1 && o != nil || i < 2 && (o == nil || *o != ahp.Origin{ClientID: "me", ClientSeq: int64(7 + i)}) {
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
	if _, err := sub.Subscribe(c); err != nil { // of which the answer never arrives
		t.Fatal(err)
	}
	c.Append(ahp.TerminalTitleChanged{Title: "mine"}, &ahp.Origin{ClientID: "me", ClientSeq: 7})
	next, synced := drop(t, sub)
	next.Identify("me")
	list := next.Reconnect([]*Channel{c}, lastSeen, synced)
	if got := types(entries(list)); got != "titleChanged cleared titleChanged claimed" || list[0].Origin() == nil {
		t.Errorf("%s", got)
	}
}
