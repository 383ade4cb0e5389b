package verbs

import (
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// Notices within one frame are drawn once, so it is the notices themselves that are counted here.
func TestABurstOfRefusedKeysIsOneNotice(t *testing.T) {
	r := newRunner(t)
	hc, err := r.Host.Connect(hosttest.Principal("carol", authz.Operator), host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	defer hc.Close()
	sh, err := hc.Share(host.ShareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer sh.Close()
	a, _, err := hc.Attach(sh.Terminal(), host.AttachOptions{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	const keys = 40
	v := &invocation{Runner: r, ctx: t.Context()}
	w := &viewer{v: v, showing: showing{a: a, t: a.Terminal()}, interactive: true, events: make(chan event, 2*keys)}
	l := newInputLoop(w, nil)
	for range keys {
		l.take([]byte("x\r"), false)
	}
	close(w.events)
	var notices []string
	for e := range w.events {
		if e.kind == showOverlay {
			notices = append(notices, e.overlay.lines...)
		}
	}
	if len(notices) != 1 || notices[0] != "termhost: observation-only: owned by carol" {
		t.Errorf("%d notices: %q", len(notices), notices)
	}
}
