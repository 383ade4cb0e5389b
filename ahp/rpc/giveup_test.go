package rpc

import "testing"

// TestAWindowThatThePeerEndsMeanwhileIsGivenUp ends a channel between the writer's choice of the
// largest queue and its end.
func TestAWindowThatThePeerEndsMeanwhileIsGivenUp(t *testing.T) {
	const uri = "ahp-terminal:/t"
	w := &window{uri: uri, queue: make([]queued, 3), text: []byte("the rest")}
	p := &peer{windows: windows{byURI: map[string]*window{uri: w}, turns: []*window{w},
		begun: len(w.text), grants: &grants{}}}
	for i := range w.queue {
		p.windows.queued += w.queue[i].weight()
	}
	p.windows.drop(uri)
	if err := p.giveUp(w); err != nil {
		t.Fatal(err)
	}
	if p.windows.queued != 0 || p.windows.begun != 0 || !w.idle() {
		t.Errorf("%d bytes wait and %d have begun", p.windows.queued, p.windows.begun)
	}
}
