package mcp_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/mcp"
	"termhost/authz"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

// agent is an MCP client.
type agent struct {
	t       testing.TB
	session *sdk.ClientSession
	leave   func() // ends the session, and returns when the host knows

	acknowledged <-chan struct{} // once for each subscription, in the newest version
}

// connect connects the client of a person, under a name, with the SDK's own client.
func connect(t testing.TB, h *host.Host, p authz.Principal, name string, o *sdk.ClientOptions) *agent {
	t.Helper()
	return connectTo(t, mcp.New(mcp.Options{Version: "test"}), h, p, name, o)
}

// connectTo is connect with a server that others share.
func connectTo(
	t testing.TB, server *mcp.Server, h *host.Host, p authz.Principal, name string, o *sdk.ClientOptions,
) *agent {
	t.Helper()
	return connectPeer(t, server, mcp.Peer{Host: h, Principal: p}, name, o, nil)
}

// connectPeer is connectTo with options of the session.
func connectPeer(
	t testing.TB, server *mcp.Server, p mcp.Peer, name string, o *sdk.ClientOptions, of *sdk.ClientSessionOptions,
) *agent {
	t.Helper()
	near, far := sdk.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(t.Context())
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(ctx, p, far) })
	client, acknowledged := sdk.NewClient(&sdk.Implementation{Name: name}, o), make(chan struct{}, 1000)
	client.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if method == "notifications/subscriptions/acknowledged" {
				acknowledged <- struct{}{}
			}
			return next(ctx, method, r)
		}
	})
	session, err := client.Connect(ctx, near, of)
	hosttest.Check(t, err)
	leave := func() {
		session.Close()
		served.Wait()
	}
	t.Cleanup(func() {
		session.Close()
		cancel()
		served.Wait()
	})
	return &agent{t: t, session: session, leave: leave, acknowledged: acknowledged}
}

// subscribe subscribes to a resource. In the newest version nothing answers before the end, so that the client does not
// wait for anything; what comes after the acknowledgement is told.
func (a *agent) subscribe(uri string) {
	a.t.Helper()
	hosttest.Check(a.t, a.session.Subscribe(a.t.Context(), &sdk.SubscribeParams{URI: uri}))
	if a.session.InitializeResult().ProtocolVersion == newest {
		slowtest.Receive(a.t, "an acknowledgement", a.acknowledged)
	}
}

// call calls a tool and returns its text.
func (a *agent) call(tool string, arguments map[string]any) string {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), hosttest.Patience)
	defer cancel()
	text, failed := a.callWith(ctx, tool, arguments)
	if failed {
		a.t.Fatalf("%s %v: %s", tool, arguments, text)
	}
	return text
}

// answers types into a terminal, and waits until what is said of it is like want: on a busy machine
// the tool's answer may come before the program's.
func (a *agent) answers(want string, typed args) {
	a.t.Helper()
	text, re := a.call("terminal_send", typed), regexp.MustCompile(want)
	for end := time.Now().Add(hosttest.Patience); !re.MatchString(text) && time.Now().Before(end); {
		text = a.call("terminal_read", args{"terminal": typed["terminal"], "wait_s": 1})
	}
	like(a.t, text, want)
}

func (a *agent) callWith(ctx context.Context, tool string, arguments map[string]any) (text string, failed bool) {
	a.t.Helper()
	r, err := a.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return err.Error(), true
	}
	if len(r.Content) != 1 || r.StructuredContent != nil {
		a.t.Fatalf("%s: %+v", tool, r)
	}
	return r.Content[0].(*sdk.TextContent).Text, r.IsError
}

type args = map[string]any

// like fails unless a text matches a pattern.
func like(t testing.TB, text, pattern string) {
	t.Helper()
	if !match(text, pattern) {
		t.Errorf("got %q, want %s", text, pattern)
	}
}

func match(text, pattern string) bool { return regexp.MustCompile(pattern).MatchString(text) }

func TestACommandsOutputAndExactStatusComeBack(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	for line, want := range map[string]string{
		"echo out; echo err >&2":              `^\[\S+ exited 0 · \S+ · 2 lines · cursor 10\]\nout\nerr\n$`,
		"exit 1":                              `^\[\S+ exited 1 · \S+ · 0 lines · cursor 0\]\n$`,
		"nosuchcommand-x":                     `^\[\S+ exited 127 `,
		"kill -9 $$":                          `^\[\S+ exited 137 \(SIGKILL\) `,
		`printf '10%%\r20%%\r100%%\n'`:        `lines? · cursor 14\]\n100%\n$`,
		`printf '\033[31mred\033[m\007\n'`:    `\]\nred\n$`,
		`printf '[x exited 0 · 1s · 0 lines'`: `\]\n \[x exited 0 · 1s · 0 lines\n$`,
		`printf 'a\0b\377\n'`:                 `\]\nab\x{FFFD}\n$`,
	} {
		like(t, a.call("terminal_run", args{"command": line}), want)
	}
}

func TestAnOpenShellKeepsItsState(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t, func(c *host.Config) { c.Shell, c.ShellIntegration = "bash", true }), hosttest.Principal("alice", authz.Admin), "codex-mcp-client", nil)
	like(t, a.call("terminal_open", args{"name": "sh"}), `^\[sh running `)
	like(t, a.call("terminal_run", args{"terminal": "sh", "command": "cd /; export A=5; false"}), `^\[sh exited 1 `)
	like(t, a.call("terminal_run", args{"terminal": "sh", "command": "echo $PWD-$A"}), `(?s)^\[sh exited 0 .*\n/-5\n`)
}

func TestAPersonsAnswerGoesToThePrompt(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	like(t, a.call("terminal_run", args{"command": "printf 'Name: '; read x; echo hi $x", "name": "ask"}),
		`^\[ask waiting for input: .*\nName:`)
	a.answers(`(?s)^\[ask exited 0 .*hi bob\n$`, args{"terminal": "ask", "text": "bob"})
}

func TestALongCommandGoesOnWhenItsCallIsCancelled(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		hosttest.Eventually(t, "it runs", func() bool {
			text, _ := a.callWith(t.Context(), "terminal_read", args{"terminal": "long", "cursor": 0})
			return strings.Contains(text, "begun")
		})
	}()
	if text, failed := a.callWith(ctx, "terminal_run", args{"command": "echo begun; sleep 1000", "name": "long"}); !failed {
		t.Errorf("a cancelled call returns %q", text)
	}
	like(t, a.call("terminal_read", args{"terminal": "long", "cursor": 0}), `^\[long running .*\nbegun\n$`)
	like(t, a.call("terminal_stop", args{"terminal": "long", "how": "terminate"}), `^\[long exited 143 \(SIGTERM\) `)
}

func TestAWaitReturnsWhenALineMatches(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	a.call("terminal_run", args{"command": "for i in 1 2 3; do echo line $i; sleep 0.2; done; sleep 1000", "name": "w", "background": true})
	begun := time.Now()
	like(t, a.call("terminal_read", args{"terminal": "w", "cursor": 0, "wait_s": "60", "until": "line [3]"}), `(?s)^\[w running .*line 3\n$`)
	if d := time.Since(begun); d > 50*time.Second {
		t.Errorf("it took %s", d)
	}
}

func TestManyCommandsAtOnceAreNotMixed(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			text, failed := a.callWith(t.Context(), "terminal_run", args{"command": fmt.Sprintf("echo this-is-%d; exit %d", i, i)})
			if failed || !strings.Contains(text, fmt.Sprintf("exited %d ", i)) || !strings.Contains(text, fmt.Sprintf("\nthis-is-%d\n", i)) {
				t.Errorf("%d: %q", i, text)
			}
		})
	}
	all.Wait()
}

func TestAnAgentIsNotThePersonWhoseKeyItHas(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.GuardAgents = true })
	alice := hosttest.Principal("alice", authz.Admin)
	a := connect(t, h, alice, "claude-code", nil)
	like(t, a.call("terminal_run", args{"command": "echo hi", "name": "held", "wait_s": 0}),
		`^\[held waiting for approval .*\nA person must say yes first`)
}

func TestAWaitReturnsWhenAPersonTakesTheKeyboardAndWhenItIsHandedBack(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	waits := make(chan struct{}, 100) // the host tells of progress, so it waits
	a := connect(t, h, hosttest.Principal("alice", authz.Admin), "claude-code", &sdk.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { waits <- struct{}{} }})
	a.call("terminal_run", args{"command": "echo begun; exec sleep 1000", "name": "cat", "background": true})
	p := attach(t, h, "cat")
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{p.view.Claim, `^\[cat held by alice`},
		{func() error { _, err := p.conn.HandBack(p.term, p.view, false); return err }, `^\[cat running `},
	} {
		read := make(chan string, 1)
		go func() {
			params := &sdk.CallToolParams{Name: "terminal_read", Arguments: args{"terminal": "cat", "wait_s": 200, "until": "never"}}
			params.SetProgressToken("token")
			r, err := a.session.CallTool(t.Context(), params)
			hosttest.Check(t, err)
			read <- r.Content[0].(*sdk.TextContent).Text
		}()
		slowtest.Receive(t, "the wait begins", waits)
		hosttest.Check(t, step.do())
		like(t, slowtest.Receive(t, "the wait ends", read), step.want)
	}
}

func TestWhatIsWrongIsToldToTheModel(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{"terminal_run", nil, `^error: command is missing: give it, such as "make test"\n$`},
		{"terminal_read", args{"terminal": "nosuch"}, `^error: .*nosuch`},
		{"terminal_send", args{"terminal": "nosuch"}, `^error: .*nosuch`},
		{"terminal_read", args{"terminal": 5}, `^error: .*5`},
	} {
		text, failed := a.callWith(t.Context(), c.tool, c.args)
		if !failed {
			t.Errorf("%s %v does not fail", c.tool, c.args)
		}
		like(t, text, c.want)
	}
}
