package store

import (
	"testing"

	"termhost/ahp"
)

// texts returns the output of items.
func texts(items []Item) (text string) {
	for _, it := range items {
		text += string(dataOf(it))
	}
	return text
}

func TestAHeldChannelStandsStillAndOthersGoOn(t *testing.T) {
	s := New(Options{})
	a, b := newTerminal(t, s, "a"), newTerminal(t, s, "b")
	sub := subscribed(t, s, a, b)
	defer sub.Close()
	pullAll(sub)
	a.AppendData([]byte("1"))
	seq := s.Seq()
	items := sub.Pull(nil, 100)
	if got := texts(items); got != "1" {
		t.Fatalf("it reads %q", got)
	}
	sub.Hold(a.URI(), HeldUnsent)
	a.AppendData([]byte("2"))
	b.AppendData([]byte("3"))
	if got := texts(pullAll(sub)); got != "3" {
		t.Errorf("with one channel held it reads %q", got)
	}
	if sub.Written(a, seq) || !sub.Written(b, s.Seq()) {
		t.Error("what was pulled of the held channel counts as written")
	}
	sub.Hold(a.URI(), NotHeld)
	if !sub.Written(a, seq) {
		t.Error("what was pulled before is still unwritten")
	}
	if got := texts(pullAll(sub)); got != "2" {
		t.Errorf("then it reads %q", got)
	}
	if !sub.Written(a, s.Seq()) || sub.Pending() {
		t.Error("there is something left")
	}
}

func TestAHeldChannelThatFallsBehindIsResynchronised(t *testing.T) {
	s := New(Options{LogBytes: 1 << 10})
	c := newTerminal(t, s, "a")
	sub := subscribed(t, s, c)
	defer sub.Close()
	pullAll(sub)
	sub.Hold(c.URI(), HeldUnsent)
	for range 40 {
		c.AppendData(make([]byte, 100))
	}
	if items := pullAll(sub); len(items) != 0 {
		t.Fatalf("a held channel is read: %s", types(items))
	}
	sub.Hold(c.URI(), NotHeld)
	items := pullAll(sub)
	if len(items) == 0 || items[0].Entry.Action().Type() != "terminal/cleared" {
		t.Errorf("it reads %s", types(items))
	}
}

func TestAHeldChannelMayEndOrBeginAnew(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	sub := subscribed(t, s, c)
	defer sub.Close()
	pullAll(sub)
	sub.Hold(c.URI(), HeldUnsent)
	sub.Hold("ahp-terminal:/other", HeldUnsent)
	c.AppendData([]byte("1"))
	subscribe(t, sub, c) // the snapshot has it
	c.AppendData([]byte("2"))
	sub.Hold(c.URI(), NotHeld)
	if got := texts(pullAll(sub)); got != "2" {
		t.Errorf("after another snapshot it reads %q", got)
	}
	sub.Hold(c.URI(), HeldUnsent)
	sub.Unsubscribe(c)
	if sub.Pending() {
		t.Error("a channel that nobody follows is pending")
	}
	subscribe(t, sub, c)
	sub.Hold(c.URI(), HeldUnsent)
	c.AppendData([]byte("3"))
	c.Remove()
	sub.Hold(c.URI(), NotHeld)
	if got := texts(pullAll(sub)); got != "3" || sub.Count() != 0 {
		t.Errorf("of a channel that was removed it reads %q, and follows %d", got, sub.Count())
	}
}

func TestAfterUnsubscribingNothingRebuildsTheState(t *testing.T) {
	s := New(Options{LogBytes: 1 << 10})
	a, b := newTerminal(t, s, "a"), newTerminal(t, s, "b")
	sub := subscribed(t, s, a, b)
	defer sub.Close()
	pullAll(sub)
	for range 40 {
		a.AppendData(make([]byte, 100))
		b.AppendData(make([]byte, 100))
	}
	items := sub.Pull(nil, 1) // the rest of its state waits
	if got := types(items); got != "cleared" {
		t.Fatalf("it reads %s", got)
	}
	first, second := a, b
	if items[0].Entry.Channel() == b.URI() {
		first, second = b, a
	}
	sub.Answer(first.URI(), ahp.TerminalResized{}, &ahp.Origin{ClientID: "c"}, "no")
	sub.Unsubscribe(first)
	rebuilt := false
	for _, it := range pullAll(sub) {
		if it.Entry.Channel() == first.URI() && it.Entry.rejection == "" {
			t.Errorf("of what is not followed any more there is %s", types([]Item{it}))
		}
		rebuilt = rebuilt || it.Entry.Channel() == second.URI()
	}
	if !rebuilt || sub.outbox.rebuilding != 0 {
		t.Errorf("the other is rebuilt: %t; %d actions are left", rebuilt, sub.outbox.rebuilding)
	}
}
