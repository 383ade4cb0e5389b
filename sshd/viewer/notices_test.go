package viewer

import (
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// Notices within one frame are drawn once, so it is the notices themselves that are counted here.
func TestABurstOfRefusedKeysIsOneNotice(t *testing.T) {
	hc, err := hosttest.New(t).Connect(hosttest.Principal("carol", authz.Operator), host.DoorSSH)
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
	w := &viewer{s: &Session{Prefix: 0x1c}, ctx: t.Context(), showing: showing{a: a, t: a.Terminal()},
		interactive: true, front: newFront(true), events: make(chan event, 2*keys)}
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
