package store

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"termhost/ahp"
)

// restored returns a store that goes on where s has ended, with the terminal of the same URI as c,
// restored from what was printed and done there: the pieces of output are cut elsewhere.
func restored(t *testing.T, s *Store, c *Channel, done []ahp.Action, mem []byte) (*Store, *Channel) {
	t.Helper()
	next := New(Options{FirstSeq: s.Seq() + 1000})
	again := newTerminal(t, next, "a")
	draft := again.Draft(ahp.TerminalState{Cols: 80, Rows: 24})
	for _, a := range done {
		d, ok := a.(ahp.TerminalData)
		if !ok {
			draft.Append(a, nil)
			continue
		}
		for p := range slices.Chunk(d.Data, 7) {
			draft.AppendData(p)
		}
	}
	trail, err := NewTrail(mem)
	if err != nil {
		t.Fatal(err)
	}
	again.Adopt(draft, trail)
	if again.URI() != c.URI() {
		t.Fatal("another terminal")
	}
	return next, again
}

// envelopes returns entries as a client of the newest shape reads them.
func envelopes(list []*Entry) (all []string) {
	for _, e := range list {
		all = append(all, string(e.AppendEnvelope(nil, ahp.ShapeLifecycle)))
	}
	return all
}

// trailed returns a terminal whose serverSeqs are recorded.
func trailed(t *testing.T) (s *Store, c *Channel, mem []byte) {
	t.Helper()
	s, mem = New(Options{FirstSeq: 50}), make([]byte, TrailSize)
	c = newTerminal(t, s, "a")
	trail, err := NewTrail(mem)
	if err != nil {
		t.Fatal(err)
	}
	c.Record(trail)
	return s, c, mem
}

func TestAClientMissesNothingAndGetsNothingTwiceAfterARestart(t *testing.T) {
	s, c, mem := trailed(t)
	other := newTerminal(t, s, "b") // whose serverSeqs lie in between
	sub := s.NewSubscriber(false)
	sub.Identify("me")
	post(t, sub, c)
	pullAll(sub)
	var done []ahp.Action
	for i := range 20 {
		begun := ahp.TerminalCommandExecuted{CommandID: fmt.Sprint(i), CommandLine: "make"}
		c.Append(begun, nil)
		text := bytes.Repeat([]byte("abcdefghij"), i+1)
		c.AppendData(text[:5])
		other.AppendData(text)
		c.AppendData(text[5:])
		over := ahp.TerminalCommandFinished{CommandID: fmt.Sprint(i)}
		c.Append(over, nil)
		done = append(done, begun, ahp.TerminalData{Data: text}, over)
	}
	sent := entriesOf(pullAll(sub))
	all := envelopes(sent)
	done = append(done, ahp.TerminalData{Data: []byte("printed while no host was there")})
	for round := range 2 { // a second restart, too
		for i, e := range sent {
			next, again := restored(t, s, c, done, slices.Clone(mem))
			sub := next.NewSubscriber(false)
			sub.Identify("me")
			got := sub.Reconnect([]*Channel{again}, e.Seq(), nil)
			tail := len(got) - len(all[i+1:])
			if tail < 0 || !slices.Equal(envelopes(got[:len(got)-tail]), all[i+1:]) {
				t.Fatalf("round %d: from %d on it gets %q, not %q", round, e.Seq(), envelopes(got),
					all[i+1:])
			}
			var text []byte
			for _, e := range got[len(got)-tail:] {
				text = append(text, e.Action().(ahp.TerminalData).Data...)
				if round == 0 && e.Seq() <= s.Seq() {
					t.Errorf("what nobody has seen has an old serverSeq, %d", e.Seq())
				}
			}
			if string(text) != "printed while no host was there" {
				t.Errorf("and then %q", text)
			}
		}
		mem = slices.Clone(mem)
		s, c = restored(t, s, c, done, mem)
	}
}

// A client whose state is not known for certain is resynchronised, as in the same process.
func TestAClientOfUnknownStateIsResynchronisedAfterARestart(t *testing.T) {
	for name, do := range map[string]func(t *testing.T, s *Store, c *Channel, sub *Subscriber) (seen uint64){
		"a snapshot that may not have arrived": func(t *testing.T, s *Store, c *Channel, sub *Subscriber) uint64 {
			seen := s.Seq()
			post(t, sub, c)
			pullAll(sub)
			return seen
		},
		"it was not subscribed": func(t *testing.T, s *Store, c *Channel, sub *Subscriber) uint64 {
			return s.Seq()
		},
		"it has unsubscribed": func(t *testing.T, s *Store, c *Channel, sub *Subscriber) uint64 {
			post(t, sub, c)
			pullAll(sub)
			sub.Unsubscribe(c)
			return s.Seq()
		},
		"it was seen longer ago than the trail goes back": func(t *testing.T, s *Store, c *Channel,
			sub *Subscriber) uint64 {
			post(t, sub, c)
			pullAll(sub)
			seen := s.Seq()
			for range trailEntries + 1 {
				c.AppendData([]byte("x"))
			}
			return seen
		},
		"it fell off the log": func(t *testing.T, s *Store, c *Channel, sub *Subscriber) uint64 {
			post(t, sub, c)
			pullAll(sub)
			s.SetBounds(2<<10, 0)
			for range 100 {
				c.AppendData(make([]byte, 100))
			}
			return s.Seq() // of another channel's action, as far as it knows
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, c, mem := trailed(t)
			c.AppendData([]byte("one"))
			sub := s.NewSubscriber(false)
			sub.Identify("me")
			seen := do(t, s, c, sub)
			var done []ahp.Action
			state, _ := c.Terminal()
			for _, p := range state.Content {
				done = append(done, ahp.TerminalData{Data: []byte(p.Text.String())})
			}
			next, again := restored(t, s, c, done, mem)
			sub = next.NewSubscriber(false)
			sub.Identify("me")
			got := types(entries(sub.Reconnect([]*Channel{again}, seen, nil)))
			if got != "cleared data titleChanged resized claimed" &&
				got != "cleared data* titleChanged resized claimed" {
				t.Errorf("it gets %s", got)
			}
		})
	}
}

// A trail that does not fit the log, such as one that is older, is begun anew.
func TestATrailThatDoesNotFitTheLogIsNotBelieved(t *testing.T) {
	s, c, mem := trailed(t)
	sub := s.NewSubscriber(false)
	sub.Identify("me")
	post(t, sub, c)
	pullAll(sub)
	c.AppendData([]byte("one"))
	c.Append(ahp.TerminalTitleChanged{Title: "x"}, nil)
	c.AppendData([]byte("two"))
	seen := s.Seq()
	for name, done := range map[string][]ahp.Action{
		"less than was recorded": {ahp.TerminalData{Data: []byte("one")}},
		"nothing":                nil,
		"something else": {ahp.TerminalData{Data: []byte("o")}, ahp.TerminalTitleChanged{Title: "x"},
			ahp.TerminalData{Data: []byte("nextwo")}},
		"other output": {ahp.TerminalData{Data: []byte("one")}, ahp.TerminalTitleChanged{Title: "x"},
			ahp.TerminalData{Data: []byte("wo!")}},
		"another action": {ahp.TerminalData{Data: []byte("one")}, ahp.TerminalCleared{},
			ahp.TerminalData{Data: []byte("two")}},
	} {
		next, again := restored(t, s, c, done, slices.Clone(mem))
		sub := next.NewSubscriber(false)
		sub.Identify("me")
		got := types(entries(sub.Reconnect([]*Channel{again}, seen, nil)))
		if len(got) < 7 || got[:7] != "cleared" {
			t.Errorf("%s: it gets %s", name, got)
		}
	}
	for _, size := range []int{0, 8, TrailSize + 8} {
		if _, err := NewTrail(make([]byte, size)); err == nil {
			t.Errorf("a trail of %d bytes", size)
		}
	}
	if _, err := NewTrail(bytes.Repeat([]byte{1}, TrailSize)); err == nil {
		t.Error("something else is taken for a trail")
	}
}

// TestATrailWhoseWriterEndedInTheMiddleKeepsTheRest has a process end while it replaces the oldest
// entry: with the serverSeq only, and with the position as well.
func TestATrailWhoseWriterEndedInTheMiddleKeepsTheRest(t *testing.T) {
	for _, recorded := range []uint64{trailEntries, trailEntries + 5, 3 * trailEntries} {
		for _, words := range []int{1, 2} {
			trail, err := NewTrail(make([]byte, TrailSize))
			if err != nil {
				t.Fatal(err)
			}
			trail.begin(1)
			for seq := range recorded {
				trail.add(mark{seq: 10 + seq, end: int64(10 * (1 + seq))})
			}
			i := firstEntry + 2*int(recorded%trailEntries)
			trail.setWord(i, 10+recorded)
			if words == 2 {
				trail.setWord(i+1, 10*(1+recorded))
			}
			marks := trail.marks()
			if len(marks) != trailEntries-1 || marks[len(marks)-1].seq != 9+recorded {
				t.Errorf("of %d entries, %d are left", recorded, len(marks))
			}
		}
	}
}
