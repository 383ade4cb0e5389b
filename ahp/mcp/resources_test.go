package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/mcp"
	"termhost/authz"
)

// resourceText reads a resource; "": there is none.
func resourceText(t testing.TB, s *sdk.ClientSession, uri string) string {
	t.Helper()
	r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return ""
	}
	if len(r.Contents) != 1 || r.CacheScope != "private" || r.Contents[0].URI != uri || r.Contents[0].MIMEType != "text/plain" {
		t.Errorf("%s: %+v", uri, r.Contents)
	}
	return r.Contents[0].Text
}

func TestResourcesAreListedAndRead(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	server := newServer()
	alice := hosttest.Principal("alice", authz.Admin)
	for _, version := range []string{older, newest} {
		a := connectVersion(t, server, h, alice, version, nil)
		list, err := a.session.ListResources(t.Context(), nil)
		hosttest.Check(t, err)
		if version == older && len(list.Resources) != 0 {
			t.Errorf("resources of no terminal: %+v", list.Resources)
		}
		if list.CacheScope != "private" || list.TTLMs != 0 {
			t.Errorf("the list may be cached: %+v", list.Cacheable)
		}
		templates, err := a.session.ListResourceTemplates(t.Context(), nil)
		hosttest.Check(t, err)
		if templates.CacheScope != "private" {
			t.Errorf("the templates may be cached: %+v", templates.Cacheable)
		}
		var uris []string
		for _, r := range templates.ResourceTemplates {
			uris = append(uris, r.URITemplate)
		}
		if got := strings.Join(uris, " "); got != "termhost:///{name}/log termhost:///{name}/screen" {
			t.Errorf("templates: %s", got)
		}
		// All the characters that a NAME may have are such as a URI has them.
		name := "A-z_0.9" + strings.ReplaceAll(version, "-", "")
		a.call("terminal_run", args{"name": name, "command": `printf '\033[31mred\033[m\n'; seq 100; printf '\033[2J\033[Hscreen'; exec sleep 1000`, "background": true})
		hosttest.Eventually(t, "the screen", func() bool { return resourceText(t, a.session, "termhost:///"+name+"/screen") == "screen\n" })
		like(t, resourceText(t, a.session, "termhost:///"+name+"/log"), `(?s)^red\n1\n2\n.*\n100\n.*screen\n$`)
		list, err = a.session.ListResources(t.Context(), nil)
		hosttest.Check(t, err)
		uris = nil
		for _, r := range list.Resources {
			uris = append(uris, r.URI)
		}
		if got := strings.Join(uris, " "); !strings.Contains(got, "termhost:///"+name+"/screen termhost:///"+name+"/log") {
			t.Errorf("resources: %s", got)
		}
		like(t, a.call("terminal_read", args{"terminal": name, "cursor": 0}), `\nred\n`) // reading moved nothing
		a.call("terminal_stop", args{"terminal": name, "how": "remove"})
		for _, uri := range []string{
			"termhost:///" + name + "/screen", "termhost:///" + name + "/log", "termhost:///" + name, "termhost:///" + name + "/", "termhost:////log",
			"termhost:///../log", "termhost://x/log", "file:///etc/passwd", "", "termhost:///" + strings.Repeat("x", 1<<20) + "/log", "termhost:///a%00/log",
		} {
			if _, err := a.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%.80q is read", uri)
			}
		}
	}
}

func TestALongLogIsReadInParts(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	a.call("terminal_run", args{"name": "big", "command": "seq 40000"})
	text := resourceText(t, a.session, "termhost:///big/log")
	if n := len([]rune(text)); n > 41_000 {
		t.Errorf("the resource has %d characters", n)
	}
	like(t, text, `^1\n2\n`)
	like(t, text, `\n\[\.\.\. \d+ lines omitted: terminal_read \{"terminal":"big","cursor":\d+\} \.\.\.\]\n`)
	like(t, text, `\n40000\n$`)
}

// updates are those that a client was told of.
type updates chan string

func (u updates) options() *sdk.ClientOptions {
	return &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
		u <- r.Params.URI
	}}
}

// connectVersion is connectTo with a client that speaks a version.
func connectVersion(t testing.TB, server *mcp.Server, h *host.Host, p authz.Principal, version string, o *sdk.ClientOptions) *agent {
	t.Helper()
	return connectPeer(t, server, mcp.Peer{Host: h, Principal: p}, "claude-code", o, &sdk.ClientSessionOptions{ProtocolVersion: version})
}

func TestChangesOfAResourceAreTold(t *testing.T) {
	t.Parallel()
	for _, version := range []string{older, newest} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			h := hosttest.New(t)
			told := make(updates, 1000)
			alice := hosttest.Principal("alice", authz.Admin)
			a := connectVersion(t, newServer(), h, alice, version, told.options())
			conn := hosttest.Conn(t, h, alice)
			made, err := conn.Create(host.CreateOptions{Name: "w", Line: "stty -echo; echo begun; while read x; do echo got $x; done; exit 3"})
			hosttest.Check(t, err)
			const uri = "termhost:///w/log"
			// Nothing of the client's has been asked for yet.
			a.subscribe(uri)
			begun := time.Now()
			n := 0
			next := func() {
				t.Helper()
				if got := slowtest.Receive(t, "an update", told); got != uri {
					t.Errorf("told of %s", got)
				}
				n++
			}
			// Whatever is printed, the client is told of the last of it.
			for i := range 30 {
				hosttest.Check(t, conn.Send(t.Context(), made.Terminal, fmt.Appendf(nil, "%d.\n", i)))
			}
			for !strings.Contains(resourceText(t, a.session, uri), "got 29.\n") {
				next()
			}
			hosttest.Check(t, conn.Send(t.Context(), made.Terminal, []byte("\x04"))) // it exits
			hosttest.Eventually(t, "it exits", func() bool { _, exited := made.Terminal.Exit(); return exited })
			next()
			hosttest.Check(t, conn.Dispose(made.Terminal))
			if most := 1 + int(time.Since(begun)/time.Second); n > most+1 {
				t.Errorf("%d updates in %s", n, time.Since(begun))
			}
			if got := resourceText(t, a.session, uri); got != "" {
				t.Errorf("a removed terminal shows %q", got)
			}
		})
	}
}

func TestTheEndOfATerminalIsTold(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	told := make(updates, 1000)
	alice := hosttest.Principal("alice", authz.Admin)
	a := connectVersion(t, newServer(), h, alice, older, told.options())
	a.call("terminal_run", args{"name": "x", "command": "exec sleep 1000", "background": true})
	a.subscribe("termhost:///x/screen")
	a.call("terminal_stop", args{"terminal": "x", "how": "remove"})
	slowtest.Receive(t, "an update", told)
	err := a.session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "termhost:///x/screen"})
	if err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("a subscription to a terminal that is gone: %v", err)
	}
}

// A subscription is about a terminal, and ends with it: another one that gets the NAME, or to which
// the URI leads once the first is renamed, is none of a guest's business.
func TestASubscriptionEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	const uri = "termhost:///x/screen"
	for _, version := range []string{older, newest} {
		for _, renamed := range []bool{false, true} {
			h := hosttest.New(t)
			server := newServer()
			alice := hosttest.Principal("alice", authz.Admin)
			conn := hosttest.Conn(t, h, alice)
			create := func() *host.Terminal {
				made, err := conn.Create(host.CreateOptions{Name: "x", Line: "stty -echo; echo ready; while read x; do echo got $x; done"})
				hosttest.Check(t, err)
				return made.Terminal
			}
			first := create()
			guests, owners := make(updates, 1000), make(updates, 1000)
			g := connectVersion(t, server, h, guestOf(first, alice, authz.Observer), version, guests.options())
			g.subscribe(uri)
			hosttest.Check(t, conn.Send(t.Context(), first, []byte("it\n")))
			slowtest.Receive(t, "an update of the guest's terminal", guests)
			if renamed {
				_, err := conn.GiveName(first, "y")
				hosttest.Check(t, err)
			} else {
				hosttest.Check(t, conn.Dispose(first))
			}
			second := create()
			a := connectVersion(t, server, h, alice, version, owners.options())
			a.subscribe(uri)
			for len(guests) > 0 {
				<-guests
			}
			const updated = 10
			for i := range updated {
				hosttest.Check(t, conn.Send(t.Context(), second, fmt.Appendf(nil, "%d\n", i)))
				slowtest.Receive(t, "an update of the other", owners)
			}
			// What the first's end has caused may come late.
			if g.session.Ping(t.Context(), nil) != nil || len(guests) > updated/2 {
				t.Errorf("%s, renamed: %v: the guest is told %d times", version, renamed, len(guests))
			}
		}
	}
}

func TestWhoUnsubscribesIsToldNothing(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	server := newServer()
	alice := hosttest.Principal("alice", authz.Admin)
	for _, version := range []string{older, newest} {
		left, stays := make(updates, 1000), make(updates, 1000)
		a := connectVersion(t, server, h, alice, version, left.options())
		b := connectVersion(t, server, h, alice, version, stays.options())
		name := "u" + strings.ReplaceAll(version, "-", "")
		uri := "termhost:///" + name + "/screen"
		a.call("terminal_run", args{"name": name, "command": "stty -echo -icanon; while read x; do echo $x; done", "background": true})
		for _, s := range []*agent{a, b} {
			s.subscribe(uri)
		}
		hosttest.Check(t, a.session.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: uri}))
		for range 2 {
			a.call("terminal_send", args{"terminal": name, "text": "more"})
			slowtest.Receive(t, "an update", stays)
		}
		if version == older && len(left) > 0 { // in the newest the end is not answered
			t.Errorf("%s: %d updates after the end", version, len(left))
		}
	}
}

func TestSubscriptionsAreBounded(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	alice := hosttest.Principal("alice", authz.Admin)
	a := connectVersion(t, newServer(), h, alice, older, nil)
	conn := hosttest.Conn(t, h, alice)
	const most = 64
	var second *host.Terminal
	for i := range most/2 + 1 {
		made, err := conn.Create(host.CreateOptions{Name: fmt.Sprint("t", i), Line: "exec sleep 1000"})
		hosttest.Check(t, err)
		if i == 1 {
			second = made.Terminal
		}
		for j, view := range []string{"screen", "log"} {
			for range 2 { // the second time is no other one
				uri := fmt.Sprintf("termhost:///t%d/%s", i, view)
				err := a.session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri})
				if n := 2*i + j; n < most && err != nil || n >= most && (err == nil || !strings.Contains(err.Error(), "too many subscriptions")) {
					t.Fatalf("subscription %d: %v", n, err)
				}
			}
		}
	}
	hosttest.Check(t, a.session.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: "termhost:///t0/log"}))
	a.subscribe("termhost:///t32/log")
	hosttest.Check(t, hosttest.Dispose(h, alice, second)) // its subscriptions end
	hosttest.Eventually(t, "there is room", func() bool {
		return a.session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "termhost:///t32/screen"}) == nil
	})
}

// A client that subscribes and reads nothing has nobody wait.
func TestASubscriberThatReadsNothingHoldsUpNobody(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	server := newServer()
	alice := hosttest.Principal("alice", authz.Admin)
	told := make(updates, 1000)
	a := connectVersion(t, server, h, alice, older, told.options())
	a.call("terminal_run", args{"name": "w", "command": "stty -echo -icanon; while read x; do echo $x; done", "background": true})
	uri := "termhost:///w/screen"
	for range 5 {
		stuck := rawClient(t, server, h, alice, 0).handshake()
		stuck.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":%q}}`, uri))
		stuck.receive() // the last that it reads
	}
	a.subscribe(uri)
	begun := time.Now()
	for i := range 4 {
		a.call("terminal_send", args{"terminal": "w", "text": fmt.Sprint(i)})
		slowtest.Receive(t, "an update", told)
	}
	if d := time.Since(begun); d > slowtest.PatienceOf(t)/2 {
		t.Errorf("4 updates took %s", d)
	}
}

// Two requests of one client over HTTP listen to the same resource: the end of one is not that of
// the other.
func TestListensOverHTTPEndByThemselves(t *testing.T) {
	t.Parallel()
	w := newWeb(t, mcp.HTTPOptions{})
	token := w.token(w.alice, "a")
	a := w.agent(token, "claude-code", newest)
	a.call("terminal_run", args{"name": "w", "command": "stty -echo -icanon; while read x; do echo $x; done", "background": true})
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["termhost:///w/log"]},"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, newest)
	listen := func() (lines <-chan string, end func()) {
		r := w.ask("POST", token, body, "MCP-Protocol-Version: "+newest, "Mcp-Method: subscriptions/listen")
		if r.StatusCode != 200 {
			t.Fatalf("listen: %s", r.Status)
		}
		out := make(chan string, 1000)
		go func() {
			defer close(out)
			for d := json.NewDecoder(dataOnly(r.Body)); ; {
				var m struct{ Method string }
				if d.Decode(&m) != nil {
					return
				}
				out <- m.Method
			}
		}()
		return out, func() { r.Body.Close() }
	}
	first, endFirst := listen()
	second, endSecond := listen()
	defer endSecond()
	for _, l := range []<-chan string{first, second} {
		if got := slowtest.Receive(t, "the answer", l); got != "notifications/subscriptions/acknowledged" {
			t.Errorf("answered by %s", got)
		}
	}
	endFirst()
	for range first {
	}
	for i := range 3 {
		a.call("terminal_send", args{"terminal": "w", "text": fmt.Sprint(i)})
		if got := slowtest.Receive(t, "an update", second); got != "notifications/resources/updated" {
			t.Errorf("told %q", got)
		}
	}
}

// dataOnly returns the messages of a stream of server-sent events.
func dataOnly(r io.Reader) io.Reader {
	out, in := io.Pipe()
	go func() {
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				_, _ = io.WriteString(in, data+"\n")
			}
		}
		in.CloseWithError(io.EOF)
	}()
	return out
}
