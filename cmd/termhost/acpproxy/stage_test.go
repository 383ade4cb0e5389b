package acpproxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/acp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/client"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/rpc"
)

// stage is a proxy between an editor and an agent, both played by the test, with a real host behind
// it.
type stage struct {
	t             testing.TB
	proxy         *Proxy
	editor, agent *side
	dir           string // the host's state folder
	client        *client.Client
	ended         chan error

	sieve sieve

	mu      sync.Mutex
	host    *host.Host
	methods *acp.Methods
	notices []string
	cut     func()        // cuts the connection to the host
	block   chan struct{} // not nil: new connections wait until it is closed
}

// side is the editor's side of the proxy, or the agent's.
type side struct {
	t   testing.TB
	out *io.PipeWriter // to the proxy
	in  *bufio.Reader  // from the proxy
}

// sends sends messages to the proxy.
func (s *side) sends(lines string) {
	s.t.Helper()
	_, err := io.WriteString(s.out, lines)
	check(s.t, err)
}

// pours is sends for a goroutine of its own. If it fails, the test notices what does not come.
func (s *side) pours(lines string) { _, _ = io.WriteString(s.out, lines) }

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
	case <-time.After(slowtest.PatienceOf(s.t)):
		s.t.Fatal("nothing comes")
		return ""
	}
}

// gets expects that the next line is this one, byte for byte.
func (s *side) gets(want string) {
	s.t.Helper()
	if got := s.line(); got != want {
		s.t.Fatalf("got  %q\nwant %q", got, want)
	}
}

// reply is a decoded message of any kind.
type reply struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *ahp.Error
}

// refused expects the error of a code, with a text in its message.
func (r reply) refused(t testing.TB, code int, text string) {
	t.Helper()
	if r.Error == nil || r.Error.Code != code || !strings.Contains(r.Error.Message, text) {
		t.Fatalf("got %+v %v, want error %d: %s", r, r.Error, code, text)
	}
}

// message returns the next message.
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
	s.sends(requestLine(fmt.Sprint(id), method, p))
	r := s.message()
	if string(r.ID) != fmt.Sprint(id) {
		s.t.Fatalf("the answer to %d is %+v", id, r)
	}
	return r
}

// newStage returns a stage whose proxy runs until the test ends.
func newStage(t testing.TB, change ...func(*Proxy)) *stage {
	st := &stage{t: t, ended: make(chan error, 1)}
	st.serve(t.TempDir())
	editorIn, fromEditor := io.Pipe()
	toEditor, editorOut := io.Pipe()
	agentIn, fromAgent := io.Pipe()
	toAgent, agentOut := io.Pipe()
	st.editor = &side{t, fromEditor, bufio.NewReader(toEditor)}
	st.agent = &side{t, fromAgent, bufio.NewReader(toAgent)}
	st.proxy = New(Config{
		Editor:    Stream{editorIn, editorOut},
		Agent:     Stream{agentIn, agentOut},
		AgentName: "an agent",
		Dir:       "/",
		Attach:    func(uri string) []string { return []string{"show", uri} },
		Away:      time.Hour,
		Notice: func(s string) {
			st.mu.Lock()
			defer st.mu.Unlock()
			st.notices = append(st.notices, s)
		},
	})
	for _, f := range change {
		f(st.proxy)
	}
	c, err := client.Connect(t.Context(), client.Config{
		Dial:       client.Lines(st.dial),
		OnState:    st.proxy.HostState,
		MinBackoff: 1,
		MaxBackoff: 1,
	})
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
	st.mu.Lock()
	h, methods := st.host, st.methods
	st.mu.Unlock()
	extend := func(c *host.Conn) rpc.Extension { return methods.Terminals(c) }
	conn, err := hosttest.Dial(st.t, h, alice, rpc.Options{Extend: extend})
	if err != nil {
		return nil, err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.cut = func() { conn.Close() }
	st.sieve.Conn = conn
	st.sieve.deaf.Store(false)
	return &st.sieve, nil
}

// serve starts a host with a state folder.
func (st *stage) serve(dir string) {
	st.dir = dir
	h := hosttest.New(st.t, func(c *host.Config) { c.StateDir, c.ClientGrace = dir, time.Hour })
	st.mu.Lock()
	defer st.mu.Unlock()
	st.host, st.methods = h, acp.NewMethods(h, nil)
}

// restart kills the host and starts another one, as far as that can be done in one process: there
// is no keeper, so what runs in terminals has to have ended before.
func (st *stage) restart() {
	st.t.Helper()
	dir := st.t.TempDir()
	err := os.CopyFS(dir, os.DirFS(st.dir))
	for errors.Is(err, fs.ErrNotExist) { // something was removed meanwhile
		dir = st.t.TempDir()
		err = os.CopyFS(dir, os.DirFS(st.dir))
	}
	check(st.t, err)
	st.serve(dir)
	st.lose()
}

// sieve is the connection to the host. It can hold messages back.
type sieve struct {
	net.Conn
	deaf atomic.Bool // what comes from the host is lost

	mu   sync.Mutex
	word string        // messages with it in them are held back; "": none are
	held [][]byte      // these messages
	came chan struct{} // gets one element for each
}

// Read returns what comes from the host.
func (s *sieve) Read(p []byte) (int, error) {
	for {
		n, err := s.Conn.Read(p)
		if err != nil || !s.deaf.Load() {
			return n, err
		}
	}
}

// Write takes a whole message.
func (s *sieve) Write(p []byte) (int, error) {
	s.mu.Lock()
	if s.word != "" && bytes.Contains(p, []byte(s.word)) {
		s.held = append(s.held, bytes.Clone(p))
		s.mu.Unlock()
		s.came <- struct{}{}
		return len(p), nil
	}
	s.mu.Unlock()
	return s.Conn.Write(p)
}

// holdBack holds back messages with word in them from now on.
func (s *sieve) holdBack(word string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.word, s.came = word, make(chan struct{}, 64)
}

// drop loses what was held back, and lets everything pass from now on.
func (s *sieve) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.word, s.held = "", nil
}

// pass sends what was held back, and lets everything pass from now on.
func (s *sieve) pass(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	held := s.held
	s.word, s.held = "", nil
	s.mu.Unlock()
	for _, p := range held {
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
	initialize := func(terminals bool) string {
		return requestLine("0", methodInitialize, params{
			"protocolVersion": 1, "clientCapabilities": params{"terminal": terminals},
		})
	}
	st.editor.sends(initialize(terminals))
	st.agent.gets(initialize(true))
	const result = `{"protocolVersion":1,"agentInfo":{"name":"tester","version":"1"}}`
	answer := responseLine(json.RawMessage("0"), result)
	st.agent.sends(answer)
	st.editor.gets(answer)
}

// creates starts a command for the agent, in session "s".
func (st *stage) creates(p params) wire.CreateResult {
	st.t.Helper()
	r := st.agent.asks(7, wire.MethodCreate, p)
	if r.Error != nil {
		st.t.Fatal(r.Error)
	}
	var c wire.CreateResult
	check(st.t, json.Unmarshal(r.Result, &c))
	return c
}

// embed returns a session/update that shows a terminal between other things.
func embed(kind, call, id string) string {
	const form = `{"jsonrpc": "2.0", "method":"session/update","params":{"x":[1],"sessionId":"s",` +
		`"update":{"sessionUpdate":%q,"toolCallId":%q,"title":"t","content":[` +
		`{"type":"content","content":{"type":"text","text":"a"}},` +
		`{"type":"terminal","terminalId":%q,"_meta":{"k":1}},` +
		`{"type":"terminal","terminalId":"not ours"}],"z":null}}}` + "\n"
	return fmt.Sprintf(form, kind, call, id)
}

// only returns the one terminal of the host, once there is one.
func (st *stage) only() (term *host.Terminal) {
	st.t.Helper()
	hosttest.Eventually(st.t, "there is one terminal", func() bool {
		list, err := hosttest.List(st.host, alice)
		check(st.t, err)
		if len(list) != 1 {
			return false
		}
		term, err = hosttest.Find(st.host, alice, list[0].Name)
		check(st.t, err)
		return true
	})
	return term
}

// listed waits until the host lists n terminals.
func (st *stage) listed(n int) {
	st.t.Helper()
	hosttest.Eventually(st.t, fmt.Sprint(n, " terminals are listed"), func() bool {
		list, err := hosttest.List(st.host, alice)
		check(st.t, err)
		return len(list) == n
	})
}

// ends waits for the end of a terminal's program.
func ends(t testing.TB, term *host.Terminal) {
	t.Helper()
	select {
	case <-term.Done():
	case <-time.After(slowtest.PatienceOf(t)):
		t.Fatal("it still runs")
	}
}

func wantCode(t testing.TB, st wire.ExitStatus, code int) {
	t.Helper()
	if st.ExitCode == nil || *st.ExitCode != code || st.Signal != nil {
		t.Fatalf("exit status %s, want code %d", ahp.Encode(st), code)
	}
}

func wantSignal(t testing.TB, st wire.ExitStatus, signal string) {
	t.Helper()
	if st.Signal == nil || *st.Signal != signal || st.ExitCode != nil {
		t.Fatalf("exit status %s, want signal %s", ahp.Encode(st), signal)
	}
}
