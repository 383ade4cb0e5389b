package relay_test

import (
	"bytes"
	"errors"
	"net"
	"testing"

	"termhost/ahp"
	"termhost/ahp/hosttest"
)

// older is a connection to a host that knows some methods not yet: they have other names there.
type older struct {
	net.Conn
	unknown []string
}

func (o older) Write(p []byte) (int, error) {
	there := p
	for _, method := range o.unknown {
		there = bytes.ReplaceAll(there, []byte(method+`"`), []byte(method+`Later"`))
	}
	if _, err := o.Conn.Write(there); err != nil {
		return 0, err
	}
	return len(p), nil
}

// A host whose termhost is an older one than the door's does all that it knows, and what it does
// not know is said with its version.
func TestAnOlderHostDoesWhatItKnowsAndSaysWhatNot(t *testing.T) {
	w := newTown(t, "home", "box")
	w.change["box"] = func(nc net.Conn) net.Conn {
		return older{nc, []string{ahp.MethodSearch, ahp.MethodHistory, ahp.MethodLooking}}
	}
	c := w.connect("home", w.door("home"), ann)
	root := w.follow(c, ahp.RootURI)
	m := w.run(c, "ahp-terminal://box/t", "echo a needle; read x; echo got $x; read x")
	w.lists(root, "what box has", has("ahp-terminal://box/t"))
	w.sees(m, "a needle")
	const says = "runs termhost of box, which does not know "
	err := c.Call(w.ctx, ahp.MethodHistory, map[string]any{"channel": m.URI()}, nil)
	var refused *ahp.Error
	if !errors.As(err, &refused) || refused.Code != ahp.CodeMethodNotFound ||
		refused.Message != "box "+says+ahp.MethodHistory+" over the fleet: update it" {
		t.Errorf("a method of later: %v", err)
	}
	if got, want := w.found(c, "needle"), "not box: "+says+ahp.MethodSearch+
		" over the fleet: update it"; got != want {
		t.Errorf("a search finds %q, want %q", got, want)
	}
	hosttest.Check(t, w.types(c, m, "it"))
	w.sees(m, "got it")
}
