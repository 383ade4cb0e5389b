package relay_test

import (
	"encoding/json"
	"errors"
	"testing"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/hosttest"
)

// A name with a slip in it, or that of a host that was removed, must not run anything at the door.
func TestADoorRefusesTerminalsOfAHostThatTheFleetDoesNotHave(t *testing.T) {
	w := newTown(t, "home", "box", "gone")
	way := w.door("home")
	c := w.connect("home", way, ann)
	w.run(c, "ahp-terminal://gone/was", "read x")
	w.mu.Lock()
	w.gone["gone"] = true
	w.mu.Unlock()
	for _, at := range []struct{ host, uri string }{
		{"nosuch", "ahp-terminal://nosuch/work"}, {"gone", "ahp-terminal://gone/new"},
		{"nosuch", "ahp-terminal://nosuch/agent:/a/work"},
	} {
		want := `the fleet has no host "` + at.host + `", but box, home`
		_, follows := c.Subscribe(w.ctx, at.uri)
		for what, err := range map[string]error{
			"made": c.CreateTerminal(w.ctx, ahp.CreateTerminalParams{Channel: at.uri}),
			"made on a host that is chosen": c.CreateTerminal(w.ctx, ahp.CreateTerminalParams{
				Channel: at.uri, Meta: &ahp.CreateTerminalMeta{
					Termhost: &ahp.CreateTerminalExtras{On: "box"}}}),
			"followed": follows,
		} {
			var refusal *ahp.Error
			if !errors.As(err, &refusal) || refusal.Code != ahp.CodeNotFound ||
				refusal.Message != want {
				t.Errorf("%s is %s: %v, want %s", at.uri, what, err, want)
				continue
			}
			var data struct{ Host string }
			if json.Unmarshal(refusal.Data, &data) != nil || data.Host != at.host {
				t.Errorf("%s: the error has the data %s", at.uri, refusal.Data)
			}
		}
	}
	for name, h := range w.hosts {
		want := map[string]int{"gone": 1}[name]
		if n := h.Stats().Terminals; n != want {
			t.Errorf("%s runs %d terminals, want %d", name, n, want)
		}
	}
}

// To a host in no fleet such a name is one as any other, and its terminal stays when it joins one.
func TestATerminalMayBeNamedAsThatOfAHostThatIsNot(t *testing.T) {
	const uri = "ahp-terminal://nosuch/work"
	w := newTown(t, "home", "box")
	way := w.door("home")
	way.Set(nil)
	c := w.connect("home", way, ann)
	made := w.run(c, uri, "while read x; do echo got $x; done")
	way.Set(w.newDoor("home"))
	var m *client.Mirror
	if m = w.follow(c, uri); m != made {
		t.Errorf("%s is %s", made.URI(), m.URI())
	}
	hosttest.Check(t, w.types(c, m, "it"))
	w.sees(m, "got it")
	other := w.connect("home", way, bob)
	w.sees(w.follow(other, uri), "got it")
	err := c.CreateTerminal(w.ctx, ahp.CreateTerminalParams{Channel: uri})
	var refusal *ahp.Error
	if !errors.As(err, &refusal) || refusal.Code != ahp.CodeTerminalExists {
		t.Errorf("it is made again: %v", err)
	}
}
