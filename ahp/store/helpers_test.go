package store

import (
	"strings"
	"testing"

	"termhost/ahp"
)

func newTerminal(t testing.TB, s *Store, name string) *Channel {
	t.Helper()
	st := ahp.TerminalState{Title: name, Claim: ahp.ClientClaim("c1"), IsPty: true}
	c, err := s.Add(ahp.TerminalURI(name), st)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newOwned makes a terminal that the client c1 executes.
func newOwned(t testing.TB, s *Store) *Channel {
	t.Helper()
	st := ahp.TerminalState{Title: "a", Claim: ahp.ClientClaim("c1"), Client: true}
	c, err := s.Add("ahp-terminal:/a", st)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func subscribed(t testing.TB, s *Store, channels ...*Channel) *Subscriber {
	t.Helper()
	sub := s.NewSubscriber(false)
	t.Cleanup(func() { sub.Close() })
	for _, c := range channels {
		subscribe(t, sub, c)
	}
	return sub
}

// subscribe subscribes to c and has the answer written at once.
func subscribe(t testing.TB, sub *Subscriber, c *Channel) View {
	t.Helper()
	sn := sub.SubscribeAll([]*Channel{c})
	views, seq := sn.Start()
	if len(views) != 1 || views[0].Seq != seq || views[0].URI != c.URI() {
		t.Fatalf("%d views at %d", len(views), seq)
	}
	return views[0]
}

// post subscribes to c. view returns what is in the answer, once that has been written.
func post(t testing.TB, sub *Subscriber, c *Channel) (view func() View) {
	t.Helper()
	var got View
	err := sub.Subscribe(c, func(dst []byte, v View) []byte { got = v; return dst })
	if err != nil {
		t.Fatal(err)
	}
	return func() View { return got }
}

// pullAll pulls and encodes everything, as a writer does.
func pullAll(sub *Subscriber) []Item {
	var all []Item
	for {
		items := sub.Pull(nil, 1<<20)
		if len(items) == 0 {
			return all
		}
		write(items)
		all = append(all, items...)
	}
}

func write(items []Item) {
	for _, it := range items {
		switch {
		case it.Post != nil:
			it.Post(nil)
		case it.Entry != nil:
			it.Entry.AppendEnvelope(nil, ahp.ShapeLifecycle)
		}
	}
}

// types sums up what was pulled, such as "cleared data* exited".
func types(items []Item) string {
	var b []string
	for _, it := range items {
		name := "post"
		switch {
		case it.Entry != nil:
			_, name, _ = strings.Cut(it.Entry.Action().Type(), "/")
		case it.Lagged != nil:
			name = "lagged"
		}
		if n := len(b); n > 0 && strings.TrimSuffix(b[n-1], "*") == name {
			b[n-1] = name + "*"
			continue
		}
		b = append(b, name)
	}
	return strings.Join(b, " ")
}

func entries(list []*Entry) []Item {
	var items []Item
	for _, e := range list {
		items = append(items, Item{Entry: e})
	}
	return items
}

func entriesOf(items []Item) (list []*Entry) {
	for _, it := range items {
		list = append(list, it.Entry)
	}
	return list
}

// bodies returns the entries' envelopes without their serverSeqs, a line each.
func bodies(list []*Entry) string {
	var b strings.Builder
	for _, e := range list {
		body, _, _ := strings.Cut(string(e.AppendEnvelope(nil, ahp.ShapeExitCode)), `,"serverSeq"`)
		b.WriteString(body[1:] + "\n")
	}
	return b.String()
}

// dataOf returns the output that an item carries.
func dataOf(it Item) []byte { return it.Entry.Action().(ahp.TerminalData).Data }
