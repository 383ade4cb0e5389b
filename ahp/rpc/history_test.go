package rpc_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

// Read in pieces, a terminal's log is the same as read at once.
func TestHistoryIsReadInPieces(t *testing.T) {
	h := hosttest.New(t)
	p := serve(t, h, principals()["bob"], rpc.Options{})
	greet(t, p, "a")
	run(t, p, "a", "x", "for i in 1 2 3; do seq $i 300; sleep 0.01; done; exit 3")
	p.sendf(t, `{"jsonrpc":"2.0","id":1,"method":"termhost/wait","params":{"channel":"ahp-terminal:/x","for":{"exit":true}}}`)
	p.next(t)

	type page struct {
		Items []struct {
			At       int64
			Kind     string
			Data     string
			Cols     int
			ExitCode *int
		}
		Next, First *int64
	}
	read := func(id int, params string) (got page) {
		t.Helper()
		p.sendf(t, `{"jsonrpc":"2.0","id":%d,"method":"termhost/history","params":{"channel":"ahp-terminal:/x"%s}}`, id, params)
		var answer struct{ Result page }
		msg := p.next(t)
		if err := json.Unmarshal(msg, &answer); err != nil || answer.Result.First == nil {
			t.Fatalf("%v: %s", err, msg)
		}
		return answer.Result
	}
	whole, pieces := read(2, ""), page{}
	for id, from := 3, int64(0); ; id++ {
		piece := read(id, fmt.Sprintf(`,"from":%d,"maxBytes":1`, from))
		pieces.Items = append(pieces.Items, piece.Items...)
		if piece.Next == nil {
			break
		}
		from = *piece.Next
	}
	a, _ := json.Marshal(whole.Items)
	b, _ := json.Marshal(pieces.Items)
	if string(a) != string(b) {
		t.Errorf("in pieces it is\n%s\nand at once\n%s", b, a)
	}
	last := whole.Items[len(whole.Items)-1]
	if whole.Items[0].Kind != "resized" || last.Kind != "exited" || last.ExitCode == nil || *last.ExitCode != 3 {
		t.Errorf("it is %s", a)
	}

	p.sendf(t, `{"jsonrpc":"2.0","id":1000,"method":"termhost/log","params":{"channel":"ahp-terminal:/x","form":"text"}}`)
	var answer struct{ Result struct{ Data string } }
	msg := p.next(t)
	if err := json.Unmarshal(msg, &answer); err != nil {
		t.Fatal(err)
	}
	text, err := base64.StdEncoding.DecodeString(answer.Result.Data)
	if err != nil || strings.Count(string(text), "\n") < 890 || !strings.HasSuffix(string(text), "\n300\n") {
		t.Errorf("the log is %q, %v: %s", text, err, msg)
	}
	for _, bad := range []string{`"channel":"ahp-terminal:/none"`, `"channel":"ahp-terminal:/x","form":"html"`, `"form":"raw"`} {
		p.sendf(t, `{"jsonrpc":"2.0","id":1001,"method":"termhost/log","params":{%s}}`, bad)
		if msg := string(p.next(t)); !strings.Contains(msg, `"error"`) {
			t.Errorf("%s: %s", bad, msg)
		}
	}
}
