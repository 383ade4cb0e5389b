package rpc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

// searched is the result of a search.
type searched struct {
	Terminals []struct {
		Channel string
		Count   int
		More    bool
		Lines   []struct{ Text string }
	}
	More, Ended bool
}

func searchedIn(t *testing.T, msg []byte) (s searched) {
	t.Helper()
	var m struct{ Result *searched }
	hosttest.Check(t, json.Unmarshal(msg, &m))
	if m.Result == nil {
		t.Fatalf("the answer is %s", msg)
	}
	return *m.Result
}

// TestASearchIsOverAllTerminals: it finds what `grep` does in all, or in those that are named, and
// has bounds.
func TestASearchIsOverAllTerminals(t *testing.T) {
	t.Parallel()
	p := serve(t, hosttest.New(t), principals()["alice"], rpc.Options{})
	p.sendf(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://",`+
		`"protocolVersions":["1.0.0"],"clientId":"a"}}`)
	for i, program := range []string{"echo a needle here", "seq -f 'Needle %g' 12000", "echo nothing"} {
		p.sendf(t, "%s", fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"createTerminal","params":{"channel":"ahp-terminal:/t%d",`+
			`"claim":{"kind":"client","clientId":"a"},"_meta":{"termhost":{"command":"/bin/sh","args":["-c","%s; echo ready"]}}}}`,
			i, program))
		p.answer(t, 2)
		p.sendf(t, `{"jsonrpc":"2.0","id":3,"method":"termhost/wait","params":{"channel":"ahp-terminal:/t%d","for":{"exit":true},"timeoutMs":60000}}`, i)
		p.answer(t, 3)
	}
	search := func(params string) searched {
		t.Helper()
		p.sendf(t, "%s", `{"jsonrpc":"2.0","id":4,"method":"termhost/search","params":{`+params+`}}`)
		return searchedIn(t, p.answer(t, 4))
	}
	all := search(`"pattern":"needle","ignoreCase":true`)
	if len(all.Terminals) != 2 || all.More || all.Ended {
		t.Fatalf("it finds %+v", all)
	}
	one, many := all.Terminals[0], all.Terminals[1]
	if one.Channel != "ahp-terminal:/t0" || one.Count != 1 || one.More || one.Lines[0].Text != "a needle here" {
		t.Errorf("in the first there is %+v", one)
	}
	if many.Count != 10_000 || !many.More || len(many.Lines) != 50 || many.Lines[49].Text != "Needle 10000" {
		t.Errorf("in the second there are %d, %t, and the last is %q", many.Count, many.More, many.Lines[len(many.Lines)-1].Text)
	}
	if got := search(`"pattern":"need.e"`); len(got.Terminals) != 1 || got.Terminals[0].Channel != "ahp-terminal:/t0" {
		t.Errorf("where case counts it finds %+v", got)
	}
	if got := search(`"pattern":"needle","ignoreCase":true,"channels":["ahp-terminal:/t1","ahp-terminal:/t2"]`); len(got.Terminals) != 1 {
		t.Errorf("in some of them it finds %+v", got)
	}
	for _, params := range []string{`"pattern":"("`, `"pattern":"x","channels":["ahp-terminal:/none"]`, `"pattern":3`} {
		p.sendf(t, "%s", `{"jsonrpc":"2.0","id":4,"method":"termhost/search","params":{`+params+`}}`)
		if msg := string(p.answer(t, 4)); !strings.Contains(msg, `"error"`) {
			t.Errorf("%s: %s", params, msg)
		}
	}
}

// The next search ends one that goes on, which is answered.
func TestASearchIsEndedByTheNext(t *testing.T) {
	t.Parallel()
	p := serve(t, hosttest.New(t), principals()["alice"], rpc.Options{})
	p.sendf(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://",`+
		`"protocolVersions":["1.0.0"],"clientId":"a"}}`)
	p.sendf(t, "%s", `{"jsonrpc":"2.0","id":2,"method":"createTerminal","params":{"channel":"ahp-terminal:/t",`+
		`"claim":{"kind":"client","clientId":"a"},"_meta":{"termhost":{"command":"/bin/sh","args":["-c","seq 300000; echo ready; read x"]}}}}`)
	p.answer(t, 2)
	p.sendf(t, `{"jsonrpc":"2.0","id":3,"method":"termhost/wait","params":{"channel":"ahp-terminal:/t","for":{"match":"^ready"},"timeoutMs":60000}}`)
	p.answer(t, 3)
	// It takes long, because every line has to be matched.
	const slow = `(.*9.*8.*7.*6.*5.*4.*3.*2.*1.*){1,3}x`
	ended := 0
	for id := 10; id < 20; id++ {
		p.sendf(t, "%s", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"termhost/search","params":{"pattern":%q}}`, id, slow))
	}
	p.sendf(t, `{"jsonrpc":"2.0","id":20,"method":"termhost/search","params":{"pattern":""}}`)
	seen := map[int]bool{}
	for len(seen) < 11 {
		var m struct {
			ID     int
			Result *searched
			Error  *struct{ Message string }
		}
		msg := p.next(t)
		hosttest.Check(t, json.Unmarshal(msg, &m))
		if m.ID < 10 {
			continue
		}
		seen[m.ID] = true
		if m.Result != nil && m.Result.Ended {
			ended++
		}
		if m.Error != nil && !strings.Contains(m.Error.Message, "being read") {
			t.Errorf("a search is answered with %s", msg)
		}
	}
	if ended == 0 {
		t.Error("no search was ended by the next")
	}
}
