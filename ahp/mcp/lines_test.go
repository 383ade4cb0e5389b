package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/mcp"
	"termhost/authz"
)

// lineClient is an MCP client that may write anything.
type lineClient struct {
	t       testing.TB
	out     *io.PipeWriter
	answers chan answerLine // closed when the session has ended
}

// answerLine is a message from the host.
type answerLine struct {
	ID     any             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// text returns the text of a tool's result.
func (a answerLine) text(t testing.TB) string {
	t.Helper()
	var r struct{ Content []struct{ Text string } }
	if a.Error != nil || json.Unmarshal(a.Result, &r) != nil || len(r.Content) != 1 {
		t.Fatalf("no result: %+v %s", a.Error, a.Result)
	}
	return r.Content[0].Text
}

// rawClient starts a session over lines, without the handshake. It reads as many answers ahead.
func rawClient(t testing.TB, server *mcp.Server, h *host.Host, p authz.Principal, ahead int) *lineClient {
	t.Helper()
	in, out := io.Pipe()
	back, answers := io.Pipe()
	c := &lineClient{t: t, out: out, answers: make(chan answerLine, ahead)}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		_ = server.Serve(ctx, mcp.Peer{Host: h, Principal: p}, mcp.NewLines(in, answers))
		answers.Close()
	})
	running.Go(func() {
		defer close(c.answers)
		for lines := bufio.NewReader(back); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			var a answerLine
			if err := json.Unmarshal(line, &a); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			c.answers <- a
		}
	})
	t.Cleanup(func() {
		out.Close()
		for range c.answers {
		}
		running.Wait()
		cancel()
	})
	return c
}

// handshake begins a session of an older version.
func (c *lineClient) handshake() *lineClient {
	c.t.Helper()
	c.write(`{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`)
	if a := c.receive(); a.ID != "begin" || a.Error != nil {
		c.t.Fatalf("%+v", a)
	}
	c.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *lineClient) write(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(c.out, line+"\n"); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *lineClient) receive() answerLine {
	c.t.Helper()
	a := slowtest.Receive(c.t, "an answer", c.answers)
	if a.ID == nil && a.Error == nil && a.Method == "" {
		c.t.Fatal("the session has ended")
	}
	return a
}

// pings fails unless a session goes on.
func (c *lineClient) pings(id int) {
	c.t.Helper()
	c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id))
	if a := c.receive(); a.ID != float64(id) || a.Error != nil {
		c.t.Fatalf("a ping is answered by %+v", a)
	}
}

// toolCall is the line of a tool's call.
func toolCall(id any, tool string, arguments args) string {
	line, err := json.Marshal(args{"jsonrpc": "2.0", "id": id, "method": "tools/call",
		"params": args{"name": tool, "arguments": arguments}})
	if err != nil {
		panic(err)
	}
	return string(line)
}

func newServer() *mcp.Server { return mcp.New(mcp.Options{Version: "test"}) }

func rawAlice(t testing.TB, h *host.Host) *lineClient {
	t.Helper()
	return rawClient(t, newServer(), h, hosttest.Principal("alice", authz.Admin), 10_000).handshake()
}

func TestALineThatIsNoMessageIsAnsweredAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	c := rawAlice(t, hosttest.New(t))
	for i, test := range []struct {
		line string
		id   any
		code int
	}{
		{"Welcome to the machine!", nil, -32700},
		{"Last login: Mon", nil, -32700},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"`, nil, -32700},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\xffng\"}", nil, -32700},
		{"\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, nil, -32700},
		{"\x00", nil, -32700},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, nil, -32600},
		{`[]`, nil, -32600},
		{`5`, nil, -32600},
		{`null`, nil, -32600},
		{`{}`, nil, -32600},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, nil, -32600},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, nil, -32600},
		{`{"jsonrpc":"2.0","id":1,"method":5}`, nil, -32600},
		{`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, nil, -32600},
		{`{"jsonrpc":"2.0","id":1,"ID":2,"method":"ping"}`, nil, -32600},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"terminal_list","name":"terminal_run"}}`, nil, -32600},
		{strings.Repeat("[", 20_000), nil, -32700},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000) + "}", nil, -32700},
		{strings.Repeat("x", 17<<20), nil, -32600},
		{`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 17<<20) + `"}`, nil, -32600},
		{`{"jsonrpc":"2.0","id":1,"method":"nosuch"}`, 1.0, -32601},
		{`{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`, 2.0, -32601},
		{`{"jsonrpc":"2.0","id":3,"method":"notifications/initialized"}`, 3.0, -32600},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call"}`, 4.0, -32600},
		{`{"jsonrpc":"2.0","id":"5","method":"tools/call","params":[]}`, "5", -32602},
		{`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"nosuch"}}`, 6.0, -32602},
		{`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"termhost:///no/screen"}}`, 7.0, -32602},
	} {
		c.write(test.line)
		a := c.receive()
		if a.Error == nil || a.Error.Code != test.code || a.ID != test.id {
			t.Errorf("%.60q: %+v %+v", test.line, a, a.Error)
		}
		c.pings(100 + i)
	}
}

func TestWhatNeedsNoAnswerGetsNone(t *testing.T) {
	t.Parallel()
	c := rawAlice(t, hosttest.New(t))
	c.write("", " \t\r",
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"terminal_list"}}`,
		`{"jsonrpc":"2.0","method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","method":"ping"}`,
		`{"jsonrpc":"2.0","method":"nosuch"}`,
		`{"jsonrpc":"2.0","method":"notifications/nosuch","params":{"a":[1,{}]}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nosuch"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{},"progress":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":7}`,
		`{"jsonrpc":"2.0","id":9,"result":{}}`,
		`{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.pings(1)
	if a, ok := pending(c.answers); ok {
		t.Errorf("an answer to nothing: %+v", a)
	}
}

// pending returns what has arrived already.
func pending[T any](from <-chan T) (v T, ok bool) {
	select {
	case v, ok = <-from:
	default:
	}
	return v, ok
}

// longLine is the length of a line that no message has, in bytes.
const longLine = 128 << 20

// writeLong writes a line of longLine bytes, and checks its answer.
func (c *lineClient) writeLong() {
	c.t.Helper()
	piece := bytes.Repeat([]byte{'x'}, 1<<20)
	for range longLine / len(piece) {
		if _, err := c.out.Write(piece); err != nil {
			c.t.Fatal(err)
		}
	}
	c.write("")
	if a := c.receive(); a.Error == nil || a.Error.Message != "a message has at most 4 MiB" {
		c.t.Errorf("%+v", a)
	}
}

func TestAfterALongLineTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	c := rawAlice(t, hosttest.New(t))
	c.writeLong()
	c.pings(1)
}

func TestMeasuresALongLine(t *testing.T) {
	slowtest.Measures(t)
	c := rawAlice(t, hosttest.New(t))
	held := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.Sys
	}
	before := held()
	c.writeLong()
	if grown := int64(held() - before); grown > 32<<20 {
		t.Errorf("a line of %d MiB takes %d MiB of memory", longLine>>20, grown>>20)
	}
}

func TestALineThatEndsWithTheStreamIsAMessage(t *testing.T) {
	t.Parallel()
	var answers bytes.Buffer
	in := io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\r\nx"), &failing{io.ErrUnexpectedEOF})
	l := mcp.NewLines(in, nopCloser{&answers})
	if m, err := l.Read(t.Context()); err != nil {
		t.Errorf("%v, %v", m, err)
	}
	if m, err := l.Read(t.Context()); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v, %v", m, err)
	}
	if got := answers.String(); !strings.Contains(got, `"id":null`) || !strings.Contains(got, "-32700") {
		t.Errorf("answered: %s", got)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func TestTwoRequestsWithTheSameIDAreAnsweredOnceEach(t *testing.T) {
	t.Parallel()
	c := rawAlice(t, hosttest.New(t))
	c.write(toolCall(1, "terminal_run", args{"name": "w", "command": "read line; echo got $line"}))
	waits := toolCall(7, "terminal_read", args{"terminal": "w", "wait_s": 40, "until": "got"})
	if text := c.receive().text(t); !strings.Contains(text, "waiting for input") {
		t.Fatal(text)
	}
	c.write(waits, waits)
	if a := c.receive(); a.ID != nil || a.Error == nil || a.Error.Code != -32600 {
		t.Errorf("the second one: %+v", a)
	}
	c.write(toolCall(8, "terminal_send", args{"terminal": "w", "text": "x"}))
	for range 2 {
		if a := c.receive(); a.ID != 7.0 && a.ID != 8.0 || a.Error != nil {
			t.Errorf("%+v", a)
		}
	}
	c.write(toolCall(7, "terminal_list", nil)) // the id is free again
	if a := c.receive(); a.ID != 7.0 || a.Error != nil {
		t.Errorf("%+v", a)
	}
	c.pings(9)
}

func TestCallsUnderWayAreBoundedOverLines(t *testing.T) {
	t.Parallel()
	c := rawAlice(t, hosttest.New(t))
	c.write(toolCall("run", "terminal_run", args{"name": "w", "command": "exec sleep 1000", "background": true}))
	c.receive()
	const most, more = 128, 20
	for i := range most + more {
		c.write(toolCall(i, "terminal_read", args{"terminal": "w", "wait_s": 40, "until": "never"}))
	}
	for range more {
		if a := c.receive(); a.Error == nil || !strings.Contains(a.Error.Message, "128 calls are under way already") {
			t.Errorf("%+v", a)
		}
	}
	for i := range most { // what waits may be cancelled nevertheless
		c.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
	}
	for range most {
		c.receive()
	}
	c.pings(1)
}

func TestWhatCallsUnderWayHoldIsBounded(t *testing.T) {
	t.Parallel()
	c := rawAlice(t, hosttest.New(t))
	c.write(toolCall("run", "terminal_run", args{"name": "w", "command": "exec sleep 1000", "background": true}))
	c.receive()
	long := strings.Repeat("x", 3<<20)
	for i := range 6 {
		c.write(toolCall(i, "terminal_read", args{"terminal": "w", "wait_s": 40, "until": "never", "note": long}))
	}
	if a := c.receive(); a.ID != 5.0 || a.Error == nil || !strings.Contains(a.Error.Message, "too long together") {
		t.Errorf("%+v %+v", a, a.Error)
	}
	c.pings(100)
}

// A client that reads no answers is not read either, once enough of them wait.
func TestAClientThatReadsNoAnswersIsNotRead(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	c := rawClient(t, newServer(), h, hosttest.Principal("alice", authz.Admin), 0)
	sent := make(chan int)
	go func() {
		n := 0
		for ; n < 100_000; n++ {
			if _, err := fmt.Fprintf(c.out, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", n); err != nil {
				break
			}
		}
		sent <- n
	}()
	other := rawAlice(t, h) // meanwhile others are answered
	for i := range 200 {
		other.pings(i)
	}
	c.out.Close()
	if n := slowtest.Receive(t, "the writer ends", sent); n > 1000 {
		t.Errorf("%d requests were read, none of whose answers was", n)
	}
}
