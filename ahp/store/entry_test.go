package store

import (
	"bytes"
	"fmt"
	"testing"

	"termhost/ahp"
)

// Entries that look the same on the wire could share an encoding but for their serverSeqs, which
// are not in it. A log that is built again has the same encodings and other serverSeqs.
func TestTheServerSeqIsNotInTheEncodingThatIsKept(t *testing.T) {
	var kept [][]byte
	for _, firstSeq := range []uint64{0, 1 << 50} {
		s := New(Options{FirstSeq: firstSeq})
		c := newTerminal(t, s, "a")
		fast, slow := subscribed(t, s, c), subscribed(t, s, c)
		c.AppendData([]byte("x"))
		pullAll(fast)
		e := slow.Pull(nil, 1)[0].Entry
		body := e.encoded[0].Load()
		if body == nil {
			t.Fatal("no encoding is kept for the slow reader")
		}
		kept = append(kept, *body)
		want := fmt.Sprintf(`{%s,"serverSeq":%d}`, *body, e.Seq())
		if got := string(e.AppendEnvelope(nil, ahp.ShapeLifecycle)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if !bytes.Equal(kept[0], kept[1]) {
		t.Errorf("%s and %s differ", kept[0], kept[1])
	}
}
