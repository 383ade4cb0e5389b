package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/host"
	"termhost/ahp/rpc"
)

// stage is a proxy between an editor and an agent that the test plays, with a
// host behind it.
type stage struct {
	t             testing.TB
	proxy         *Proxy
	editor, agent *side
	host          *host.Host
	methods       *Methods
	client        *client.Client
	ended         chan error

	mu    sync.Mutex
	notes []string
	cut   func() // loses the connection to the host
	sieve sieve
	block chan struct{} // not nil: connections wait for its close
}

// side is a peer that a test plays.
type side struct {
	t   testing.TB
	out *io.PipeWriter // to the proxy
	in  *bufio.Reader  // from the proxy
}

func (s *side) sends(line string) {
	s.t.Helper()
	_, err := io.WriteString(s.out, line)
	check(s.t, err)
}

// line returns the next line, which must come.
func (s *side) line() string {
	s.t.Helper()
	got := make(chan string, 1)
	go func() {
		line, err := s.in.ReadString('\n')
		if err != nil {
			line += "<" + err.Error() + ">"
		}
		got <- line
	}()
	select {
	case line := <-got:
		return line
	case <-time.After(patience):
		s.t.Fatal("nothing comes")
		return ""
	}
}

// gets expects a line, byte for byte.
func (s *side) gets(want string) {
	s.t.Helper()
	if got := s.line(); got != want {
		s.t.Fatalf("got  %q\nwant %q", got, want)
	}
}

// reply is any message, decoded.
type reply struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *ahp.Error
}

func (s *side) message() (r reply) {
	s.t.Helper()
	line := s.line()
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		s.t.Fatalf("%v: %q", err, line)
	}
	return r
}

// asks sends a request and returns the answer, which is the next message.
func (s *side) asks(id int, method string, p params) reply {
	s.t.Helper()
	s.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, encode(p)))
	r := s.message()
	if string(r.ID) != fmt.Sprint(id) {
		s.t.Fatalf("the answer to %d is %+v", id, r)
	}
	return r
}

func newStage(t testing.TB, change ...func(*Proxy)) *stage {
	st := &stage{t: t, host: newHost(t), ended: make(chan error, 1)}
	st.methods = NewMethods(st.host, nil)
	editorIn, fromEditor := io.Pipe()
	toEditor, editorOut := io.Pipe()
	agentIn, fromAgent := io.Pipe()
	toAgent, agentOut := io.Pipe()
	st.editor = &side{t, fromEditor, bufio.NewReader(toEditor)}
	st.agent = &side{t, fromAgent, bufio.NewReader(toAgent)}
	st.proxy = NewProxy(ProxyConfig{
		Editor: Stream{editorIn, editorOut}, Agent: Stream{agentIn, agentOut}, AgentName: "an agent", Dir: "/",
		Attach: func(uri string) []string { return []string{"show", uri} },
		Note: func(s string) {
			st.mu.Lock()
			defer st.mu.Unlock()
			st.notes = append(st.notes, s)
		},
	})
	for _, f := range change {
		f(st.proxy)
	}
	c, err := client.Connect(t.Context(), client.Config{Dial: client.Lines(st.dial), OnState: st.proxy.HostState, MinBackoff: 1, MaxBackoff: 1})
	check(t, err)
	st.client = c
	go func() { st.ended <- st.proxy.Run(c) }()
	t.Cleanup(func() {
		go io.Copy(io.Discard, toEditor)
		go io.Copy(io.Discard, toAgent)
		fromEditor.Close()
		fromAgent.Close()
		<-st.ended
		<-st.proxy.EditorGone()
		editorOut.Close()
		agentOut.Close()
		c.Close()
	})
	return st
}

// dial connects to the host through a pipe in memory.
func (st *stage) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	st.mu.Lock()
	block := st.block
	st.mu.Unlock()
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return nil, errors.New("the way is blocked")
		}
	}
	ours, theirs := net.Pipe()
	conn, err := st.host.Connect(alice, host.DoorSubsystem)
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer conn.Close()
		lines := rpc.NewLines(theirs, theirs, 1<<20, func(string) error { return theirs.Close() })
		_ = rpc.Serve(lines, conn, rpc.Options{Extend: func(c *host.Conn) rpc.Extension { return st.methods.Terminals(c) }})
	}()
	st.mu.Lock()
	defer st.mu.Unlock()
	st.cut = func() { ours.Close(); theirs.Close(); <-done }
	st.sieve.Conn = ours
	return &st.sieve, nil
}

// sieve is the way to the host, which may keep messages back.
type sieve struct {
	net.Conn

	mu   sync.Mutex
	word string // is in those that are kept back; "": none are
	kept [][]byte
	came chan struct{} // one for each that is kept back
}

// Write takes a whole message.
func (s *sieve) Write(p []byte) (int, error) {
	s.mu.Lock()
	if s.word != "" && bytes.Contains(p, []byte(s.word)) {
		s.kept = append(s.kept, bytes.Clone(p))
		s.mu.Unlock()
		s.came <- struct{}{}
		return len(p), nil
	}
	s.mu.Unlock()
	return s.Conn.Write(p)
}

// keeps keeps back what has word in it from now on.
func (s *sieve) keeps(word string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.word, s.came = word, make(chan struct{}, 64)
}

// pass lets everything pass, with what was kept back.
func (s *sieve) pass(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	kept := s.kept
	s.word, s.kept = "", nil
	s.mu.Unlock()
	for _, p := range kept {
		_, err := s.Conn.Write(p)
		check(t, err)
	}
}

// lose cuts the connection to the host.
func (st *stage) lose() {
	st.mu.Lock()
	cut := st.cut
	st.mu.Unlock()
	cut()
}

// handshake initializes the agent for an editor with or without terminals.
func (st *stage) handshake(terminals bool) {
	st.t.Helper()
	st.editor.sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"terminal":%t}}}`+"\n", terminals))
	st.agent.gets(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"terminal":true}}}` + "\n")
	const answer = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"tester","version":"1"}}}` + "\n"
	st.agent.sends(answer)
	st.editor.gets(answer)
}

// creates starts a command for the agent, in session "s".
func (st *stage) creates(p params) createResult {
	st.t.Helper()
	p["sessionId"] = "s"
	r := st.agent.asks(7, methodCreate, p)
	if r.Error != nil {
		st.t.Fatal(r.Error)
	}
	var c createResult
	check(st.t, json.Unmarshal(r.Result, &c))
	return c
}

// embed returns a session/update that shows a terminal between other things.
func embed(kind, call, id string) string {
	return fmt.Sprintf(`{"jsonrpc": "2.0", "method":"session/update","params":{"x":[1],"sessionId":"s","update":{"sessionUpdate":%q,"toolCallId":%q,"title":"t","content":[{"type":"content","content":{"type":"text","text":"a"}},{"type":"terminal","terminalId":%q,"_meta":{"k":1}},{"type":"terminal","terminalId":"not ours"}],"z":null}}}`+"\n",
		kind, call, id)
}
