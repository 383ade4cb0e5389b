package rpc_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/authz"
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
	for _, bad := range []string{`"channel":"ahp-terminal:/none"`, `"channel":"ahp-terminal:/x","form":"html"`, `"form":"raw"`,
		`"recording":"x","form":"text"`, `"recording":"x","form":"cast"`} {
		p.sendf(t, `{"jsonrpc":"2.0","id":1001,"method":"termhost/log","params":{%s}}`, bad)
		if msg := string(p.next(t)); !strings.Contains(msg, `"error"`) {
			t.Errorf("%s: %s", bad, msg)
		}
	}
}

// ask sends a request of the extensions that read logs, and decodes its result.
func ask[T any](t testing.TB, p *pipe, method, params string) (result T) {
	t.Helper()
	p.sendf(t, `{"jsonrpc":"2.0","id":7,"method":"termhost/%s","params":{%s}}`, method, params)
	msg := p.answer(t, 7)
	var answer struct{ Result *T }
	if err := json.Unmarshal(msg, &answer); err != nil || answer.Result == nil {
		t.Fatalf("%s {%s}: %s", method, params, msg)
	}
	return *answer.Result
}

// awaitText waits until the terminal x has shown some text.
func awaitText(t *testing.T, p *pipe, text string) {
	t.Helper()
	hosttest.Eventually(t, text+" is shown", func() bool {
		found := ask[struct{ Lines []int }](t, p, "find", fmt.Sprintf(`"channel":"ahp-terminal:/x","pattern":%q`, text))
		return len(found.Lines) > 0
	})
}

// answer returns the next message that answers a request.
func (p *pipe) answer(t testing.TB, id int) []byte {
	t.Helper()
	for {
		msg := p.next(t)
		if msg == nil || strings.Contains(string(msg), fmt.Sprintf(`"id":%d,`, id)) {
			return msg
		}
	}
}

// What a terminal has shown is there at every place of its history, as a screen and as lines, also
// from its recording, for whoever may read the terminal.
func TestWhatWasShownIsReadAtAPlace(t *testing.T) {
	h := hosttest.New(t, func(c *host.Config) { c.Record = host.RecordAll })
	p := serve(t, h, principals()["bob"], rpc.Options{})
	greet(t, p, "a")
	run(t, p, "a", "x", `stty -icanon -echo; printf 'first\n'; read x; seq 1 300; printf '\033[1mlast\033[m\n'; exit 3`)
	awaitText(t, p, "first")
	p.sendf(t, `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/x","clientSeq":1,"action":{"type":"terminal/input","data":"\n"}}}`)
	ask[any](t, p, "wait", `"channel":"ahp-terminal:/x","for":{"exit":true}`)

	type recordings struct{ Recordings []host.RecordingInfo }
	list := ask[recordings](t, p, "recordings", "").Recordings
	if len(list) != 1 || list[0].Terminal != "x" {
		t.Fatalf("the recordings are %+v", list)
	}
	type answer struct {
		history.Place
		Cols, Rows, Total int
		Data              string
		Lines             []any
		Counts            []int
	}
	type history struct {
		Items []struct {
			At   int64
			Nth  int
			Kind string
			Data string
		}
	}
	for _, source := range []string{`"channel":"ahp-terminal:/x"`, fmt.Sprintf(`"recording":%q`, list[0].Recording)} {
		outline := ask[history](t, p, "history", source+`,"outline":true`)
		if n := len(outline.Items); n < 3 || outline.Items[0].Kind != "resized" || outline.Items[1].Kind != "data" ||
			outline.Items[1].Data != "" || outline.Items[n-1].Kind != "exited" {
			t.Errorf("the outline of %s is %+v", source, outline.Items)
		}
		first := ask[answer](t, p, "screen", fmt.Sprintf(`%s,"at":%d,"items":%d`, source, outline.Items[1].At, outline.Items[1].Nth+1))
		if !strings.Contains(first.Data, "first") || strings.Contains(first.Data, "last") || first.Cols != 80 || first.Rows != 24 {
			t.Errorf("at first %s shows %+v", source, first)
		}
		end := ask[answer](t, p, "screen", source)
		if strings.Contains(end.Data, "277") || !strings.Contains(end.Data, "300") || !strings.Contains(end.Data, "last") {
			t.Errorf("%s ends with %+v", source, end)
		}
		if more := ask[answer](t, p, "screen", source+`,"scrollback":100`); !strings.Contains(more.Data, "277") {
			t.Errorf("%s ends without scrollback: %+v", source, more)
		}
		found := ask[answer](t, p, "find", source+`,"pattern":"^(FIRST|30|last)$","ignoreCase":true`)
		if fmt.Sprint(found.Lines) != "[0 30 301]" || found.Total != 302 {
			t.Errorf("%s has %d lines, and these: %v", source, found.Total, found.Lines)
		}
		twice := ask[answer](t, p, "find", source+`,"pattern":"[st]"`)
		if fmt.Sprint(twice.Lines, twice.Counts) != "[0 301] [2 2]" {
			t.Errorf("%s has s or t in the lines %v, %v times", source, twice.Lines, twice.Counts)
		}
		lines := ask[answer](t, p, "lines", source+`,"from":300,"count":9`)
		if fmt.Sprintf("%q", lines.Lines) != `["300" "\x1b[0;1mlast\x1b[0m"]` || lines.Total != 302 {
			t.Errorf("%s ends with the lines %q of %d", source, lines.Lines, lines.Total)
		}
		early := ask[answer](t, p, "lines", fmt.Sprintf(`%s,"count":9,"at":%d,"items":%d`, source, outline.Items[1].At, outline.Items[1].Nth+1))
		if fmt.Sprintf("%q", early.Lines) != `["first"]` {
			t.Errorf("at first %s has the lines %q", source, early.Lines)
		}
		cast := ask[struct{ Data []byte }](t, p, "log", source+`,"form":"cast"`)
		if !strings.HasPrefix(string(cast.Data), `{"version":3,"term":{"cols":80,"rows":24`) || !strings.HasSuffix(string(cast.Data), "\"x\", \"3\"]\n") {
			t.Errorf("as cast %s is %s", source, cast.Data)
		}
	}

	guest := serve(t, h, authz.Principal{ID: "g", Name: "g", Role: authz.Observer, Guest: "g"}, rpc.Options{})
	greet(t, guest, "g")
	if list := ask[recordings](t, guest, "recordings", "").Recordings; len(list) != 0 {
		t.Errorf("a guest is told of %+v", list)
	}
	for _, bad := range []struct {
		p              *pipe
		method, params string
	}{
		{guest, "screen", `"channel":"ahp-terminal:/x"`},
		{guest, "lines", fmt.Sprintf(`"recording":%q`, list[0].Recording)},
		{p, "screen", `"channel":"ahp-terminal:/x","scrollback":-1`},
		{p, "screen", ``},
		{p, "lines", `"channel":"ahp-terminal:/x","from":-1`},
		{p, "find", `"channel":"ahp-terminal:/x","pattern":"("`},
		{p, "find", `"channel":"ahp-terminal:/x"`},
		{p, "find", `"recording":"none","pattern":"x"`},
	} {
		bad.p.sendf(t, `{"jsonrpc":"2.0","id":8,"method":"termhost/%s","params":{%s}}`, bad.method, bad.params)
		if msg := string(bad.p.answer(t, 8)); !strings.Contains(msg, `"error"`) {
			t.Errorf("%s {%s}: %s", bad.method, bad.params, msg)
		}
	}
}

// Whoever keeps to as many requests as are answered at a time is never refused one.
func TestHistoriesMayFollowEachOtherAtOnce(t *testing.T) {
	p := serve(t, hosttest.New(t), principals()["bob"], rpc.Options{RequestsPerSecond: -1})
	greet(t, p, "a")
	run(t, p, "a", "x", "echo hello; read x")
	awaitText(t, p, "hello")
	next := func(id int) {
		p.sendf(t, `{"jsonrpc":"2.0","id":%d,"method":"termhost/screen","params":{"channel":"ahp-terminal:/x"}}`, id)
	}
	const atOnce, all = 4, 2000
	for id := range atOnce {
		next(id)
	}
	for sent := atOnce; sent < all; sent++ {
		if msg := string(p.next(t)); !strings.Contains(msg, "hello") {
			t.Fatalf("after %d: %s", sent, msg)
		}
		next(sent)
	}
}
