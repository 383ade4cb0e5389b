package store

import (
	"testing"
)

func TestWrittenWaitsForTheStateToBeWritten(t *testing.T) {
	s := New(Options{LogBytes: 1 << 10})
	c := newTerminal(t, s, "a")
	sub := s.NewSubscriber(false)
	defer sub.Close()
	if sub.Written(c, 0) {
		t.Error("nobody knows what it does not follow")
	}
	post(t, sub, c)
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
		for n = 0; ; n++ {
			items := sub.Pull(nil, 1)
			if len(items) == 0 {
				break
			}
			write(items)
			if sub.Written(c, seq) {
				t.Errorf("%s has been pulled and not written", what)
			}
		}
		if n == 0 || !sub.Written(c, seq) {
			t.Errorf("%s has been written", what)
		}
	}
}

func TestWhatWasInheritedIsNotWrittenBeforeItIsRebuilt(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	sub := s.NewSubscriber(false)
	defer sub.Close()
	sub.Inherit([]*Channel{c})
	if sub.Written(c, s.Seq()) {
		t.Error("its peer knows nothing of it yet")
	}
	pullAll(sub)
	if !sub.Written(c, s.Seq()) {
		t.Error("it has been rebuilt")
	}
}
