package store

import (
	"strconv"
	"testing"

	"termhost/ahp"
)

// Each mark stands where it was printed, and only viewers get it.
func TestMarksReachRawReadersInTheirPlaceAndNotWithoutEnd(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	agent := subscribed(t, s, c)
	viewer := s.NewSubscriber(true)
	defer viewer.Close()
	if err := viewer.Follow(c); err != nil {
		t.Fatal(err)
	}
	read := func(sub *Subscriber) (text string, marks int) {
		for items := sub.Pull(nil, 1<<20); len(items) > 0; items = sub.Pull(nil, 1<<20) {
			for _, it := range items {
				switch a := it.Entry.Action().(type) {
				case ahp.TerminalData:
					text += string(a.Data)
				case Mark:
					text += "<" + string(a.Sequence) + ">"
					marks++
				}
			}
		}
		return text, marks
	}
	c.Append(ahp.TerminalData{Data: []byte("one")}, nil)
	c.Mark([]byte("A"))
	c.Append(ahp.TerminalData{Data: []byte("$ ")}, nil)
	c.Mark([]byte("B"))
	c.Append(ahp.TerminalData{Data: []byte("two")}, nil)
	if text, _ := read(viewer); text != "one<A>$ <B>two" {
		t.Errorf("a viewer reads %q", text)
	}
	if text, _ := read(agent); text != "one$ two" {
		t.Errorf("an agent reads %q", text)
	}
	for i := range maxMarks + 10 {
		c.Mark([]byte(strconv.Itoa(i)))
	}
	if _, marks := read(viewer); marks != maxMarks {
		t.Errorf("%d marks waited, want %d", marks, maxMarks)
	}
}
