package store

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"termhost/ahp"
)

// retained counts how many bytes of a flood are still in memory.
type retained struct{ chunks []weak.Pointer[byte] }

// flood appends size bytes of output, each piece in memory of its own.
func (r *retained) flood(c *Channel, size int) {
	for range size / maxChunk {
		appendAll(c, make([]byte, maxChunk))
		newest := c.log.at(c.log.end() - 1).action.(ahp.TerminalData)
		r.chunks = append(r.chunks, weak.Make(&newest.Data[0]))
	}
}

func (r *retained) bytes() (n int) {
	runtime.GC()
	for _, p := range r.chunks {
		if p.Value() != nil {
			n += maxChunk
		}
	}
	return n
}

// A peer that subscribes and unsubscribes again and again while a terminal prints, and
// does not read, makes the host keep nothing but its answers.
func TestSnapshotsThatWaitForTheirWriterHoldNoOutput(t *testing.T) {
	const logBytes, contentBytes, rounds = 1 << 20, 1 << 20, 100
	s := New(Options{LogBytes: logBytes, ContentBytes: contentBytes})
	c := newTerminal(t, s, "a")
	sub := s.NewSubscriber(false)
	defer sub.Close()
	var out retained
	var last func() View
	for range rounds {
		last = post(t, sub, c)
		sub.Unsubscribe(c)
		out.flood(c, contentBytes)
	}
	if n := out.bytes(); n > logBytes+contentBytes+4*maxChunk {
		t.Errorf("%d snapshots wait, and %d bytes of output are held", rounds, n)
	}
	if sub.outbox.held != 0 {
		t.Errorf("the answers are said to hold %d bytes", sub.outbox.held)
	}
	items := pullAll(sub)
	st, seq := c.Terminal()
	if got := types(items); got != "post*" || len(items) != rounds {
		t.Errorf("of %d answers %d came: %s", rounds, len(items), got)
	}
	if v := last(); v.Seq != seq || textOf(v.Terminal) != textOf(&st) {
		t.Errorf("the last answer has the state at %d, not at %d", v.Seq, seq)
	}
	c.AppendData([]byte("x"))
	if sub.Pending() || sub.Subscribed(c) {
		t.Error("an answer has subscribed anew")
	}
}

// If a peer dispatches to a terminal before it has been sent the snapshot, the snapshot has
// to be taken early, so that the echo follows it. What such snapshots hold is counted.
func TestSnapshotsTakenEarlyFillTheRoomForAnswers(t *testing.T) {
	const contentBytes = maxHeld / 4
	s := New(Options{LogBytes: contentBytes, ContentBytes: contentBytes})
	c := newTerminal(t, s, "a")
	sub := s.NewSubscriber(false)
	defer sub.Close()
	sub.Identify("me")
	var out retained
	out.flood(c, contentBytes)
	rounds := 0
	for ; !sub.outbox.full(); rounds++ {
		if rounds > 8 {
			t.Fatal("there is room without end")
		}
		view := post(t, sub, c)
		title := ahp.TerminalTitleChanged{Title: fmt.Sprint(rounds)}
		c.Append(title, &ahp.Origin{ClientID: "me", ClientSeq: int64(rounds)})
		if rounds == 0 {
			items := pullAll(sub)
			if got := types(items); got != "post titleChanged" {
				t.Fatal(got)
			}
			v, echo := view(), items[1].Entry.Seq()
			if v.Terminal.Title != "a" || echo <= v.Seq {
				t.Errorf("the echo %d follows a snapshot at %d with the title %s",
					echo, v.Seq, v.Terminal.Title)
			}
			if o := &sub.outbox; o.held != 0 || o.answers != 0 {
				t.Errorf("%d answers are said to wait and hold %d bytes", o.answers, o.held)
			}
		}
		sub.Unsubscribe(c)
		out.flood(c, 2*contentBytes)
	}
	if n := out.bytes(); n > maxHeld+4*contentBytes {
		t.Errorf("%d bytes of output are held", n)
	}
	pullAll(sub)
	if o := &sub.outbox; o.held != 0 || o.answers != 0 {
		t.Errorf("%d answers are said to wait and hold %d bytes", o.answers, o.held)
	}
}

// A peer that subscribes to the same terminal several times gets the same snapshot several times,
// if that is taken early.
func TestSnapshotsOfOneStateAreHeldOnce(t *testing.T) {
	s := New(Options{ContentBytes: maxHeld})
	c := newTerminal(t, s, "a")
	sub := s.NewSubscriber(false)
	defer sub.Close()
	sub.Identify("me")
	var out retained
	out.flood(c, maxHeld/2)
	var views []func() View
	for range 3 {
		views = append(views, post(t, sub, c))
	}
	c.Append(ahp.TerminalTitleChanged{Title: "new"}, &ahp.Origin{ClientID: "me", ClientSeq: 1})
	if size := c.content.size(); sub.outbox.held != size {
		t.Errorf("%d bytes are said to be held, not %d", sub.outbox.held, size)
	}
	items := pullAll(sub)
	if got := types(items); got != "post* titleChanged" || len(items) != 4 {
		t.Errorf("%d items: %s", len(items), got)
	}
	for i, view := range views {
		if v := view(); v.Seq != views[0]().Seq || v.Terminal.Title != "a" {
			t.Errorf("snapshot %d is of %d and has the title %s", i, v.Seq, v.Terminal.Title)
		}
	}
	if sub.outbox.held != 0 {
		t.Errorf("no answer waits, and they are said to hold %d bytes", sub.outbox.held)
	}
}

func TestLargeAnswersFillTheRoomForAnswers(t *testing.T) {
	for name, answer := range map[string]func(*Subscriber, []byte){
		"rejections": func(sub *Subscriber, p []byte) {
			sub.Answer("x:/a", ahp.Unknown{Name: "x", Raw: p}, &ahp.Origin{ClientID: "me"}, "no")
		},
		"results": func(sub *Subscriber, p []byte) {
			sub.Post(func(dst []byte) []byte { return append(dst, p...) }, len(p))
		},
	} {
		t.Run(name, func(t *testing.T) {
			sub := New(Options{}).NewSubscriber(false)
			defer sub.Close()
			for i := range 4 {
				if sub.outbox.full() {
					t.Fatalf("%d answers fill it", i)
				}
				answer(sub, make([]byte, maxHeld/4))
			}
			if !sub.outbox.full() {
				t.Errorf("%d bytes do not fill it", sub.outbox.held)
			}
			if pullAll(sub); sub.outbox.held != 0 {
				t.Errorf("no answer waits, and they are said to hold %d bytes", sub.outbox.held)
			}
		})
	}
}

// A reader that falls off the logs of many terminals is sent one state after the other, and
// no more than one of them waits in memory.
func TestTheOutboxHoldsTheRebuildingActionsOfOneChannel(t *testing.T) {
	const terminals, contentBytes = 20, 256 << 10
	s := New(Options{LogBytes: 128 << 10, ContentBytes: contentBytes})
	var all []*Channel
	for i := range terminals {
		all = append(all, newTerminal(t, s, fmt.Sprint(i)))
	}
	sub := subscribed(t, s, all...)
	var out retained
	for _, c := range all {
		out.flood(c, contentBytes)
	}
	rebuilt := map[string]bool{}
	last := uint64(0)
	for {
		items := sub.Pull(nil, 4<<10)
		if len(items) == 0 {
			break
		}
		for _, it := range items {
			if it.Entry.Seq() <= last {
				t.Fatalf("%d after %d", it.Entry.Seq(), last)
			}
			last = it.Entry.Seq()
			if _, ok := it.Entry.Action().(ahp.TerminalCleared); ok {
				rebuilt[it.Entry.Channel()] = true
			}
		}
		waiting := map[string]bool{}
		for _, it := range sub.outbox.items {
			waiting[it.item.Entry.Channel()] = true
		}
		if len(waiting) > 1 {
			t.Fatalf("the states of %d terminals wait", len(waiting))
		}
	}
	if len(rebuilt) != terminals {
		t.Errorf("of %d terminals %d were rebuilt", terminals, len(rebuilt))
	}
}
