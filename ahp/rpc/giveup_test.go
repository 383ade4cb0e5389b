package rpc

import (
	"testing"

	"termhost/ahp/store"
)

// TestAWindowThatThePeerEndsMeanwhileIsGivenUp ends a channel between the writer's choice of the
// largest queue and its end.
func TestAWindowThatThePeerEndsMeanwhileIsGivenUp(t *testing.T) {
	const uri = "ahp-terminal:/t"
	w := &window{uri: uri, text: []byte("the rest")}
	for range 3 {
		w.queue = append(w.queue, queued{entry: store.Item{Entry: &store.Entry{}}})
	}
	p := &peer{windows: windows{byURI: map[string]*window{uri: w}, turns: []*window{w},
		begun: len(w.text), grants: &grants{}}}
	if p.windows.queued = w.weight(); p.windows.queued == 0 {
		t.Fatal("nothing is queued")
	}
	p.windows.drop(uri)
	if err := p.giveUp(w); err != nil {
		t.Fatal(err)
	}
	if p.windows.queued != 0 || p.windows.begun != 0 || !w.idle() {
		t.Errorf("%d bytes wait and %d have begun", p.windows.queued, p.windows.begun)
	}
}
