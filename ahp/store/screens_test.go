package store

import (
	"strings"
	"testing"

	"termhost/ahp"
)

// lagged pulls until the subscriber has fallen behind, and returns what came before that.
func lagged(t *testing.T, sub *Subscriber, c *Channel) (before []Item) {
	t.Helper()
	items := sub.Pull(nil, 1<<20)
	if n := len(items); n == 0 || items[n-1].Lagged != c {
		t.Fatalf("it reads %s", types(items))
	}
	return items[:len(items)-1]
}

func TestAReaderThatWantsScreensIsResynchronisedByOne(t *testing.T) {
	s := New(Options{LogBytes: 4 << 10, ContentBytes: 64 << 10})
	c := newTerminal(t, s, "a")
	sub := subscribed(t, s, c)
	sub.Identify("c2")
	sub.WantScreens()
	pullAll(sub)
	c.Append(ahp.TerminalResized{Cols: 90, Rows: 30}, nil)
	for _, id := range []string{"one", "two", "three"} {
		c.Append(ahp.TerminalCommandExecuted{CommandID: id, CommandLine: id}, nil)
		c.AppendData([]byte(strings.Repeat("output ", 700)))
		c.Append(ahp.TerminalCommandFinished{CommandID: id}, nil)
	}
	// Its own action, of which it waits for the echo.
	c.Append(ahp.TerminalClaimed{Claim: ahp.ClientClaim("c2")}, &ahp.Origin{ClientID: "c2", ClientSeq: 7})
	if before := lagged(t, sub, c); len(before) > 0 {
		t.Errorf("before it is drawn it reads %s", types(before))
	}
	sub.Redraw(c, []byte("the screen"), 2)
	c.AppendData([]byte("more"))
	items := pullAll(sub)
	if got := types(items); got != "claimed cleared commandDetectionAvailable resized data commandExecuted commandFinished commandExecuted "+
		"commandFinished titleChanged claimed data" {
		t.Errorf("it reads %s", got)
	}
	if items[0].Entry.origin == nil || items[0].Entry.origin.ClientSeq != 7 {
		t.Error("its action is not answered")
	}
	if got := string(dataOf(items[4])); got != ahp.ClearScreen+"the screen" {
		t.Errorf("it is drawn by %q", got)
	}
	if got := items[5].Entry.Action().(ahp.TerminalCommandExecuted).CommandID; got != "two" {
		t.Errorf("the first of two commands is %s", got)
	}
	for i := 1; i < len(items); i++ {
		if items[i].Entry.Seq() <= items[i-1].Entry.Seq() {
			t.Errorf("serverSeq falls from %d to %d", items[i-1].Entry.Seq(), items[i].Entry.Seq())
		}
	}
}

// A terminal of another size is drawn: each lays out its lines in a way of its own.
func TestAReaderThatWantsScreensIsDrawnAnotherSize(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	sub, other := subscribed(t, s, c), subscribed(t, s, c)
	sub.Identify("c2")
	sub.WantScreens()
	pullAll(sub)
	pullAll(other)
	c.AppendData([]byte("before"))
	resize := ahp.TerminalResized{Cols: 90, Rows: 30}
	c.Append(resize, &ahp.Origin{ClientID: "c2", ClientSeq: 7})
	c.AppendData([]byte("after"))
	c.Append(ahp.TerminalTitleChanged{Title: "t"}, &ahp.Origin{ClientID: "c2", ClientSeq: 8})
	before := lagged(t, sub, c)
	if got := types(before); got != "data resized" || before[1].Entry.origin.ClientSeq != 7 {
		t.Errorf("it reads %s", got)
	}
	sub.Redraw(c, []byte("the screen"), 0)
	c.AppendData([]byte("more"))
	items := pullAll(sub)
	if got := types(items); got != "titleChanged cleared resized data titleChanged claimed data" {
		t.Errorf("then it reads %s", got)
	}
	if got := string(dataOf(items[3])); got != ahp.ClearScreen+"the screen" {
		t.Errorf("it is drawn by %q", got)
	}
	if got := types(pullAll(other)); got != "data resized data titleChanged data" {
		t.Errorf("another reader reads %s", got)
	}
}

// What is left to read is told, and can be left out before it has fallen off the log.
func TestAReaderIsDrawnAScreenBeforeItHasFallenBehind(t *testing.T) {
	s := New(Options{})
	a, b := newTerminal(t, s, "a"), newTerminal(t, s, "b")
	sub := subscribed(t, s, a, b)
	sub.Identify("c2")
	sub.WantScreens()
	pullAll(sub)
	a.Append(ahp.TerminalTitleChanged{Title: "t"}, &ahp.Origin{ClientID: "c2", ClientSeq: 1})
	first := sub.Pull(nil, 1) // its echo is sent
	a.Append(ahp.TerminalTitleChanged{Title: "u"}, &ahp.Origin{ClientID: "c2", ClientSeq: 2})
	a.AppendData(make([]byte, 10<<10))
	b.AppendData(make([]byte, 1<<10))
	if list := sub.Behind(8 << 10); len(list) != 1 || list[0] != a {
		t.Fatalf("%d terminals are far behind", len(list))
	}
	sub.Redraw(a, []byte("the screen"), 0)
	if list := sub.Behind(8 << 10); len(list) != 0 {
		t.Errorf("%d terminals are far behind after that", len(list))
	}
	var seqs []int64
	rest := pullAll(sub)
	for _, it := range append(first, rest...) {
		if o := it.Entry.origin; o != nil {
			seqs = append(seqs, o.ClientSeq)
		}
	}
	if len(seqs) != 2 || seqs[0] != 1 || seqs[1] != 2 {
		t.Errorf("the actions %v are answered", seqs)
	}
	if got := types(rest); got != "data titleChanged cleared data titleChanged claimed" {
		t.Errorf("it reads %s", got)
	}
}

// Where the state was taken before the client's own action, the screen is drawn behind the answer.
func TestAScreenThatIsNotFreshFollowsTheAnswer(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	sub := s.NewSubscriber(false)
	t.Cleanup(func() { sub.Close() })
	sub.Identify("c2")
	sub.WantScreens()
	var fresh []bool
	ask := func() {
		t.Helper()
		if err := sub.SubscribeScreen(c, func(take func() (View, bool)) View {
			v, f := take()
			fresh = append(fresh, f)
			return v
		}, func(dst []byte, v View) []byte { return dst }); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	c.AppendData([]byte("x")) // from the program
	pullAll(sub)
	ask()
	c.Append(ahp.TerminalTitleChanged{Title: "t"}, &ahp.Origin{ClientID: "c2", ClientSeq: 1})
	write(sub.Pull(nil, 1<<20))
	before := lagged(t, sub, c)
	sub.Redraw(c, []byte("the screen"), 0)
	if len(fresh) != 2 || !fresh[0] || fresh[1] {
		t.Errorf("the states are fresh: %v", fresh)
	}
	if got := types(append(before, pullAll(sub)...)); got != "titleChanged cleared data titleChanged claimed" {
		t.Errorf("it reads %s", got)
	}
}

// A client that comes back is not sent again all that it has missed.
func TestAReaderThatWantsScreensComesBackToOne(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	sub := subscribed(t, s, c)
	sub.Identify("c2")
	pullAll(sub)
	seen := c.Append(ahp.TerminalTitleChanged{Title: "t"}, nil)
	pullAll(sub)
	synced := sub.Close()
	back := func(missed int) string {
		c.AppendData(make([]byte, missed))
		sub := s.NewSubscriber(false)
		defer sub.Close()
		sub.Identify("c2")
		sub.WantScreens()
		list := entries(sub.Reconnect([]*Channel{c}, seen, synced))
		return types(append(list, sub.Pull(nil, 1<<20)...))
	}
	if got := back(100); got != "data" {
		t.Errorf("of little it has missed it reads %s", got)
	}
	if got := back(screenReplay); got != "lagged" {
		t.Errorf("of much it has missed it reads %s", got)
	}
}
