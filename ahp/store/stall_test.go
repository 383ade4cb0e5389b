package store

import (
	"fmt"
	"strings"
	"testing"

	"termhost/ahp"
)

func nothingOwn(string) bool { return false }

// pulled pulls everything, and has what is read be in the order of serverSeq.
func pulled(t *testing.T, sub *Subscriber, last *uint64) []Item {
	t.Helper()
	all := pullAll(sub)
	for _, it := range all {
		if it.Entry == nil {
			continue
		}
		if it.Entry.seq <= *last {
			t.Errorf("%d comes after %d", it.Entry.seq, *last)
		}
		*last = it.Entry.seq
	}
	return all
}

// What a subscriber that stalls reads before output, it reads in the order of serverSeq all the
// same: the output becomes the state that it leads to.
func TestAnswersAndTheRootOvertakeOutputThatStalls(t *testing.T) {
	s := New(Options{})
	a, b := newTerminal(t, s, "a"), newTerminal(t, s, "b")
	sub := subscribed(t, s, s.Root(), a, b)
	sub.Identify("c1")
	var last uint64
	pulled(t, sub, &last)
	appendAll(a, []byte("early"))
	if sub.Stall(nothingOwn) {
		t.Error("there is something besides output")
	}
	if got := types(pulled(t, sub, &last)); got != "data" {
		t.Errorf("with nothing else to read, it reads %s", got)
	}
	appendAll(a, []byte("first"))
	sub.Post(func(dst []byte) []byte { return dst }, 0)
	sub.Answer(a.URI(), ahp.TerminalResized{Cols: 1, Rows: 1}, &ahp.Origin{ClientID: "c1"}, "no")
	newTerminal(t, s, "c")
	s.PublishTerminals()
	if !sub.Stall(nothingOwn) {
		t.Error("there is nothing besides output")
	}
	if got := types(pulled(t, sub, &last)); got != "post resized terminalsChanged" {
		t.Errorf("it reads %s", got)
	}
	appendAll(b, []byte("later"))
	sub.Flow()
	items := pulled(t, sub, &last)
	text := map[string]string{}
	for _, it := range items {
		if _, ok := it.Entry.Action().(ahp.TerminalData); ok {
			text[it.Entry.Channel()] += string(dataOf(it))
		}
	}
	if text[b.URI()] != "later" || text[a.URI()] != ahp.ClearScreen+"earlyfirst" {
		t.Errorf("then it reads %q: %s", text, types(items))
	}
}

// What other hosts say is passed on behind what has overtaken it, with numbers that rise.
func TestWhatIsPassedOnStallsInItsOrder(t *testing.T) {
	s := New(Options{})
	sub := subscribed(t, s)
	var got []string
	var last uint64
	pass := func(name string) {
		sub.PassOn(func(dst []byte, seq uint64) []byte {
			if got = append(got, name); seq <= last {
				t.Errorf("%s has %d, after %d", name, seq, last)
			}
			last = seq
			return dst
		}, false)
	}
	answer := func() {
		sub.Post(func(dst []byte) []byte { got = append(got, "answer"); return dst }, 0)
	}
	pass("one")
	answer()
	if !sub.Stall(nothingOwn) {
		t.Error("there is nothing besides output")
	}
	pass("two")
	pullAll(sub)
	sub.Flow()
	pass("three")
	answer()
	pullAll(sub)
	if want := "answer one two three answer"; strings.Join(got, " ") != want {
		t.Errorf("it reads %s", got)
	}
}

// The peer may have seen what came later than output that it has not got.
func TestAStalledClientThatReconnectsGetsWhatWasOvertaken(t *testing.T) {
	s := New(Options{})
	a := newTerminal(t, s, "a")
	sub := subscribed(t, s, s.Root(), a)
	sub.Identify("c1")
	pullAll(sub)
	appendAll(a, []byte("missed"))
	newTerminal(t, s, "c")
	s.PublishTerminals()
	sub.Stall(nothingOwn)
	items := pullAll(sub)
	seen := items[len(items)-1].Entry.seq
	again := s.NewSubscriber(false)
	defer again.Close()
	again.Identify("c1")
	replay := again.Reconnect([]*Channel{a}, seen, sub.Close())
	if text := bodies(replay); !strings.Contains(text, "missed") {
		t.Errorf("it gets %s", text)
	}
}

// A state that is being read when the subscriber stalls is read anew, whole.
func TestAResynchronisationThatStallsBeginsAnew(t *testing.T) {
	s := New(Options{LogBytes: 8 << 10, ContentBytes: 1 << 20})
	a := newTerminal(t, s, "a")
	sub := subscribed(t, s, a)
	var last uint64
	for i := range 1000 {
		appendAll(a, fmt.Appendf(nil, "line %d\n", i))
	}
	write(sub.Pull(nil, 1000))
	sub.Post(func(dst []byte) []byte { return dst }, 0)
	if !sub.Stall(nothingOwn) {
		t.Error("there is nothing besides output")
	}
	if got := types(pulled(t, sub, &last)); got != "post" {
		t.Errorf("it reads %s", got)
	}
	sub.Flow()
	var text strings.Builder
	for _, it := range pulled(t, sub, &last) {
		switch d := it.Entry.Action().(type) {
		case ahp.TerminalCleared:
			text.Reset()
		case ahp.TerminalData:
			text.Write(d.Data)
		}
	}
	st, _ := a.Terminal()
	if got := strings.TrimPrefix(text.String(), ahp.ClearScreen); got != textOf(&st) {
		t.Errorf("there are %d bytes", len(got))
	}
}

// A channel with flow control of its own is read on.
func TestAChannelWithItsOwnFlowControlDoesNotStall(t *testing.T) {
	s := New(Options{})
	a, b := newTerminal(t, s, "a"), newTerminal(t, s, "b")
	sub := subscribed(t, s, a, b)
	pullAll(sub)
	appendAll(a, []byte("stalls"))
	appendAll(b, []byte("goes on"))
	if !sub.Stall(func(uri string) bool { return uri == b.URI() }) {
		t.Error("there is nothing besides output")
	}
	if items := pullAll(sub); len(items) != 1 || string(dataOf(items[0])) != "goes on" {
		t.Errorf("it reads %s", types(items))
	}
	sub.Unsubscribe(a)
	sub.Flow()
	if items := pullAll(sub); len(items) != 0 {
		t.Errorf("then it reads %s", types(items))
	}
}
