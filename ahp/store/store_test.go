package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"termhost/ahp"
)

const rebuilt = "cleared data titleChanged claimed"

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
			got.Write(dataOf(it))
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
	}, 0)
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
	view := post(t, sub, c)
	c.AppendData([]byte("er"))
	other.AppendData([]byte("after"))
	items := sub.Pull(nil, 1<<20)
	if got := types(items); got != "data post" {
		t.Fatal(got)
	}
	c.AppendData([]byte("!")) // the writer has not got to the answer yet
	write(items)
	c.AppendData([]byte("new"))
	items = pullAll(sub)
	if got := types(items); got != "data*" || len(items) != 2 {
		t.Fatal(got)
	}
	if v := view(); items[1].Entry.Seq() <= v.Seq || textOf(v.Terminal) != "older!" {
		t.Error("the view does not meet the stream")
	}

	sub.Close()
	sub.Post(nothing, 0)
	sub.Answer(c.URI(), ahp.TerminalInput{}, nil, "")
	if sub.Pending() || len(pullAll(sub)) > 0 {
		t.Error("a closed subscriber was answered")
	}
	if err := sub.Subscribe(c, nil); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	if sub.Reconnect([]*Channel{c}, 0, nil); len(c.cursors) != 0 {
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
	if err := sub.Subscribe(c, nil); !errors.Is(err, ErrGone) {
		t.Errorf("subscribe to what is gone: %v", err)
	}
	if s.Lookup(c.URI()) != nil || !sub.Subscribed(c) {
		t.Error("it is to be gone for new readers only")
	}
	if got := types(pullAll(sub)); got != "data exited" {
		t.Error(got)
	}
	if sub.Subscribed(c) || len(c.cursors) != 0 {
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
	subscribe(t, moves, successor)
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
	c := newOwned(t, s)
	owner, other := subscribed(t, s, c), subscribed(t, s, c)
	owner.Identify("c1")
	other.Identify("c2")
	seen := s.Seq()
	c.AppendData([]byte("h"))
	c.Append(ahp.TerminalTitleChanged{Title: "new"}, nil)
	c.AppendData([]byte("i"))
	c.Echo(ahp.TerminalOutput{Data: []byte("hi")}, &ahp.Origin{ClientID: "c1", ClientSeq: 4})
	const (
		on    = `"channel":"ahp-terminal:/a","action":`
		title = on + `{"type":"terminal/titleChanged","title":"new"}` + "\n"
		echo  = on + `{"type":"terminal/output","data":"hi"},` +
			`"origin":{"clientId":"c1","clientSeq":4}` + "\n"
		data = on + `{"type":"terminal/data","data":"%s"}` + "\n"
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
	if got := types(items); got != "data" || string(dataOf(items[0])) != "live" {
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
	// Backpressure at half of the log must hold before anything is lost, however
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

func TestSummaryAndTheRootsListAgreeWithTheStates(t *testing.T) {
	s := New(Options{})
	a, b := newTerminal(t, s, "a"), newTerminal(t, s, "b")
	a.List()
	a.List()
	b.List()
	sub := subscribed(t, s, a)
	a.Append(ahp.TerminalCommandExecuted{CommandID: "1", CommandLine: "make", By: "ann"}, nil)
	a.AppendData([]byte("x"))
	a.Append(ahp.TerminalClaimed{Claim: ahp.ClientClaim("c9")}, nil)
	sum := a.Summary()
	if sum.LastCommand.Line != "make" || sum.LastCommand.By != "ann" || sum.Readers != 1 || sum.Title != "a" {
		t.Errorf("%+v", sum)
	}
	if sum.Claim != a.Claim() || sum.Claim.ClientID != "c9" {
		t.Errorf("the claim is %+v", sum.Claim)
	}
	sub.Unsubscribe(a)
	b.Remove()
	s.PublishTerminals()
	list := subscribe(t, sub, s.Root()).Root.Terminals
	if len(list) != 1 || list[0] != sum.TerminalInfo {
		t.Errorf("%+v", list)
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
	if types(items) != "terminalsChanged" || len(items) != 1 {
		t.Fatalf("%s, %d items", types(items), len(items))
	}
	if items[0].Entry.Seq() != newest || s.Seq() != newest {
		t.Errorf("it is of %d and not of %d, the newest", items[0].Entry.Seq(), newest)
	}
}
