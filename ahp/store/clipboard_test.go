package store

import (
	"slices"
	"testing"
)

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
	for _, seq := range []string{"c;1", "p;2", "c;3", "q;4", "s;5"} {
		c.SetClipboard([]byte("\x1b]52;" + seq + "\a"))
	}
	var got []string
	for _, it := range pullAll(viewer) {
		got = append(got, string(it.Entry.Action().(Clipboard).Sequence))
	}
	want := []string{"\x1b]52;c;3\a", "\x1b]52;q;4\a", "\x1b]52;s;5\a"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestANotificationReachesRawReadersOnlyAndOneWaits(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	agent := subscribed(t, s, c)
	viewer := s.NewSubscriber(true)
	defer viewer.Close()
	if err := viewer.Follow(c); err != nil {
		t.Fatal(err)
	}
	c.SetClipboard([]byte("\x1b]52;c;1\a"))
	for _, seq := range []string{"one", "two", "three"} {
		c.Notify([]byte(seq))
	}
	var got []string
	for _, it := range pullAll(viewer) {
		seq, ok := it.HolderOnly()
		if !ok {
			t.Errorf("%v", it)
		}
		got = append(got, string(seq))
	}
	if want := []string{"\x1b]52;c;1\a", "three"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := types(pullAll(agent)); got != "" {
		t.Error(got)
	}
}
