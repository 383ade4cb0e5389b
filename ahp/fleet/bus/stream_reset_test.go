package bus

import (
	"errors"
	"testing"
)

// A peer that breaks the rules acknowledges, asks again and resets at the worst moment: while a
// Write has taken its bytes and not sent them.
func TestAResetBesideAWriteLeavesNothingToSendAgain(t *testing.T) {
	var w Network
	n, err := New("a", w.Connect("a"), Handlers{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	s := newStream(n, streamKey{"b", 1, true})
	s.sending.Lock()
	if _, got, err := s.reserve([]byte("hello")); got != 5 || err != nil {
		t.Fatalf("%d bytes are taken: %v", got, err)
	}
	s.receive(frame{kind: missed})
	s.fail(errors.New("reset"))
	if s.base != s.next || len(s.unsent) != 0 {
		t.Errorf("%d bytes are to be sent again, of which %d are kept", s.next-s.base, len(s.unsent))
	}
	s.receive(frame{kind: credited, a: s.next})
	s.resend()
	s.unlock()
}
