package relay_test

import (
	"encoding/json"
	"io"
	"testing"

	"termhost/ahp"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

// A client has names of the form ahp-terminal://HOST/NAME for all terminals of a fleet, and need not
// know which host it has come to.
func TestADoorKnowsItsOwnTerminalsByItsNameInTheFleet(t *testing.T) {
	w := newTown(t, "home", "box")
	way := w.door("home")
	c := w.connect("home", way, ann)
	const own, fleets = "ahp-terminal:/work", "ahp-terminal://home/work"
	m := w.run(c, fleets, "echo a needle; while read x; do echo got $x; done")
	w.sees(m, "a needle")
	if m.URI() != own {
		t.Errorf("what was made as %s is %s", fleets, m.URI())
	}
	err := c.CreateTerminal(w.ctx, ahp.CreateTerminalParams{Channel: own})
	if err == nil {
		t.Error("there are two of that name")
	}
	hosttest.Check(t, c.Dispatch(w.ctx, fleets, ahp.TerminalInput{Data: []byte("there\r")}))
	w.sees(m, "got there")
	if got := w.found(c, "needle", fleets); got != own+" 1" {
		t.Errorf("a search there finds %q", got)
	}
	var history struct{ Items []json.RawMessage }
	hosttest.Check(t, c.Call(w.ctx, ahp.MethodHistory, map[string]any{"channel": fleets}, &history))
	if len(history.Items) == 0 {
		t.Error("it has no history")
	}

	// Another connection has it from the first message on.
	nc, err := hosttest.Dial(t, w.hosts["home"], bob, rpc.Options{Fleet: way})
	hosttest.Check(t, err)
	defer nc.Close()
	_, err = io.WriteString(nc, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`+
		`"channel":"ahp-root://","protocolVersions":["0.9.0"],"clientId":"first",`+
		`"initialSubscriptions":["`+fleets+`"]}}`+"\n")
	hosttest.Check(t, err)
	var answer struct {
		Result struct{ Snapshots []struct{ Resource string } }
	}
	hosttest.Check(t, json.NewDecoder(nc).Decode(&answer))
	if s := answer.Result.Snapshots; len(s) != 1 || s[0].Resource != own {
		t.Errorf("at first it has %+v", s)
	}

	// A host that is in no fleet has no such name, and a terminal may really have it.
	way.Set(nil)
	if _, err := c.Subscribe(w.ctx, fleets); err == nil {
		t.Error("a host that has left its fleet goes by its name")
	}
	really := w.run(c, "ahp-terminal://home/really", "echo it; read x")
	way.Set(w.newDoor("home"))
	if again := w.follow(c, "ahp-terminal://home/really"); again != really {
		t.Errorf("%s is %s", really.URI(), again.URI())
	}
	hosttest.Check(t, c.DisposeTerminal(w.ctx, fleets))
	if _, err := c.Subscribe(w.ctx, own); err == nil {
		t.Error("it is not disposed")
	}
}
