package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"termhost/ahp"
)

func newTerminal(t testing.TB, s *Store, name string) *Channel {
	t.Helper()
	c, err := s.Add(ahp.TerminalURI(name), ahp.TerminalState{Title: name, Claim: ahp.ClientClaim("c1"), IsPty: true})
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
		if _, err := sub.Subscribe(c); err != nil {
			t.Fatal(err)
		}
	}
	return sub
}

// pullAll pulls and has everything encoded, as a writer does.
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

// types returns what was pulled in short, such as "cleared data* exited".
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

const rebuilt = "cleared titleChanged claimed"

func TestAnEntryIsReadOnceInOrderAcrossChannels(t *testing.T) {
	s := New(Options{})
	var all []*Channel
	for i := range 20 {
		all = append(all, newTerminal(t, s, fmt.Sprint(i)))
	}
	sub := subscribed(t, s, all...)
	for i := range 1000 {
		all[i*7%20].AppendData(fmt.Appendf(nil, "%d;", i))
	}
	var got strings.Builder
	last := uint64(0)
	for {
		items := sub.Pull(nil, 3000)
		if len(items) == 0 {
			break
		}
		for _, it := range items {
			if it.Entry.Seq() <= last {
				t.Fatalf("%d after %d", it.Entry.Seq(), last)
			}
			last = it.Entry.Seq()
			got.Write(it.Entry.Action().(ahp.TerminalData).Data)
		}
	}
	var want strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&want, "%d;", i)
	}
	if got.String() != want.String() {
		t.Error("the order was lost")
	}
}

func TestALaggardIsResynchronisedThoughAnotherChannelIsBusy(t *testing.T) {
	s := New(Options{LogBytes: 4 << 10})
	busy, quiet := newTerminal(t, s, "busy"), newTerminal(t, s, "quiet")
	sub := subscribed(t, s, busy, quiet)
	for range 10 {
		quiet.AppendData(make([]byte, 1<<10)) // sub falls off
	}
	for range 20 { // busy never runs dry, sub just keeps up with it
		busy.AppendData([]byte("x"))
		busy.AppendData([]byte("x"))
		for _, it := range sub.Pull(nil, 1) {
			if it.Entry != nil && it.Entry.Channel() == quiet.URI() {
				return
			}
		}
	}
	t.Error("the busy channel held the resynchronisation up")
}

func TestAPostIsTheLastThatIsPulledAtOnce(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	sub := subscribed(t, s, c)
	c.AppendData([]byte("1"))
	sub.Post(func(dst []byte) []byte {
		sub.Skip(c) // what comes next is not seen
		return dst
	})
	c.AppendData([]byte("2"))
	items := sub.Pull(nil, 1<<20)
	if got := types(items); got != "data post" {
		t.Fatal(got)
	}
	write(items)
	if got := types(pullAll(sub)); got != "" {
		t.Error(got)
	}
}

func TestAnswersStandBetweenTheirViewsAndWhatFollows(t *testing.T) {
	s := New(Options{})
	c, other := newTerminal(t, s, "a"), newTerminal(t, s, "b")
	sub := subscribed(t, s, other)
	other.AppendData([]byte("before"))
	c.AppendData([]byte("old"))
	sub.Post(nothing)
	c.AppendData([]byte("er"))
	view, err := sub.Subscribe(c)
	if err != nil {
		t.Fatal(err)
	}
	c.AppendData([]byte("new"))
	other.AppendData([]byte("after"))
	items := pullAll(sub)
	if got := types(items); got != "data post data*" || len(items) != 4 {
		t.Fatal(got)
	}
	if items[2].Entry.Seq() <= view.Seq || view.Terminal.Content[0].Text.String() != "older" {
		t.Error("the view does not meet the stream")
	}

	sub.Close()
	sub.Post(nothing)
	sub.Answer(c.URI(), ahp.TerminalInput{}, nil, "")
	if sub.Pending() || len(pullAll(sub)) > 0 {
		t.Error("a closed subscriber was answered")
	}
	if _, err := sub.Subscribe(c); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	if sub.Reconnect([]*Channel{c}, 0, nil); len(c.links) != 0 {
		t.Error("a closed subscriber reads on")
	}
}

func TestRemoveReleasesReadersAfterTheRest(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	sub := subscribed(t, s, c)
	c.AppendData([]byte("x"))
	c.Append(ahp.TerminalExited{}, nil)
	c.Remove()
	c.Remove()
	if _, err := sub.Subscribe(c); !errors.Is(err, ErrGone) {
		t.Errorf("subscribe to what is gone: %v", err)
	}
	if s.Lookup(c.URI()) != nil || !sub.Subscribed(c) {
		t.Error("it is to be gone for new readers only")
	}
	if got := types(pullAll(sub)); got != "data exited" {
		t.Error(got)
	}
	if sub.Subscribed(c) || len(c.links) != 0 {
		t.Error("the reader was not released")
	}
	newTerminal(t, s, "a") // the URI is free
}

func TestARetiredTerminalsReadersReadOnUntilTheyFollowItsSuccessor(t *testing.T) {
	s := New(Options{})
	old := newTerminal(t, s, "a")
	stays, moves := subscribed(t, s, old), subscribed(t, s, old)
	old.Retire()
	successor := newTerminal(t, s, "a")
	if _, err := moves.Subscribe(successor); err != nil {
		t.Fatal(err)
	}
	old.Append(ahp.TerminalExited{}, nil)
	old.Remove()
	if s.Lookup(old.URI()) != successor {
		t.Error("removing the old one took the new one's URI")
	}
	if got := types(pullAll(stays)); got != "exited" {
		t.Error(got)
	}
	if got := types(pullAll(moves)); got != "" {
		t.Errorf("the successor's reader got %s of the old one", got)
	}
}

func TestOnlyTheOwnerSeesItsOutputAsSuch(t *testing.T) {
	s := New(Options{})
	c, err := s.Add("ahp-terminal:/a", ahp.TerminalState{Title: "a", Claim: ahp.ClientClaim("c1"), Client: true})
	if err != nil {
		t.Fatal(err)
	}
	owner, other := subscribed(t, s, c), subscribed(t, s, c)
	owner.Identify("c1")
	other.Identify("c2")
	seen := s.Seq()
	c.AppendData([]byte("h"))
	c.Append(ahp.TerminalTitleChanged{Title: "new"}, nil)
	c.AppendData([]byte("i"))
	c.Echo(ahp.TerminalOutput{Data: []byte("hi")}, &ahp.Origin{ClientID: "c1", ClientSeq: 4})
	const (
		title = `"channel":"ahp-terminal:/a","action":{"type":"terminal/titleChanged","title":"new"}` + "\n"
		echo  = `"channel":"ahp-terminal:/a","action":{"type":"terminal/output","data":"hi"},"origin":{"clientId":"c1","clientSeq":4}` + "\n"
		data  = `"channel":"ahp-terminal:/a","action":{"type":"terminal/data","data":"%s"}` + "\n"
	)
	for _, tc := range []struct {
		who  string
		sub  *Subscriber
		want string
	}{
		{"the owner", owner, title + echo},
		{"another", other, fmt.Sprintf(data, "h") + title + fmt.Sprintf(data, "i")},
	} {
		if got := bodies(entriesOf(tc.sub.Pull(nil, 1<<20))); got != tc.want {
			t.Errorf("%s got\n%swant\n%s", tc.who, got, tc.want)
		}
		if tc.sub.Pull(nil, 1); tc.sub.Pending() {
			t.Errorf("something is pending for %s that it may not read", tc.who)
		}
	}

	// An owner that comes back sees what it missed, as its own and once.
	synced := owner.Close()
	again := s.NewSubscriber(false)
	defer again.Close()
	again.Identify("c1")
	if got := bodies(again.Reconnect([]*Channel{c}, seen, synced)); got != title+echo {
		t.Errorf("the replay is\n%s", got)
	}
	if st, _ := c.Terminal(); textOf(&st) != "hi" {
		t.Errorf("the content is %q", textOf(&st))
	}
}

func entriesOf(items []Item) (list []*Entry) {
	for _, it := range items {
		list = append(list, it.Entry)
	}
	return list
}

// bodies returns the entries' envelopes without their numbers, a line each.
func bodies(list []*Entry) string {
	var b strings.Builder
	for _, e := range list {
		body, _, _ := strings.Cut(string(e.AppendEnvelope(nil, ahp.ShapeExitCode)), `,"serverSeq"`)
		b.WriteString(body[1:] + "\n")
	}
	return b.String()
}

func TestARawReaderThatFellOffIsToldToDraw(t *testing.T) {
	s := New(Options{LogBytes: 1 << 10})
	c := newTerminal(t, s, "a")
	sub := s.NewSubscriber(true)
	defer sub.Close()
	if err := sub.Follow(c); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		c.AppendData(make([]byte, 300))
	}
	if lag := sub.Lag(c); lag < c.LogBytes()/2 || lag > c.LogBytes() {
		t.Errorf("it lags by %d", lag)
	}
	items := sub.Pull(nil, 1<<20)
	if got := types(items); got != "lagged" || items[0].Lagged != c {
		t.Fatal(got)
	}
	c.AppendData([]byte("drawn"))
	sub.Skip(c)
	c.AppendData([]byte("live"))
	items = sub.Pull(nil, 1<<20)
	if got := types(items); got != "data" || string(items[0].Entry.Action().(ahp.TerminalData).Data) != "live" {
		t.Error(got)
	}
}

func TestLagIsInTheMeasureOfTheLog(t *testing.T) {
	s := New(Options{LogBytes: 64 << 10})
	c := newTerminal(t, s, "a")
	sub := s.NewSubscriber(true)
	defer sub.Close()
	if err := sub.Follow(c); err != nil {
		t.Fatal(err)
	}
	// A brake at half of the log must hold before anything is lost, however
	// small the appends are.
	for sub.Lag(c) <= c.LogBytes()/2 {
		c.AppendData([]byte("x"))
	}
	if items := sub.Pull(nil, 1<<30); types(items) != "data*" {
		t.Error(types(items))
	}
	if sub.Lag(c) == 0 || !sub.Pending() {
		t.Error("what was pulled counts until it has been written")
	}
	if sub.Pull(nil, 1); sub.Lag(c) != 0 || sub.Pending() {
		t.Error("everything has been written")
	}
}

func TestWrittenWaitsForTheStateToBeWritten(t *testing.T) {
	s := New(Options{LogBytes: 1 << 10})
	c := newTerminal(t, s, "a")
	sub := s.NewSubscriber(false)
	defer sub.Close()
	if sub.Written(c, 0) {
		t.Error("nobody knows what it does not follow")
	}
	sub.Post(nothing)
	if _, err := sub.Subscribe(c); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"the snapshot", "an action", "a resynchronisation"} {
		switch what {
		case "an action":
			c.AppendData([]byte("x"))
		case "a resynchronisation":
			for range 20 {
				c.AppendData(make([]byte, 100))
			}
		}
		seq := s.Seq()
		if sub.Written(c, seq) {
			t.Errorf("%s has not been pulled", what)
		}
		var n int
		for n = 0; len(sub.Pull(nil, 1)) > 0; n++ {
			if sub.Written(c, seq) {
				t.Errorf("%s has been pulled and not written", what)
			}
		}
		if n == 0 || !sub.Written(c, seq) {
			t.Errorf("%s has been written", what)
		}
	}
}

func TestSummaryAndTheRootsListAgreeWithTheStates(t *testing.T) {
	s := New(Options{})
	a, b := newTerminal(t, s, "a"), newTerminal(t, s, "b")
	a.List()
	a.List()
	b.List()
	sub := subscribed(t, s, a)
	a.Append(ahp.TerminalCommandExecuted{CommandID: "1", CommandLine: "make"}, nil)
	a.AppendData([]byte("x"))
	a.Append(ahp.TerminalClaimed{Claim: ahp.ClientClaim("c9")}, nil)
	sum := a.Summary()
	if sum.LastCommand != "make" || sum.Readers != 1 || sum.Title != "a" || sum.Claim != a.Claim() || a.Claim().ClientID != "c9" {
		t.Errorf("%+v", sum)
	}
	sub.Unsubscribe(a)
	b.Remove()
	s.PublishTerminals()
	view, err := sub.Subscribe(s.Root())
	if err != nil || len(view.Root.Terminals) != 1 || view.Root.Terminals[0] != sum.TerminalInfo {
		t.Errorf("%+v, %v", view.Root, err)
	}
}

func TestALaggardOfTheRootReadsTheNewestListAndNothingElse(t *testing.T) {
	s := New(Options{})
	sub := subscribed(t, s, s.Root())
	for range 5 {
		s.PublishTerminals()
	}
	newest := s.Seq()
	items := pullAll(sub)
	if types(items) != "terminalsChanged" || len(items) != 1 || items[0].Entry.Seq() != newest || s.Seq() != newest {
		t.Errorf("%s, %d items", types(items), len(items))
	}
}

func TestTheClipboardReachesRawReadersOnly(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	agent := subscribed(t, s, c)
	viewer := s.NewSubscriber(true)
	defer viewer.Close()
	if err := viewer.Follow(c); err != nil {
		t.Fatal(err)
	}
	c.AppendData([]byte("before"))
	c.SetClipboard([]byte("one"))
	c.SetClipboard([]byte("two"))
	c.AppendData([]byte("after"))
	items := pullAll(viewer)
	if len(items) != 3 || string(items[1].Entry.Action().(Clipboard).Sequence) != "two" {
		t.Errorf("%v", items)
	}
	if got := types(pullAll(agent)); got != "data*" {
		t.Error(got)
	}
}

func TestOfEachSelectionTheNewestWaits(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	viewer := s.NewSubscriber(true)
	defer viewer.Close()
	if err := viewer.Follow(c); err != nil {
		t.Fatal(err)
	}
	for _, seq := range []string{"\x1b]52;c;1\a", "\x1b]52;p;2\a", "\x1b]52;c;3\a", "\x1b]52;q;4\a", "\x1b]52;s;5\a"} {
		c.SetClipboard([]byte(seq))
	}
	var got []string
	for _, it := range pullAll(viewer) {
		got = append(got, string(it.Entry.Action().(Clipboard).Sequence))
	}
	if want := []string{"\x1b]52;c;3\a", "\x1b]52;q;4\a", "\x1b]52;s;5\a"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
