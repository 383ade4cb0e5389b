package relay_test

import (
	"encoding/json"
	"errors"
	"testing"

	"termhost/ahp"
)

// A client that acts on what an error names must not get to the door's terminal of that NAME.
func TestErrorsNameAnotherHostsTerminalAsTheClientDoes(t *testing.T) {
	w := newTown(t, "home", "box")
	c := w.connect("home", w.door("home"), ann)
	w.run(c, "ahp-terminal:/work", "read x")
	w.run(c, "ahp-terminal://box/work", "read x")
	const none, plan = "ahp-terminal://box/none", "ahp-terminal://box/agent:/a/none"
	refusals := map[string]error{
		"there is no channel " + none + "; it may have been disposed": c.DisposeTerminal(w.ctx, none),
		"there is no channel " + plan + "; it may have been disposed": c.DisposeTerminal(w.ctx, plan),
		`a terminal named "box/work" exists; choose another name, or attach to it`: c.CreateTerminal(
			w.ctx, ahp.CreateTerminalParams{Channel: "ahp-terminal://box/work"}),
	}
	_, follows := c.Subscribe(w.ctx, none)
	for want, err := range refusals {
		var refusal *ahp.Error
		if !errors.As(err, &refusal) || refusal.Message != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	var refusal *ahp.Error
	var data struct{ Channel string }
	if !errors.As(follows, &refusal) || json.Unmarshal(refusal.Data, &data) != nil ||
		data.Channel != none {
		t.Errorf("%v has the data %+v, want the channel %s", follows, refusal, none)
	}
}
