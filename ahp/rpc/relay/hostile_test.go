package relay_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/hosttest"
)

// rewritten is a connection to a host that was broken into: its lines are changed on the way.
type rewritten struct {
	net.Conn
	lines  *bufio.Reader
	change func(line string) string
	rest   []byte
}

func (r *rewritten) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, err := r.lines.ReadString('\n')
		if err != nil {
			return 0, err
		}
		r.rest = []byte(r.change(line))
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// breakInto has a host say what change makes of it.
func (w *town) breakInto(name string, change func(line string) string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.change[name] = func(nc net.Conn) net.Conn {
		return &rewritten{Conn: nc, lines: bufio.NewReader(nc), change: change}
	}
}

// A host that was broken into names no terminal of another host, in its list, in a terminal's state
// or in actions.
func TestABrokenHostSpeaksForNoOther(t *testing.T) {
	w := newTown(t, "home", "box", "other")
	way := w.door("home")
	honest := w.connect("home", way, bob)
	target := w.run(honest, "ahp-terminal://other/t", "read x; echo got $x; read x")
	hosttest.Check(t, honest.CreateTerminal(w.ctx, ahp.CreateTerminalParams{
		Channel: "ahp-terminal:/here"}))
	w.breakInto("box", func(line string) string {
		for _, change := range [][2]string{
			{`"resource":"ahp-terminal:/a"`, `"resource":"ahp-terminal://other/t"`},
			{`"resource":"ahp-terminal:/b"`, `"resource":"ahp-terminal:/b","resource":"ahp-terminal://other/t"`},
			{`"_meta":{"termhost":{`, `"_meta":{"termhost":{"host":"other","unreachable":"x","host":"home",`},
			{`"channel":"ahp-terminal:/a"`, `"channel":"ahp-terminal://other/t","channel":"ahp-terminal:/here"`},
			{`"serverSeq":`, `"serverSeq":1,"serverSeq":`},
		} {
			line = strings.ReplaceAll(line, change[0], change[1])
		}
		return line
	})
	c := w.connect("home", way, ann)
	root := w.follow(c, ahp.RootURI)
	for _, name := range []string{"a", "b", "c"} {
		w.run(c, "ahp-terminal://box/"+name, "echo forged; read x")
	}
	w.lists(root, "what box has", func(list []ahp.TerminalInfo) bool { return len(list) >= 4 })
	for _, info := range root.Root().Terminals {
		on := info.Termhost.Host
		if strings.HasPrefix(info.Resource, "ahp-terminal://box/") != (on == "box") ||
			info.Termhost.Unreachable != "" {
			t.Errorf("%s is of %q, away %q", info.Resource, on, info.Termhost.Unreachable)
		}
	}
	m := w.follow(c, "ahp-terminal://box/c")
	var meta struct {
		Termhost struct{ Host, Unreachable string }
	}
	hosttest.Check(t, json.Unmarshal(m.Terminal().Meta, &meta))
	if meta.Termhost.Host != "box" || meta.Termhost.Unreachable != "" {
		t.Errorf("its state says %s", m.Terminal().Meta)
	}
	hosttest.Check(t, w.types(honest, target, "it"))
	w.sees(target, "got it")
	seen := w.follow(honest, target.URI()).Terminal()
	if text := fmt.Sprint(seen); contains(text, "forged") {
		t.Errorf("another host's terminal has %s", text)
	}
}

// An answer of a host to what another one was asked is none.
func TestABrokenHostAnswersForNoOther(t *testing.T) {
	w := newTown(t, "home", "box", "other")
	way := w.door("home")
	c := w.connect("home", way, ann)
	forged := make(chan struct{})
	w.breakInto("other", func(line string) string {
		if contains(line, `"origin"`) { // it is slow
			<-forged
		}
		return line
	})
	target := w.run(c, "ahp-terminal://other/t", "read x")
	w.breakInto("box", func(line string) string {
		if !contains(line, "terminal/data") {
			return line
		}
		for seq := range 20 {
			line = fmt.Sprintf(`{"jsonrpc":"2.0","method":"action","params":{`+
				`"channel":"ahp-terminal:/b","action":{"type":"terminal/input","data":""},`+
				`"serverSeq":5,"origin":{"clientId":%q,"clientSeq":%d},`+
				`"rejectionReason":"forged"}}`+"\n", c.ID(), seq) + line
		}
		return line
	})
	broken := w.run(c, "ahp-terminal://box/b", "read x; echo $x; read x")
	answered, done := make(chan error), make(chan struct{})
	go func() {
		defer close(done)
		answered <- c.Dispatch(w.ctx, target.URI(), ahp.TerminalResized{Cols: 90, Rows: 20})
	}()
	hosttest.Check(t, c.Ping(w.ctx))
	// Whether it is told that this was taken is for box to say.
	go func() { _ = w.types(c, broken, "they are forged") }()
	w.sees(broken, "they are forged\r\nthey")
	close(forged)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	<-done
}

// What is no AHP ends the link, with a reason, and nothing else.
func TestABrokenHostIsToldApart(t *testing.T) {
	for what, line := range map[string]string{
		"no JSON":        "nonsense\n",
		"no UTF-8":       "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}\n",
		"no snapshot":    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"snapshot\":{\"state\":1,\"fromSeq\":2}}}\n",
		"no number":      "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"snapshot\":{\"state\":{},\"fromSeq\":\"x\"}}}\n",
		"a large answer": "{\"id\":1,\"result\":\"" + strings.Repeat("x", 33<<20) + "\"}\n",
	} {
		t.Run(what, func(t *testing.T) {
			w := newTown(t, "home", "box")
			way := w.door("home")
			w.run(w.connect("home", way, bob), "ahp-terminal://box/t", "read x")
			w.breakInto("box", func(sent string) string {
				if contains(sent, `"result":{"snapshot":{`) {
					return line
				}
				return sent
			})
			c := w.connect("home", way, ann)
			if _, err := c.Subscribe(w.ctx, "ahp-terminal://box/t"); err == nil ||
				!contains(err.Error(), "box: ") {
				t.Errorf("it answers %v", err)
			}
			w.run(c, "ahp-terminal:/here", "read x")
		})
	}
}
