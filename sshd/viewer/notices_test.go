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
		interactive: true, draws: true, front: newFront(true), events: make(chan event, 2*keys)}
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
	if len(notices) != 1 || notices[0] != "termhost: only carol types here; you can watch" {
		t.Errorf("%d notices: %q", len(notices), notices)
	}
}

// TestWhatAnotherHasDoneSinceIsNotHidden: a viewer's own notices and those of the host come by two
// ways. Two people that type at one moment are told the final holder.
func TestWhatAnotherHasDoneSinceIsNotHidden(t *testing.T) {
	h := hosttest.New(t)
	term, err := hosttest.Create(h, hosttest.Principal("dave", authz.Admin), host.CreateOptions{Line: "exec cat"})
	hosttest.Check(t, err)
	sits := func(name string) *host.Attach {
		c, err := h.Connect(hosttest.Principal(name, authz.Admin), host.DoorSSH)
		hosttest.Check(t, err)
		t.Cleanup(c.Close)
		a, _, err := c.Attach(term, host.AttachOptions{Cols: 80, Rows: 24})
		hosttest.Check(t, err)
		t.Cleanup(a.Close)
		return a
	}
	carol, bob := sits("carol"), sits("bob")
	w := &viewer{s: &Session{}, ctx: t.Context(), showing: showing{a: carol, t: term}, interactive: true, draws: true,
		front: newFront(true)}
	took, has := notice("you took the keyboard"), host.Note{Kind: host.NoteHas, To: "bob"}
	took.took = true
	for _, late := range []struct {
		typist *host.Attach
		comes  func()
		want   string
	}{
		{carol, func() { w.coverSaid(took); w.coverNoted(has) }, "termhost: you took the keyboard"},
		{bob, func() { w.coverNoted(has); w.coverSaid(took) }, "termhost: bob has the keyboard"},
	} {
		hosttest.Check(t, late.typist.Input([]byte("x")))
		late.comes()
		if got := w.waiting.lines; len(got) != 1 || got[0] != late.want {
			t.Errorf("%q is shown, want %q", got, late.want)
		}
	}
}
