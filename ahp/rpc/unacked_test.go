package rpc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/rpc"
)

// unacked is a client that acknowledges nothing of three terminals that print without end.
type unacked struct {
	*pipe
	t      *testing.T
	window int
	owed   int    // bytes of output since the last acknowledgement
	last   uint64 // serverSeq
}

func newUnacked(t *testing.T) *unacked {
	const window = 32 << 10
	h := hosttest.New(t)
	maker := serve(t, h, principals()["alice"], rpc.Options{})
	greet(t, maker, "maker")
	for i := range 3 {
		run(t, maker, "maker", fmt.Sprint("flood", i), "exec yes")
	}
	u := &unacked{pipe: serve(t, h, principals()["bob"], rpc.Options{}), t: t, window: window}
	u.sendf(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://",`+
		`"protocolVersions":["1.0.0"],"clientId":"a","initialSubscriptions":["ahp-root://",`+
		`"ahp-terminal:/flood0","ahp-terminal:/flood1","ahp-terminal:/flood2"],`+
		`"_meta":{"termhost/ack":{"window":%d}}}}`, window)
	u.until("the greeting", `"id":1,"result"`)
	for u.owed < window {
		u.take()
	}
	return u
}

// take takes the next message.
func (u *unacked) take() string {
	u.t.Helper()
	msg := u.next(u.t)
	if msg == nil {
		u.t.Fatal("nothing comes any more")
	}
	u.owed += dataIn(u.t, msg)
	var m struct{ Params ahp.Envelope }
	hosttest.Check(u.t, json.Unmarshal(msg, &m))
	if seq := m.Params.ServerSeq; seq != 0 && seq <= u.last {
		u.t.Errorf("%d comes after %d", seq, u.last)
	} else if seq != 0 {
		u.last = seq
	}
	return string(msg)
}

// until takes messages until one has a text. Output comes in windows, of which a very slow machine
// may see another one each ten seconds.
func (u *unacked) until(what, text string) {
	u.t.Helper()
	for {
		if msg := u.take(); strings.Contains(msg, text) {
			return
		}
		if u.owed > 4*(u.window+72<<10) {
			u.t.Fatalf("%d bytes of output come before %s", u.owed, what)
		}
	}
}

// What is no output needs no acknowledgement, and comes although three terminals use up the window.
// It keeps its order.
func TestAnswersAndTheRootNeedNoAcknowledgement(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	u := newUnacked(t)
	for id := 10; id < 13; id++ {
		u.sendf(t, `{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"channel":"ahp-root://"}}`, id)
		u.until("an answer", fmt.Sprintf(`"id":%d,`, id))
	}
	u.sendf(t, `{"jsonrpc":"2.0","id":20,"method":"createTerminal","params":{`+
		`"channel":"ahp-terminal:/made","claim":{"kind":"client","clientId":"a"},`+
		`"_meta":{"termhost":{"command":"/bin/sh","args":["-c","echo it has begun; read x"]}}}}`)
	u.until("the root's list", `{"resource":"ahp-terminal:/made"`)
	u.sendf(t, `{"jsonrpc":"2.0","id":21,"method":"subscribe","params":{"channel":"ahp-terminal:/made"}}`)
	u.until("a snapshot", `"id":21,"result"`)
	u.sendf(t, `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/flood0",`+
		`"clientSeq":7,"action":{"type":"terminal/cleared"}}}`)
	u.until("a rejection", `"rejectionReason"`)
	// With acknowledgements all channels go on, each with the state that it has by now.
	cleared := map[string]bool{}
	for len(cleared) < 3 {
		u.sendf(t, `{"jsonrpc":"2.0","method":"termhost/ack","params":{"bytes":%d}}`, u.owed)
		for u.owed = 0; u.owed < u.window && len(cleared) < 3; {
			msg := u.take()
			for i := range 3 {
				uri := fmt.Sprint("ahp-terminal:/flood", i)
				if strings.Contains(msg, `"channel":"`+uri+`"`) &&
					strings.Contains(msg, `"terminal/cleared"`) {
					cleared[uri] = true
				}
			}
		}
	}
}
