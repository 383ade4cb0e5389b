package relay_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/ahp/rpc/relay"
)

// page is a client with a person before it.
type page struct {
	t     *testing.T
	nc    net.Conn
	lines *bufio.Reader
}

func (w *town) page(at string, way *relay.Doorway, clientID string) *page {
	w.t.Helper()
	nc, err := hosttest.Dial(w.t, w.hosts[at], ann, rpc.Options{Fleet: way})
	hosttest.Check(w.t, err)
	w.t.Cleanup(func() { nc.Close() })
	p := &page{w.t, nc, bufio.NewReader(nc)}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://",` +
		`"clientId":"` + clientID + `","protocolVersions":["1.0.0"]}}`)
	return p
}

func (p *page) send(line string) {
	p.t.Helper()
	_, err := io.WriteString(p.nc, line+"\n")
	hosttest.Check(p.t, err)
}

func (p *page) looks(at ...string) {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","method":"termhost/looking","params":{"channel":"ahp-root://",` +
		`"terminals":` + string(ahp.Encode(append([]string{}, at...))) + `}}`)
}

// told waits until the page is told what ok accepts of a method's params.
func (p *page) told(method, what string, ok func(params string) bool) {
	p.t.Helper()
	last := ""
	for {
		line, err := p.lines.ReadString('\n')
		if err != nil {
			p.t.Fatalf("%s: %v; it was told %s", what, err, last)
		}
		var m struct {
			Method string
			Params json.RawMessage
		}
		hosttest.Check(p.t, json.Unmarshal([]byte(line), &m))
		if m.Method != method {
			continue
		}
		if last = string(m.Params); ok(last) {
			return
		}
	}
}

// wants waits until terminals, and no others, want the person.
func (p *page) wants(want string) {
	p.t.Helper()
	p.told(ahp.MethodWanting, "that it wants "+want, func(params string) bool {
		var told ahp.Wanting
		hosttest.Check(p.t, json.Unmarshal([]byte(params), &told))
		var all []string
		for _, w := range told.Terminals {
			all = append(all, w.Terminal+" "+w.Why)
		}
		return strings.Join(all, ", ") == want
	})
}

func TestWhatWantsAPersonIsOfAllHosts(t *testing.T) {
	w := newTown(t, "home", "box")
	way := w.door("home")
	c := w.connect("home", way, ann)
	const uri = "ahp-terminal://box/t"
	w.run(c, uri, "exec sleep 1000")
	p := w.page("home", way, "p")
	p.looks()
	p.wants("") // the host is told that somebody looks, from here on
	says := func(text string) {
		t.Helper()
		hosttest.Eventually(t, "it says "+text, func() bool {
			err := c.Call(w.ctx, ahp.MethodStatus,
				map[string]any{"channel": uri, "state": "done", "text": text}, nil)
			if err != nil && contains(err.Error(), "lost before it was answered") {
				return false // the link that is lost had taken the call
			}
			hosttest.Check(t, err)
			return true
		})
	}
	says("one")
	p.wants(uri + " done")
	p.looks(uri)
	p.wants("")
	p.looks()
	label := map[string]any{"channel": uri, "labels": map[string]string{"group": "shop"}}
	hosttest.Check(t, c.Call(w.ctx, ahp.MethodLabel, label, nil))
	p.told(ahp.MethodGroups, "its group", func(params string) bool {
		return contains(params, `"`+uri+`":"shop"`)
	})

	// A lost link is made again, and tells the same and more.
	w.lose("box")
	says("two")
	p.wants(uri + " done")

	// What is on a host that is removed wants nobody.
	w.mu.Lock()
	w.gone["box"] = true
	w.mu.Unlock()
	w.lose("box")
	p.wants("")
}

// A host that joins the fleet, or comes back, tells by itself.
func TestAHostThatJoinsTellsWhatWantsAPerson(t *testing.T) {
	w := newTown(t, "home", "box")
	w.cut("box", true)
	way := w.door("home")
	p := w.page("home", way, "p")
	p.looks()
	p.wants("")
	hosts := func(what, want string) {
		t.Helper()
		p.told(ahp.MethodHosts, what, func(params string) bool { return contains(params, want) })
	}
	hosts("that it is silent", `[{"host":"box","unreachable":"2`)
	w.cut("box", false)
	hosts("that it is back", `[{"host":"box"},{"host":"home","self":true}]`)
	c := w.connect("home", way, ann)
	const uri = "ahp-terminal://box/t"
	w.sees(w.run(c, uri, `printf '\a'; echo rang; exec sleep 1000`), "rang")
	p.told(ahp.MethodWanting, "what wants", func(params string) bool { return contains(params, uri) })
}

// What a host that was broken into says wants somebody is on that host.
func TestABrokenHostWantsNobodyElsewhere(t *testing.T) {
	w := newTown(t, "home", "box", "other")
	way := w.door("home")
	const since = `"since":"2026-01-02T03:04:05Z"`
	w.breakInto("box", func(sent string) string {
		if !contains(sent, ahp.MethodWanting) {
			return sent
		}
		return `{"jsonrpc":"2.0","method":"termhost/wanting","params":{"channel":"ahp-root://","terminals":[` +
			`{"terminal":"ahp-terminal:/a","why":"bell",` + since + `,"text":"\u001b[2J` +
			strings.Repeat("x", 10_000) + `"},` +
			`{"terminal":"ahp-terminal:/b","why":"constructor",` + since + `},` +
			`{"terminal":"ahp-root://","why":"bell",` + since + `}],` +
			`"keyboards":[{"terminal":"agent://other/t"}]}}` + "\n" +
			`{"jsonrpc":"2.0","method":"termhost/groups","params":{"channel":"ahp-root://","groups":` +
			`{"ahp-terminal:/a":"ab\u001b","ahp-root://":"x","ahp-terminal:/b":"` +
			strings.Repeat("x", 10_000) + `"}}}` + "\n"
	})
	p := w.page("home", way, "p")
	p.looks()
	p.told(ahp.MethodWanting, "what it wants", func(params string) bool {
		var told ahp.Wanting
		hosttest.Check(t, json.Unmarshal([]byte(params), &told))
		if len(told.Terminals) == 0 {
			return false
		}
		one := told.Terminals[0]
		if len(told.Terminals) > 1 || one.Terminal != "ahp-terminal://box/a" ||
			len(one.Text) > 5000 || contains(one.Text, "\x1b") {
			t.Errorf("there is %.300s", params)
		}
		if got := fmt.Sprint(told.Keyboards); got != "[{ahp-terminal://box/agent:@other/t false}]" {
			t.Errorf("there are the keyboards %s", got)
		}
		return true
	})
	p.told(ahp.MethodGroups, "its groups", func(params string) bool {
		if !contains(params, `"ahp-terminal://box/a":"ab`) || len(params) > 300 || contains(params, "u001b") {
			t.Errorf("there are %.300s", params)
		}
		return true
	})
}
