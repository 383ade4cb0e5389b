package mcpproxy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp/hosttest"
	"termhost/ahp/mcp"
)

// world is a server that is made with the SDK, a client that writes lines, and a proxy between them.
type world struct {
	t     *testing.T
	proxy *proxy
	in    *io.PipeWriter
	lines chan string // what the client gets
	ended chan error  // gets what the proxy returns
	ctx   context.Context

	release chan struct{} // what the tools of the server wait for; each takes an element
	calls   chan string   // the tools that were called
	subs    chan string   // the resources that were subscribed to
	told    chan bool     // gets an element for notifications/initialized
	intros  chan sdk.Meta // what the first pings of connections say

	notices chan string

	mu   sync.Mutex
	conn *hostConn // the last one
	away error     // why there are no connections; nil: there are
}

// hostConn is a connection to the server.
type hostConn struct {
	net.Conn
	hung atomic.Bool // nothing arrives any more, in either direction
}

func (c *hostConn) Write(b []byte) (int, error) {
	if c.hung.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func newWorld(t *testing.T, change func(*limits)) *world {
	t.Helper()
	w := &world{t: t, lines: make(chan string, 100), ended: make(chan error, 1), ctx: t.Context(),
		release: make(chan struct{}), calls: make(chan string, 100), subs: make(chan string, 100), told: make(chan bool, 100),
		intros:  make(chan sdk.Meta, 100),
		notices: make(chan string, 100)}
	server := sdk.NewServer(&sdk.Implementation{Name: "server"}, &sdk.ServerOptions{
		SubscribeHandler: func(_ context.Context, r *sdk.SubscribeRequest) error {
			w.subs <- r.Params.URI
			return nil
		},
		InitializedHandler: func(context.Context, *sdk.InitializedRequest) { w.told <- true },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if params, ok := r.GetParams().(*sdk.PingParams); ok && params != nil && params.Meta != nil {
				w.intros <- params.Meta
			}
			return next(ctx, method, r)
		}
	})
	server.AddResource(&sdk.Resource{Name: "r", URI: "x:/r"}, nil)
	for _, name := range []string{"terminal_read", "terminal_list", "terminal_run", "terminal_send", "other"} {
		server.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				w.calls <- name
				select {
				case <-w.release:
				case <-ctx.Done():
				}
				return &sdk.CallToolResult{Meta: sdk.Meta{mcp.MetaNumber: 3},
					Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
			})
	}
	var serving sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	dial := func(context.Context) (io.ReadWriteCloser, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.away != nil {
			return nil, w.away
		}
		near, far := net.Pipe()
		serving.Go(func() {
			_ = server.Run(ctx, mcp.NewLines(far, far))
			far.Close()
		})
		w.conn = &hostConn{Conn: near}
		return w.conn, nil
	}
	in, client := io.Pipe()
	got, out := io.Pipe()
	w.in = client
	w.proxy = newProxy(Config{In: in, Out: out, Host: "box", Dial: dial, Notice: func(s string) { w.notices <- s }})
	w.proxy.limits.lastWord = hosttest.Patience
	if change != nil {
		change(&w.proxy.limits)
	}
	go func() {
		w.ended <- w.proxy.run(ctx)
		out.Close()
	}()
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(w.lines)
		for lines := bufio.NewScanner(got); lines.Scan(); {
			w.lines <- lines.Text()
		}
	})
	t.Cleanup(func() {
		cancel()
		client.Close()
		reading.Wait()
		serving.Wait()
	})
	return w
}

// noticed waits until the user is told something.
func (w *world) noticed(part string) {
	w.t.Helper()
	for !strings.Contains(within(w.t, w.notices, part), part) {
	}
}

// cut ends the connection. Without a reason the next one can be made.
func (w *world) cut(away error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away = away
	w.conn.Close()
}

func (w *world) back() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away = nil
}

func (w *world) send(lines ...string) {
	w.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(w.in, line+"\n"); err != nil {
			w.t.Fatal(err)
		}
	}
}

func within[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(hosttest.Patience):
		t.Fatalf("%s does not come", what)
		panic("not reached")
	}
}

// gets fails unless the client's next line matches.
func (w *world) gets(pattern string) {
	w.t.Helper()
	line := within(w.t, w.lines, pattern)
	if !json.Valid([]byte(line)) || !regexp.MustCompile(pattern).MatchString(line) {
		w.t.Fatalf("the client gets %q, want %s", line, pattern)
	}
}

const (
	hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	helloDone = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func call(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, id, tool)
}

func (w *world) begin() {
	w.t.Helper()
	w.send(hello, helloDone)
	w.gets(`"id":0,"result":.*"protocolVersion":"2025-06-18"`)
}

// calledTool fails unless that tool is the next one that is called.
func (w *world) calledTool(name string) {
	w.t.Helper()
	if got := within(w.t, w.calls, name); got != name {
		w.t.Fatalf("%s was called, want %s", got, name)
	}
}

func TestCallsThatDoSomethingAreNeverSentTwice(t *testing.T) {
	w := newWorld(t, nil)
	w.begin()
	for i, tool := range []string{"terminal_run", "terminal_send", "other"} {
		w.send(call(2*i+1, tool))
		w.calledTool(tool)
		w.send(call(2*i+2, "terminal_read"))
		w.calledTool("terminal_read")
		w.cut(nil)
		w.gets(fmt.Sprintf(`"id":%d,"result":.*connection to box was lost.*terminal_list \{\}.*"isError":true`, 2*i+1))
		w.calledTool("terminal_read")
		w.release <- struct{}{}
		w.gets(fmt.Sprintf(`"id":%d,"result":.*done`, 2*i+2))
	}
	if len(w.calls) > 0 {
		t.Errorf("also called: %s", <-w.calls)
	}
}

func TestWhatTheClientHasSetUpIsSetUpAgain(t *testing.T) {
	w := newWorld(t, nil)
	w.begin()
	for i, uri := range []string{"x:/a", "x:/b", "x:/c"} {
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":%q}}`, i+1, uri))
		w.gets(fmt.Sprintf(`"id":%d,"result":\{\}`, i+1))
		within(t, w.subs, uri)
	}
	w.send(`{"jsonrpc":"2.0","id":4,"method":"resources/unsubscribe","params":{"uri":"x:/b"}}`)
	w.gets(`"id":4,"result":\{\}`)
	w.cut(nil)
	within(t, w.told, "notifications/initialized")
	within(t, w.told, "another one")
	again := map[string]bool{within(t, w.subs, "a subscription"): true, within(t, w.subs, "another"): true}
	if !again["x:/a"] || !again["x:/c"] {
		t.Errorf("subscribed to %v", again)
	}
	w.send(`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`)
	w.gets(`"id":5,"result":.*terminal_run`)
	w.in.Close()
	for line := range w.lines {
		t.Errorf("the client gets %s", line)
	}
	if err := within(t, w.ended, "the end"); err != nil {
		t.Error(err)
	}
}

// The host gives the client its own place among those of one name again.
func TestEachConnectionBeginsWithWhoTheClientIs(t *testing.T) {
	w, other := newWorld(t, nil), newWorld(t, nil)
	w.begin()
	first := within(t, w.intros, "an introduction")
	w.send(call(1, "terminal_list"))
	w.calledTool("terminal_list")
	w.release <- struct{}{}
	w.gets(`"id":1,"result":.*done`)
	w.cut(nil)
	again := within(t, w.intros, "another one")
	if id := first[mcp.MetaInstance]; id == nil || id == "" || again[mcp.MetaInstance] != id ||
		within(t, other.intros, "another client's")[mcp.MetaInstance] == id {
		t.Errorf("it is %v, and then %v", first, again)
	}
	if first[mcp.MetaNumber] != 0.0 || again[mcp.MetaNumber] != 3.0 {
		t.Errorf("it asks for %v, and then for %v", first[mcp.MetaNumber], again[mcp.MetaNumber])
	}
}

func TestAHandshakeWhoseAnswerIsLostIsMadeAgain(t *testing.T) {
	w := newWorld(t, nil)
	w.send(`{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	w.gets(`"id":9,"result"`) // there is a connection
	w.hang()
	w.send(hello, helloDone, `{"jsonrpc":"2.0","id":"x","method":"tools/list"}`, "nonsense")
	w.gets("-32700") // the others have been sent
	w.cut(nil)
	w.gets(`"id":0,"result":.*"protocolVersion":"2025-06-18"`)
	w.gets(`"id":"x","result":.*terminal_run`)
	within(t, w.told, "notifications/initialized")
}

// hang has the present connection carry nothing more.
func (w *world) hang() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn.hung.Store(true)
}

func TestRequestsWaitForTheHostButNotForever(t *testing.T) {
	w := newWorld(t, nil)
	w.begin()
	w.cut(errors.New("no route"))
	w.noticed("is lost")
	w.send(call(1, "terminal_run"))
	w.back()
	w.calledTool("terminal_run")
	w.release <- struct{}{}
	w.gets(`"id":1,"result":.*done`)

	w = newWorld(t, func(l *limits) { l.wait = 50 * time.Millisecond })
	w.begin()
	w.cut(errors.New("no route"))
	w.noticed("is lost")
	w.send(call(1, "terminal_run"), `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"terminal_run",`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	w.gets(`"id":1,"result":\{"content":.*box cannot be reached \(.*nothing was done.*"isError":true`)
	w.gets(`"id":2,"error":\{"code":-32603,"message":"box cannot be reached`)
	w.gets(`"id":3,"result":\{"resultType":"complete","content":.*"isError":true`)
	w.back()
	w.noticed("again")
	w.send(call(4, "terminal_list"))
	w.calledTool("terminal_list") // and not what was refused
	w.release <- struct{}{}
	w.gets(`"id":4,"result":.*done`)
}

// A machine that has slept, or lost its network, has a connection that carries nothing.
func TestAConnectionThatHangsIsNoticedBeforeACallIsSent(t *testing.T) {
	w := newWorld(t, func(l *limits) { l.stale, l.staleAnswer = 0, 50*time.Millisecond })
	w.begin()
	w.hang()
	w.send(call(1, "terminal_run"))
	w.calledTool("terminal_run") // by the next connection
	w.release <- struct{}{}
	w.gets(`"id":1,"result":.*done`)
}

func TestAConnectionThatHangsIsNoticedByItself(t *testing.T) {
	w := newWorld(t, func(l *limits) { l.silence, l.answer = 20*time.Millisecond, 50*time.Millisecond })
	w.begin()
	w.send(call(1, "terminal_read"))
	w.calledTool("terminal_read")
	w.hang()
	w.calledTool("terminal_read")
	w.release <- struct{}{}
	w.gets(`"id":1,"result":.*done`)
}

func TestARefusedLoginIsToldAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	w.begin()
	w.send(call(1, "terminal_list"))
	w.calledTool("terminal_list")
	w.cut(&RefusedError{"Permission denied (publickey).", time.Hour})
	w.gets(`"id":1,"result":.*box cannot be reached \(.*Permission denied.*next attempt is made in 1h0m0s.*"isError":true`)
	w.send(call(2, "terminal_run"))
	w.gets(`"id":2,"result":.*next attempt is made in.*"isError":true`)
}

func TestCancelledRequestsAreForgotten(t *testing.T) {
	w := newWorld(t, nil)
	w.begin()
	cancel := func(id int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
	}
	w.send(call(1, "terminal_read"))
	w.calledTool("terminal_read")
	w.send(cancel(1)) // the tool ends by that
	w.send(call(2, "terminal_run"))
	w.calledTool("terminal_run")
	w.cut(errors.New("no route"))
	w.gets(`"id":2,"result":.*"isError":true`) // and nothing for 1
	w.send(cancel(2))                          // too late, and no business of the host's
	w.send(call(3, "terminal_run"), cancel(3))
	w.back()
	w.send(call(4, "terminal_list"))
	w.calledTool("terminal_list")
	w.release <- struct{}{}
	w.gets(`"id":4,"result":.*done`)
}

func TestWhatIsNoMessageIsAnsweredOnce(t *testing.T) {
	w := newWorld(t, nil)
	w.begin()
	w.send(call(1, "terminal_read"))
	w.calledTool("terminal_read")
	for _, c := range []struct{ line, answer string }{
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `"id":1,"error":.*not answered yet`},
		{`{"jsonrpc":"2.0","id":1.0,"method":"ping"}`, `"id":1.0,"error":.*not answered yet`},
		{`nonsense`, `"id":null,"error":\{"code":-32700`},
		{`[]`, `"id":null,"error":\{"code":-32600.*batches`},
		{`3`, `"id":null,"error":\{"code":-32600.*object`},
		{`{}`, `"id":null,"error":\{"code":-32600`},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `"id":null,"error":\{"code":-32600.*an id is`},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `"id":null,"error":\{"code":-32600.*an id is`},
		{`{"jsonrpc":"2.0","id":5,"id":6,"method":"ping"}`, `"id":null,"error":\{"code":-32600.*twice`},
		{`{"jsonrpc":"2.0","id":5,"method":7}`, `"id":null,"error":\{"code":-32600`},
		{`{"jsonrpc":"2.0","id":"é\u00e9","method":"ping"}`, `"id":"éé","result":\{\}`},
		{"\r", ``},
		{`{"jsonrpc":"2.0","id":-7,"method":"ping"}` + "\r", `"id":-7,"result":\{\}`},
	} {
		w.send(c.line)
		if c.answer != "" {
			w.gets(c.answer)
		}
	}
	w.release <- struct{}{}
	w.gets(`"id":1,"result":.*done`)
}

func TestALongLineLeavesTheRestAlone(t *testing.T) {
	w := newWorld(t, nil)
	w.begin()
	long := strings.Repeat("x", maxLine)
	for _, c := range []struct{ line, id string }{
		{`{"id":"a","x":"` + long + `"}`, `"a"`},
		{`{"x":"` + long + `","id": 7 }`, `7`},
		{`{"x":"` + long + `\"id\":7}"}`, `null`},
		{`{"x":{"y":"` + long + `","id":7}}`, `null`},
		{long, `null`},
	} {
		w.send(c.line, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		w.gets(`"id":` + c.id + `,"error":\{"code":-32600,"message":"the message is longer than 4 MiB"`)
		w.gets(`"id":1,"result":\{\}`)
	}
}

// A client that reads nothing does not have the proxy hoard, and can still be left.
func TestAClientThatDoesNotReadIsLeftBySignal(t *testing.T) {
	in, client := io.Pipe()
	got, out := io.Pipe()
	defer got.Close()
	near, far := net.Pipe()
	var serving sync.WaitGroup
	serving.Go(func() { flood(far) })
	p := newProxy(Config{In: in, Out: out, Host: "box", Notice: func(string) {},
		Dial: func(context.Context) (io.ReadWriteCloser, error) { return near, nil }})
	p.limits.leave, p.limits.hangUp = 10*time.Millisecond, 10*time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.run(ctx) }()
	if _, err := bufio.NewReader(got).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for !p.out.full() {
		select {
		case err := <-ended:
			t.Fatalf("it has ended: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	if err := within(t, ended, "the end"); err != nil {
		t.Error(err)
	}
	client.Close()
	serving.Wait()
	if p.out.size > 2*maxQueue {
		t.Errorf("%d bytes wait", p.out.size)
	}
}

// flood answers the first request and sends notifications until it cannot.
func flood(conn net.Conn) {
	defer conn.Close()
	line, err := bufio.NewReader(conn).ReadBytes('\n')
	m, fault := parse([]byte(strings.TrimSpace(string(line))))
	if err != nil || fault != nil {
		return
	}
	_, err = fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", m.id)
	note := `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` +
		strings.Repeat("x", 1<<20) + `"}}` + "\n"
	for err == nil {
		_, err = io.WriteString(conn, note)
	}
}
