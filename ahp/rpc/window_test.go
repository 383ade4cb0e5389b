package rpc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

// utf16Size returns how many bytes a text has in UTF-16.
func utf16Size(text string) int64 { return 2 * int64(len(utf16.Encode([]rune(text)))) }

// delivered is a channel with flow control, as its client sees it. It checks the rules of AHP 1.1,
// "Experimental windowed delivery".
type delivered struct {
	t                     *testing.T
	window, frame, whole  int64 // the limits
	channel               string
	part                  string
	size, total, consumed int64
	messages              []int64 // sizes of those that are not consumed
	ready, reset          bool
	credited              int64 // by the host, for what this side has sent
	methods               []string
	state                 ahp.TerminalState
	seqs                  []uint64
	text                  strings.Builder // of terminal/data since the snapshot
}

// take takes a message of the host, and reports whether it was about the channel's delivery.
func (d *delivered) take(msg []byte) bool {
	d.t.Helper()
	if !bytes.Contains(msg, []byte(d.channel)) {
		return false // most of what comes is about others
	}
	var m struct {
		Method string
		Params struct {
			Channel       string
			Data          string
			Final         bool
			ConsumedBytes int64
		}
	}
	hosttest.Check(d.t, json.Unmarshal(msg, &m))
	if m.Params.Channel != d.channel {
		return false
	}
	switch m.Method {
	case "channel/frame":
		if n := utf16Size(string(msg)); n > d.frame {
			d.t.Fatalf("a frame has %d bytes, of at most %d", n, d.frame)
		}
		if d.part == "" && d.total-d.consumed >= d.window {
			d.t.Fatalf("a message begins with %d bytes outstanding", d.total-d.consumed)
		}
		if m.Params.Data == "" {
			d.t.Fatal("a frame is empty")
		}
		d.part += m.Params.Data
		n := utf16Size(m.Params.Data)
		d.size, d.total = d.size+n, d.total+n
		if m.Params.Final {
			d.messages = append(d.messages, d.size)
			d.message(d.part)
			d.part, d.size = "", 0
		}
	case "channel/credit":
		d.credited = m.Params.ConsumedBytes
	case "channel/ready":
		if d.part != "" || d.ready {
			d.t.Fatal("ready comes inside a message, or again")
		}
		d.ready = true
	case "channel/reset":
		d.reset = true
	case "action":
		d.t.Fatalf("an action comes without frames: %s", msg)
	default:
		return false
	}
	return true
}

// message takes a whole message.
func (d *delivered) message(text string) {
	d.t.Helper()
	if n := utf16Size(text); n > d.whole {
		d.t.Fatalf("a message has %d bytes, of at most %d", n, d.whole)
	}
	var m struct {
		JSONRPC, Method string
		Params          struct {
			Channel   string
			ServerSeq uint64
			Action    json.RawMessage
			Snapshot  struct {
				Resource string
				State    json.RawMessage
				FromSeq  uint64
			}
		}
	}
	hosttest.Check(d.t, json.Unmarshal([]byte(text), &m))
	if m.Params.Channel != d.channel || m.JSONRPC != "2.0" {
		d.t.Fatalf("frames of %s hold %.200s", d.channel, text)
	}
	d.methods = append(d.methods, m.Method)
	switch m.Method {
	case "channel/snapshot":
		d.state = ahp.TerminalState{}
		hosttest.Check(d.t, json.Unmarshal(m.Params.Snapshot.State, &d.state))
		d.seqs = append(d.seqs, m.Params.Snapshot.FromSeq)
		d.text.Reset()
	case "action":
		a, err := ahp.DecodeAction(m.Params.Action)
		hosttest.Check(d.t, err)
		d.state.ApplyCopy(a)
		d.seqs = append(d.seqs, m.Params.ServerSeq)
		if data, ok := a.(ahp.TerminalData); ok {
			d.text.Write(data.Data)
		}
	}
}

// content returns the text of the terminal's state.
func (d *delivered) content() string {
	var b strings.Builder
	for i := range d.state.Content {
		for _, chunk := range d.state.Content[i].Text.Chunks() {
			b.Write(chunk)
		}
	}
	return b.String()
}

// consume acknowledges the whole messages that have come.
func (d *delivered) consume(p *pipe) {
	d.t.Helper()
	for _, n := range d.messages {
		d.consumed += n
	}
	d.messages = nil
	p.sendf(d.t, `{"jsonrpc":"2.0","method":"channel/credit","params":{"channel":%q,"consumedBytes":%d}}`,
		d.channel, d.consumed)
}

// until reads until a condition holds, and consumes everything if it shall.
func (d *delivered) until(p *pipe, consume bool, what string, holds func() bool) {
	d.t.Helper()
	for !holds() {
		msg := p.next(d.t)
		if msg == nil {
			d.t.Fatalf("waiting for %s: nothing comes any more, after %d bytes and %q", what, d.total, d.methods)
		}
		d.take(msg)
		if consume && len(d.messages) > 0 {
			d.consume(p)
		}
	}
}

// offer is what the tests offer to receive.
const offer = `"flowControl":{"receive":{"windowBytes":65536,"maximumFrameBytes":4096,"maximumMessageBytes":4194304}}`

// subscribed subscribes to a terminal with flow control.
func subscribed(t *testing.T, p *pipe, name string, others ...*delivered) *delivered {
	t.Helper()
	d := &delivered{t: t, channel: "ahp-terminal:/" + name, window: 65536, frame: 4096, whole: 4194304}
	p.sendf(t, `{"jsonrpc":"2.0","id":9,"method":"subscribe","params":{"channel":%q,%s}}`, d.channel, offer)
	msg := string(p.next(t))
	for !strings.Contains(msg, `"id":9,`) {
		for _, other := range others {
			other.take([]byte(msg))
		}
		msg = string(p.next(t))
	}
	if !strings.Contains(msg, `"result":{"flowControl":{"clientReceive":{"windowBytes":65536,`+
		`"maximumFrameBytes":4096,"maximumMessageBytes":4194304},"hostReceive":{"windowBytes":`) ||
		strings.Contains(msg, "snapshot") {
		t.Fatalf("subscribe is answered with %.300s", msg)
	}
	return d
}

// typed dispatches keys as the client's n-th action.
func typed(t *testing.T, p *pipe, name string, n int, keys string) {
	t.Helper()
	p.sendf(t, `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/%s",`+
		`"clientSeq":%d,"action":{"type":"terminal/input","data":%q}}}`, name, n, keys)
}

// TestFlowControlSendsFramesWithinTheLimits has a terminal print more than a window, with quotes,
// controls and characters beyond the first plane.
func TestFlowControlSendsFramesWithinTheLimits(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := serve(t, h, principals()["alice"], rpc.Options{})
	greet(t, p, "a")
	const line = `\033[31m"q" \\b\\ 😀é€ tail\033[m`
	run(t, p, "a", "t", `stty raw -echo; printf 'hello "you" 😀'; read -r x; i=0; while [ $i -lt 3000 ]; do printf '`+
		line+`%s\n' $i; i=$((i+1)); done; echo done; read -r x`)
	d := subscribed(t, p, "t")
	d.until(p, true, "the bootstrap", func() bool { return d.ready && strings.Contains(d.content(), "😀") })
	if d.methods[0] != "channel/snapshot" {
		t.Fatalf("it begins with %q", d.methods)
	}
	typed(t, p, "t", 1, "\n")
	d.until(p, true, "the output", func() bool { return strings.HasSuffix(d.content(), "done\n") })
	if n := strings.Count(d.content(), `"q" \b\ 😀é€ tail`); n != 3000 {
		t.Errorf("%d of 3000 lines have come", n)
	}
	for i := 1; i < len(d.seqs); i++ {
		if d.seqs[i] <= d.seqs[i-1] {
			t.Fatalf("serverSeq %d follows %d", d.seqs[i], d.seqs[i-1])
		}
	}
}

// TestAChannelWithoutCreditHoldsUpNoOther lets one channel's window fill up: requests and other
// channels go on, and it has the present state when its credit comes.
func TestAChannelWithoutCreditHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.LogBytes, c.ScrollbackBytes = 128<<10, 128<<10 })
	p, other := serve(t, h, principals()["alice"], rpc.Options{}), serve(t, h, principals()["alice"], rpc.Options{})
	greet(t, p, "a")
	greet(t, other, "b")
	run(t, p, "a", "flood", `stty raw -echo; read -r x; yes `+longLine+` | head -c 600000; echo; echo done; read -r x`)
	run(t, p, "a", "calm", `stty raw -echo; read -r x; echo calm; read -r x`)
	flood := subscribed(t, p, "flood")
	calm := subscribed(t, p, "calm", flood)
	both := func(what string, holds func() bool) {
		t.Helper()
		for !holds() {
			msg := p.next(t)
			if msg == nil {
				t.Fatalf("waiting for %s: nothing comes any more", what)
			}
			if calm.take(msg) && len(calm.messages) > 0 {
				calm.consume(p)
			} else {
				flood.take(msg)
			}
		}
	}
	both("both", func() bool { return calm.ready && flood.ready })
	typed(t, p, "flood", 1, "\n")
	both("a full window", func() bool { return flood.part == "" && flood.total >= flood.window })
	awaitShown(t, other, "flood", "done")
	before := flood.total
	typed(t, p, "calm", 2, "\n")
	both("the other one", func() bool { return strings.Contains(calm.content(), "calm\n") })
	p.sendf(t, `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"channel":"ahp-root://"}}`)
	if msg := p.answer(t, 7); msg == nil {
		t.Fatal("a request is not answered")
	}
	if flood.total != before {
		t.Errorf("%d bytes came without credit", flood.total-before)
	}
	flood.consume(p)
	flood.until(p, true, "the present state", func() bool { return strings.HasSuffix(flood.content(), "done\n") })
	if flood.reset || flood.total > 4_000_000 {
		t.Errorf("it is reset: %v, after %d bytes", flood.reset, flood.total)
	}
}

func TestFlowControlIsDeclinedWhereItIsTooTight(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := serve(t, h, principals()["alice"], rpc.Options{})
	greet(t, p, "a")
	run(t, p, "a", "t", `stty raw -echo; yes '""' | head -c 300000; printf '\ndone\n'; read x`)
	awaitShown(t, p, "t", "done")
	for limits, want := range map[string]string{
		`{"windowBytes":1,"maximumFrameBytes":4096,"maximumMessageBytes":4194304}`:          `"flowControl"`,
		`{"windowBytes":1,"maximumFrameBytes":4095,"maximumMessageBytes":4194304}`:          `"result":{"snapshot"`,
		`{"windowBytes":65536,"maximumFrameBytes":4096,"maximumMessageBytes":1048575}`:      `"result":{"snapshot"`,
		`{"windowBytes":65536,"maximumFrameBytes":4096,"maximumMessageBytes":1048576}`:      `"result":{"snapshot"`, // which is larger
		`{"windowBytes":0,"maximumFrameBytes":4096,"maximumMessageBytes":4194304}`:          `-32602`,
		`{"windowBytes":1,"maximumFrameBytes":4096,"maximumMessageBytes":9007199254740992}`: `-32602`,
		`{"windowBytes":1,"maximumFrameBytes":4096}`:                                        `-32602`,
		`{"windowBytes":"1","maximumFrameBytes":4096,"maximumMessageBytes":4194304}`:        `-32602`,
		`{"windowBytes":1000000000,"maximumFrameBytes":1000000000,"maximumMessageBytes":9007199254740991}`: `"clientReceive":` +
			`{"windowBytes":4194304,"maximumFrameBytes":65536,"maximumMessageBytes":67108864}`,
	} {
		p.sendf(t, `{"jsonrpc":"2.0","id":9,"method":"subscribe","params":{"channel":"ahp-terminal:/t",`+
			`"flowControl":{"receive":%s}}}`, limits)
		if msg := string(p.answer(t, 9)); !strings.Contains(msg, want) {
			t.Errorf("%s is answered with %.300s", limits, msg)
		}
	}
}

// TestAPeerThatBreaksTheRulesOfFlowControlIsReset: the subscription ends, and nothing else.
func TestAPeerThatBreaksTheRulesOfFlowControlIsReset(t *testing.T) {
	t.Parallel()
	const channel = `"channel":"ahp-terminal:/t"`
	frame := func(data string, final bool) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"channel/frame","params":{%s,"data":%q,"final":%v}}`,
			channel, data, final)
	}
	inner := func(method, params string) string {
		return frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{%s}}`, method, params), true)
	}
	for name, msg := range map[string]string{
		"credit for what was not sent": `{"jsonrpc":"2.0","method":"channel/credit","params":{` + channel + `,"consumedBytes":1000000}}`,
		"credit inside a message":      `{"jsonrpc":"2.0","method":"channel/credit","params":{` + channel + `,"consumedBytes":2}}`,
		"an empty frame":               frame("", false),
		"no JSON":                      frame("{", true),
		"a message that is too large":  frame(strings.Repeat("x", 300<<10), false),
		"a request":                    frame(`{"jsonrpc":"2.0","id":1,"method":"unsubscribe","params":{`+channel+`}}`, true),
		"a frame in a frame":           inner("channel/frame", channel+`,"data":"x"`),
		"another channel":              inner("dispatchAction", `"channel":"ahp-terminal:/u","clientSeq":1,"action":{"type":"terminal/input","data":"x"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, hosttest.New(t), principals()["alice"], rpc.Options{})
			greet(t, p, "a")
			run(t, p, "a", "t", "read x")
			d := subscribed(t, p, "t")
			d.until(p, false, "the bootstrap", func() bool { return d.ready })
			p.send(t, []byte(msg))
			d.until(p, false, "a reset", func() bool { return d.reset })
			p.sendf(t, `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"channel":"ahp-root://"}}`)
			if p.answer(t, 7) == nil {
				t.Error("the connection has ended")
			}
			d = subscribed(t, p, "t")
			d.until(p, true, "another bootstrap", func() bool { return d.ready })
			p.send(t, []byte(frame("x", false)))
			p.send(t, []byte(`{"jsonrpc":"2.0","id":8,"method":"unsubscribe","params":{`+channel+`}}`))
			p.answer(t, 8)
			p.send(t, []byte(frame("x", false)))
			d.until(p, false, "a reset of what is not subscribed to", func() bool { return d.reset })
		})
	}
}

// TestAnswersThatAreNotConsumedEndTheChannel refuses a peer's actions without end, which it never gives
// credit for.
func TestAnswersThatAreNotConsumedEndTheChannel(t *testing.T) {
	t.Parallel()
	p := serve(t, hosttest.New(t), principals()["alice"], rpc.Options{RequestsPerSecond: -1})
	greet(t, p, "a")
	run(t, p, "a", "t", "read x")
	p.sendf(t, `{"jsonrpc":"2.0","id":9,"method":"subscribe","params":{"channel":"ahp-terminal:/t","flowControl":`+
		`{"receive":{"windowBytes":1,"maximumFrameBytes":4096,"maximumMessageBytes":4194304}}}}`)
	p.answer(t, 9)
	d := &delivered{t: t, channel: "ahp-terminal:/t", window: 1, frame: 4096, whole: 4194304}
	reset, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 1; ; n++ {
			select {
			case <-reset:
				return
			default:
				p.sendf(t, `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/t",`+
					`"clientSeq":%d,"action":{"type":"terminal/resized","cols":-1,"rows":0}}}`, n)
			}
		}
	}()
	d.until(p, false, "a reset", func() bool { return d.reset })
	close(reset)
	for done := false; !done; { // what was on its way
		select {
		case <-p.out:
		case <-stopped:
			done = true
		}
	}
	p.sendf(t, `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"channel":"ahp-root://"}}`)
	if p.answer(t, 7) == nil {
		t.Error("the connection has ended")
	}
}

// TestWhatIsSentAsARequestIsAnswered: whatever has an id.
func TestWhatIsSentAsARequestIsAnswered(t *testing.T) {
	t.Parallel()
	p := serve(t, hosttest.New(t), principals()["alice"], rpc.Options{})
	greet(t, p, "a")
	for i, method := range []string{"frame", "credit", "reset"} {
		p.sendf(t, `{"jsonrpc":"2.0","id":%d,"method":"channel/%s","params":{"channel":"ahp-terminal:/t","data":"x",`+
			`"consumedBytes":1}}`, 20+i, method)
		if p.answer(t, 20+i) == nil {
			t.Errorf("%s is not answered", method)
		}
	}
}

// TestKeysComeInFrames types in pieces of frames, and gets credit for each whole message.
func TestKeysComeInFrames(t *testing.T) {
	t.Parallel()
	p := serve(t, hosttest.New(t), principals()["alice"], rpc.Options{})
	greet(t, p, "a")
	run(t, p, "a", "t", "stty -icanon -echo; echo reads; read x; echo got-$x; read x; echo then-$x; read x")
	d := subscribed(t, p, "t")
	d.until(p, true, "the bootstrap", func() bool { return d.ready && strings.Contains(d.content(), "reads") })
	sent := int64(0)
	for n, word := range []string{"één", "zwei😀"} {
		msg := []rune(fmt.Sprintf(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/t",`+
			`"clientSeq":%d,"action":{"type":"terminal/input","data":"%s\n"}}}`, n+1, word))
		sent += utf16Size(string(msg))
		for len(msg) > 0 {
			piece := msg[:min(7, len(msg))]
			msg = msg[len(piece):]
			data, err := json.Marshal(string(piece))
			hosttest.Check(t, err)
			p.sendf(t, `{"jsonrpc":"2.0","method":"channel/frame","params":{"channel":"ahp-terminal:/t","data":%s,"final":%v}}`,
				data, len(msg) == 0)
		}
		d.until(p, true, word, func() bool { return strings.Contains(d.content(), "-"+word) && d.credited == sent })
	}
}

// TestReconnectingResumesChannelsWithFlowControl: what was missed comes in frames, or a snapshot
// does, and what is gone, or was never granted here, is missing.
func TestReconnectingResumesChannelsWithFlowControl(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := serve(t, h, principals()["alice"], rpc.Options{})
	greet(t, p, "a")
	file := filepath.Join(t.TempDir(), "file")
	for _, name := range []string{"replayed", "drawn", "gone", "plain"} {
		run(t, p, "a", name, fmt.Sprintf("echo first; until [ -e %[1]s ]; do sleep 0.02; done; echo second; "+
			"until [ -e %[1]s.2 ]; do sleep 0.02; done; echo third; read x", file))
	}
	var all []*delivered
	for _, name := range []string{"replayed", "drawn", "gone"} {
		d := subscribed(t, p, name, all...)
		d.until(p, true, name, func() bool { return d.ready && strings.Contains(d.content(), "first") })
		all = append(all, d)
	}
	p.sendf(t, `{"jsonrpc":"2.0","id":9,"method":"subscribe","params":{"channel":"ahp-terminal:/plain"}}`)
	p.answer(t, 9)
	p.Close("the network is gone")
	other := serve(t, h, principals()["alice"], rpc.Options{})
	greet(t, other, "b")
	hosttest.Check(t, os.WriteFile(file, nil, 0o600))
	awaitShown(t, other, "replayed", "second")
	awaitShown(t, other, "drawn", "second")
	other.sendf(t, `{"jsonrpc":"2.0","id":5,"method":"disposeTerminal","params":{"channel":"ahp-terminal:/gone"}}`)
	other.answer(t, 5)

	// A connection that ends before the answer is written changes nothing.
	p = serve(t, h, principals()["alice"], rpc.Options{})
	for id := range cap(p.out) + 1 {
		p.sendf(t, `{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"channel":"ahp-root://"}}`, 100+id)
	}
	p.sendf(t, `{"jsonrpc":"2.0","id":1,"method":"reconnect","params":{"channel":"ahp-root://","clientId":"a",`+
		`"lastSeenServerSeq":1,"subscriptions":["ahp-terminal:/replayed","ahp-terminal:/drawn"],"windows":{"items":`+
		`[{"channel":"ahp-terminal:/replayed","lastAppliedServerSeq":%d},{"channel":"ahp-terminal:/drawn"}]}}}`,
		last(all[0].seqs))
	for range cap(p.in) + 1 { // the host has read them when it takes one more
		p.sendf(t, `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"channel":"ahp-root://"}}`)
	}
	p.Close("the network is gone again")

	p = serve(t, h, principals()["alice"], rpc.Options{})
	p.sendf(t, `{"jsonrpc":"2.0","id":1,"method":"reconnect","params":{"channel":"ahp-root://","clientId":"a",`+
		`"lastSeenServerSeq":%d,"subscriptions":["ahp-terminal:/replayed","ahp-terminal:/drawn","ahp-terminal:/gone",`+
		`"ahp-terminal:/plain"],"windows":{"items":[{"channel":"ahp-terminal:/replayed","lastAppliedServerSeq":%d},`+
		`{"channel":"ahp-terminal:/drawn"},{"channel":"ahp-terminal:/gone","lastAppliedServerSeq":1},`+
		`{"channel":"ahp-terminal:/plain","lastAppliedServerSeq":1}]}}}`, all[2].seqs[0], last(all[0].seqs))
	var answer struct {
		Result struct {
			Type    string
			Actions []struct{ Channel string }
			Missing []string
			Windows struct {
				Items []struct{ Channel, Recovery string }
			}
		}
	}
	msg := p.answer(t, 1)
	hosttest.Check(t, json.Unmarshal(msg, &answer))
	if got := fmt.Sprint(answer.Result.Windows.Items); got !=
		"[{ahp-terminal:/replayed replay} {ahp-terminal:/drawn snapshot}]" ||
		fmt.Sprint(answer.Result.Missing) != "[ahp-terminal:/gone ahp-terminal:/plain]" ||
		len(answer.Result.Actions) > 0 {
		t.Fatalf("reconnect is answered with %s", msg)
	}
	again := map[string]*delivered{}
	for _, d := range all[:2] {
		again[d.channel] = &delivered{t: t, channel: d.channel, window: d.window, frame: d.frame, whole: d.whole,
			state: d.state, seqs: d.seqs[len(d.seqs)-1:]}
	}
	replayed, drawn := again["ahp-terminal:/replayed"], again["ahp-terminal:/drawn"]
	for !replayed.ready || !drawn.ready {
		msg := p.next(t)
		if msg == nil {
			t.Fatal("nothing comes any more")
		}
		_ = replayed.take(msg) || drawn.take(msg)
	}
	if got := replayed.content(); strings.Count(got, "first") != 1 || strings.Count(got, "second") != 1 ||
		strings.Contains(fmt.Sprint(replayed.methods), "snapshot") {
		t.Errorf("what was missed is %q, and there is %q", replayed.methods, got)
	}
	if drawn.methods[0] != "channel/snapshot" || !strings.Contains(drawn.content(), "second") {
		t.Errorf("there is %q after %q", drawn.content(), drawn.methods)
	}
	replayed.consume(p)
	hosttest.Check(t, os.WriteFile(file+".2", nil, 0o600))
	replayed.until(p, true, "what comes then", func() bool { return strings.Contains(replayed.content(), "third") })

	for windows, problem := range map[string]string{
		`{"items":[{"channel":"ahp-terminal:/else"}]}`:                                    "windows.items[0].channel",
		`{"items":[{"channel":"ahp-terminal:/drawn"},{"channel":"ahp-terminal:/drawn"}]}`: "windows.items[1].channel",
	} {
		p := serve(t, h, principals()["alice"], rpc.Options{})
		p.sendf(t, `{"jsonrpc":"2.0","id":1,"method":"reconnect","params":{"channel":"ahp-root://","clientId":"a",`+
			`"lastSeenServerSeq":1,"subscriptions":["ahp-terminal:/drawn"],"windows":%s}}`, windows)
		if msg := string(p.answer(t, 1)); !strings.Contains(msg, problem) {
			t.Errorf("%s is answered with %s", windows, msg)
		}
	}
}

// awaitShown waits until a terminal shows a line, also one from before.
func awaitShown(t *testing.T, p *pipe, name, pattern string) {
	t.Helper()
	hosttest.Eventually(t, pattern, func() bool {
		found := ask[struct{ Lines []int }](t, p, "find", fmt.Sprintf(`"channel":"ahp-terminal:/%s","pattern":%q`,
			name, pattern))
		return len(found.Lines) > 0
	})
}

func last(seqs []uint64) uint64 { return seqs[len(seqs)-1] }

// tail returns the last bytes of the terminal's text.
func (d *delivered) tail() string {
	if len(d.state.Content) == 0 {
		return ""
	}
	chunks := d.state.Content[len(d.state.Content)-1].Text.Chunks()
	if len(chunks) == 0 {
		return ""
	}
	last := chunks[len(chunks)-1]
	return string(last[max(0, len(last)-16):])
}

// longLine is a line of floods: short ones would cost the screen more than the channel.
var longLine = strings.Repeat("0123456789", 7)

// flooded returns channels whose terminals print much when a file is there.
func flooded(t *testing.T, p *pipe, file string, count, size int) (list []*delivered) {
	t.Helper()
	for i := range count { // before anything is subscribed to: run ignores other messages
		run(t, p, "a", fmt.Sprintf("flood%d", i), fmt.Sprintf("stty raw; until [ -e %s ]; do sleep 0.02; done; "+
			"yes %s | head -c %d; echo; echo done; read x", file, longLine, size))
	}
	for i := range count {
		list = append(list, subscribed(t, p, fmt.Sprintf("flood%d", i), list...))
	}
	return list
}

// TestManyFloodingChannelsAllArrive: whoever gives credit at once gets every channel's last state,
// however many there are.
func TestManyFloodingChannelsAllArrive(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.LogBytes = 64 << 10 })
	p := serve(t, h, principals()["alice"], rpc.Options{})
	greet(t, p, "a")
	file := filepath.Join(t.TempDir(), "file")
	list := flooded(t, p, file, 8, 300_000)
	hosttest.Check(t, os.WriteFile(file, nil, 0o600))
	for left := len(list); left > 0; {
		msg := p.next(t)
		if msg == nil {
			t.Fatalf("nothing comes any more; %d channels are not at their end", left)
		}
		left = 0
		for _, d := range list {
			if d.take(msg) && len(d.messages) > 0 {
				d.consume(p)
			}
			if d.reset {
				t.Fatalf("%s is reset", d.channel)
			}
			if !strings.HasSuffix(d.tail(), "done\n") {
				left++
			}
		}
	}
}

// TestChannelsWithoutCreditMakeRoomForOthers leaves channels that hold more than the room there is
// without credit: another one goes on all the same, and they have the present state when credit
// comes.
func TestChannelsWithoutCreditMakeRoomForOthers(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.LogBytes = 64 << 10 })
	p, other := serve(t, h, principals()["alice"], rpc.Options{}), serve(t, h, principals()["alice"], rpc.Options{})
	greet(t, p, "a")
	greet(t, other, "b")
	file := filepath.Join(t.TempDir(), "file")
	run(t, p, "a", "calm", fmt.Sprintf("until [ -e %s.2 ]; do sleep 0.02; done; echo calm; read x", file))
	stuck := flooded(t, p, file, 3, 1_200_000)
	calm := subscribed(t, p, "calm", stuck...)
	hosttest.Check(t, os.WriteFile(file, nil, 0o600))
	for i := range stuck {
		awaitShown(t, other, fmt.Sprintf("flood%d", i), "done")
	}
	// Each gets the credit that lets the state of a slow reader be rebuilt, and no more.
	until := func(what string, consume []*delivered, holds func() bool) {
		t.Helper()
		for !holds() {
			msg := p.next(t)
			if msg == nil {
				t.Fatalf("waiting for %s: nothing comes any more", what)
			}
			for _, d := range append([]*delivered{calm}, stuck...) {
				if d.take(msg) && slices.Contains(consume, d) && len(d.messages) > 0 {
					d.consume(p)
				}
			}
		}
	}
	for _, d := range stuck {
		until("a full window", nil, func() bool { return d.part == "" && d.total >= d.window })
	}
	for _, d := range stuck {
		d.consume(p)
	}
	for _, d := range stuck {
		until("another full window", nil, func() bool { return d.part == "" && d.total-d.consumed >= d.window })
	}
	hosttest.Check(t, os.WriteFile(file+".2", nil, 0o600))
	until("the other one", []*delivered{calm}, func() bool { return strings.Contains(calm.content(), "calm") })
	for _, d := range stuck {
		d.consume(p)
	}
	for _, d := range stuck {
		until("the present state", stuck, func() bool { return strings.HasSuffix(d.tail(), "done\n") })
	}
}
