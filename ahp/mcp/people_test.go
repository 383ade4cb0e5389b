package mcp_test

import (
	"context"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

// person is alice at her keyboard.
type person struct {
	conn *host.Conn
	term *host.Terminal
	view *host.Attach
}

// attach has alice look at a terminal, with a window of her own.
func attach(t testing.TB, h *host.Host, name string) *person {
	t.Helper()
	p := &person{conn: hosttest.Conn(t, h, hosttest.Principal("alice", authz.Admin))}
	var err error
	p.term, err = p.conn.Find(name)
	hosttest.Check(t, err)
	p.view, _, err = p.conn.Attach(p.term, host.AttachOptions{Cols: 80, Rows: 24})
	hosttest.Check(t, err)
	t.Cleanup(p.view.Close)
	return p
}

func TestTheClaimOfAnAgentIsToldFromThatOfThePersonWithTheSameKey(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	alice := hosttest.Principal("alice", authz.Admin)
	a := connect(t, h, alice, "Claude Code", nil)
	a.call("terminal_run", args{"command": "sleep 1000", "name": "s", "background": true})
	p := attach(t, h, "s")
	claim := p.term.Info(alice).Claim
	if want := strings.Replace(host.SSHClientID(alice), "ssh:", "mcp:", 1) + "/claude-code"; claim.ClientID != want {
		t.Errorf("the claim is %+v, want %s", claim, want)
	}
	if p.term.Info(alice).Mine {
		t.Error("the person has the claim")
	}
	client := ahp.InitializeParams{ClientID: claim.ClientID, ProtocolVersions: []string{"0.6.0"}}
	c, err := h.Connect(alice, host.DoorWebSocket)
	hosttest.Check(t, err)
	defer c.Close()
	if _, err := c.Initialize(client); err == nil {
		t.Error("a client of AHP may take the clientId of one of MCP")
	}
}

func TestWhatIsTypedAfterAPersonTookTheKeyboardIsNotTyped(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a := connect(t, h, hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	a.call("terminal_run", args{"command": "stty -echo -icanon; while read x; do echo got $x; done", "name": "c", "background": true})
	p := attach(t, h, "c")
	hosttest.Check(t, p.view.Claim())
	for range 3 {
		text, failed := a.callWith(t.Context(), "terminal_send", args{"terminal": "c", "text": "canary"})
		if !failed {
			t.Fatalf("typed while a person has the keyboard: %q", text)
		}
		like(t, text, `^error: held by alice; nothing was typed\..* terminal_read `)
	}
	like(t, a.call("terminal_read", args{"terminal": "c", "cursor": 0}), `(?s)^\[c held by alice since \d\d:\d\d:\d\dZ .*Somebody else has the keyboard`)
	_, err := p.conn.HandBack(p.term, p.view, false)
	hosttest.Check(t, err)
	a.answers(`^\[c .*\]\ngot mine\n`, args{"terminal": "c", "text": "mine"})
	if text := a.call("terminal_read", args{"terminal": "c", "cursor": 0}); strings.Contains(text, "canary") {
		t.Errorf("what was refused was typed: %q", text)
	}
}

func TestAWaitGoesOnUntilThePersonHandsBackIfItBeginsLater(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a := connect(t, h, hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	a.call("terminal_run", args{"command": "stty -echo -icanon; read x; echo hello $x; read y", "name": "c", "background": true})
	p := attach(t, h, "c")
	hosttest.Check(t, p.view.Claim())
	read := make(chan string)
	go func() {
		text, _ := a.callWith(t.Context(), "terminal_read", args{"terminal": "c", "wait_s": 40, "until": "hello bob"})
		read <- text
	}()
	hosttest.Check(t, p.conn.Send(t.Context(), p.term, []byte("bob\n")))
	like(t, <-read, `(?s)^\[c .*\nhello bob\n`)
}

func TestASecretIsTypedByAPersonOnly(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a := connect(t, h, hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	const secret = "hunter2-canary"
	text := a.call("terminal_run", args{"name": "p", "command": "stty -echo; printf 'Password: '; read x; stty echo; echo; echo thanks"})
	like(t, text, `(?s)^\[p waiting for a secret .*\nPassword:\nA person must type it: ssh -t HOST attach p; then terminal_read \{"terminal":"p","wait_s":45\}\n$`)
	text, failed := a.callWith(t.Context(), "terminal_send", args{"terminal": "p", "text": secret})
	if !failed {
		t.Errorf("an agent types a secret: %q", text)
	}
	like(t, text, `^error: p asks for a secret, and nothing was typed\. A person must type it: ssh -t HOST attach p; then terminal_read `)
	p := attach(t, h, "p")
	read := make(chan string)
	go func() {
		text, _ := a.callWith(t.Context(), "terminal_read", args{"terminal": "p", "wait_s": 40, "until": "thanks"})
		read <- text
	}()
	hosttest.Check(t, p.view.Claim())
	hosttest.Check(t, p.conn.Send(t.Context(), p.term, []byte(secret+"\n")))
	all := <-read
	all += a.call("terminal_read", args{"terminal": "p", "cursor": 0, "wait_s": 40, "until": "thanks"})
	like(t, all, `thanks`)
	for _, view := range []string{"screen", "log"} {
		r, err := a.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "termhost:///p/" + view})
		hosttest.Check(t, err)
		all += r.Contents[0].Text
	}
	if all += a.call("terminal_list", args{"all": true}); strings.Contains(all, secret) {
		t.Errorf("the secret is in a result: %q", all)
	}
}

func TestASecretsPromptMayBeInterrupted(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"ctrl-c": "exited 130 ", "ctrl-d": "exited 1 "} {
		a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
		a.call("terminal_run", args{"name": "p", "command": "stty -echo; printf 'Password: '; read x"})
		like(t, a.call("terminal_send", args{"terminal": "p", "keys": []string{key}}), `^\[p `+want)
	}
}

// decide decides about the first thing that waits in a terminal, once there is one.
func decide(t testing.TB, h *host.Host, name string, d host.Decision) {
	t.Helper()
	c := hosttest.Conn(t, h, hosttest.Principal("alice", authz.Admin))
	var term *host.Terminal
	hosttest.Eventually(t, "something waits for a person", func() bool {
		list, err := c.Asks()
		hosttest.Check(t, err)
		for _, held := range list {
			if held.Terminal == name {
				term, err = c.Find(name)
				hosttest.Check(t, err)
			}
		}
		return term != nil
	})
	_, err := c.Decide(term, nil, "", d, "not now")
	hosttest.Check(t, err)
}

func guarded(c *host.Config) { c.GuardAgents = true }

func TestWhatAnAgentRunsWaitsForAPersonsYes(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, guarded)
	a := connect(t, h, hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	done := make(chan struct{})
	go func() { defer close(done); decide(t, h, "yes", host.ApproveOnce) }()
	like(t, a.call("terminal_run", args{"name": "yes", "command": "echo ran"}), `(?s)^\[yes exited 0 .*ran\n.*"echo ran" was approved by alice and started\.\n$`)
	<-done
	go decide(t, h, "no", host.RefuseOnce)
	text, failed := a.callWith(t.Context(), "terminal_run", args{"name": "no", "command": "echo ran"})
	if !failed {
		t.Errorf("refused, and yet: %q", text)
	}
	like(t, text, `^error: not started: refused by alice: not now`)
}

func TestACallThatWaitsForAYesEndsAndTheNextOneHearsOfIt(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, guarded)
	a := connect(t, h, hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	like(t, a.call("terminal_run", args{"name": "late", "command": "echo ran; exec sleep 1000", "wait_s": 0}), `^\[late waiting for approval `)
	like(t, a.call("terminal_list", nil), `(?m)^late  waiting for approval  `)
	read := make(chan string)
	go func() {
		text, _ := a.callWith(t.Context(), "terminal_read", args{"terminal": "late", "wait_s": 40})
		read <- text
	}()
	decide(t, h, "late", host.ApproveOnce)
	like(t, <-read, `(?s)"echo ran; exec sleep 1000" was approved by alice and started\.`)

	go func() {
		text, _ := a.callWith(t.Context(), "terminal_send", args{"terminal": "late", "text": "typed", "wait_s": 40})
		read <- text
	}()
	decide(t, h, "late", host.ApproveOnce)
	like(t, <-read, `(?s)^\[late running .*"typed" was approved by alice and typed\.`)
	like(t, a.call("terminal_send", args{"terminal": "late", "text": "more", "wait_s": 0}), `^\[late waiting for approval .*\nA person must say yes first`)
	decide(t, h, "late", host.RefuseOnce)
	like(t, a.call("terminal_read", args{"terminal": "late", "wait_s": 40}), `"more" was not typed: refused by alice: not now\.`)
	like(t, a.call("terminal_stop", args{"terminal": "late"}), `^\[late exited 130 `)
}

func TestPytestCollectingIsNotWaiting(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	like(t, a.call("terminal_run", args{"name": "c", "command": "printf 'collecting ... '; sleep 1; echo collected 3 items"}),
		`^\[c exited 0 .*\]\ncollecting \.\.\. collected 3 items\n$`)
}

func TestAPersonsTerminalsAreSeenButNotTypedInto(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	alice := hosttest.Principal("alice", authz.Admin)
	_, err := hosttest.Create(h, alice, host.CreateOptions{Name: "hers", Line: "echo hello; exec sleep 1000"})
	hosttest.Check(t, err)
	a := connect(t, h, alice, "claude-code", nil)
	like(t, a.call("terminal_read", args{"terminal": "hers", "wait_s": 20, "until": "hello"}), `(?s)^\[hers held by alice.*hello\n`)
	if text, failed := a.callWith(t.Context(), "terminal_send", args{"terminal": "hers", "text": "x"}); !failed {
		t.Errorf("an agent types into a person's terminal: %q", text)
	}
	if text, failed := a.callWith(t.Context(), "terminal_stop", args{"terminal": "hers", "how": "remove"}); !failed {
		t.Errorf("an agent removes a person's terminal: %q", text)
	}
}

func TestAnObserverSeesWhatOnlyReads(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	_, err := hosttest.Create(h, hosttest.Principal("alice", authz.Admin), host.CreateOptions{Name: "x", Line: "echo hello; exec sleep 1000"})
	hosttest.Check(t, err)
	a := connect(t, h, hosttest.Principal("olga", authz.Observer), "claude-code", nil)
	list, err := a.session.ListTools(t.Context(), nil)
	hosttest.Check(t, err)
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "terminal_list terminal_read" {
		t.Errorf("an observer has the tools %s", got)
	}
	like(t, a.call("terminal_read", args{"terminal": "x", "wait_s": 20, "until": "hello"}), `hello`)
	for tool, args := range map[string]args{
		"terminal_run": {"command": "echo x"}, "terminal_open": {}, "terminal_send": {"terminal": "x", "text": "x"},
		"terminal_stop": {"terminal": "x"},
	} {
		if text, failed := a.callWith(t.Context(), tool, args); !failed {
			t.Errorf("an observer may %s: %q", tool, text)
		}
	}
}

func TestATerminalThatIsRemovedEndsTheWait(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	alice := hosttest.Principal("alice", authz.Admin)
	waits := make(chan struct{}, 100)
	a := connect(t, h, alice, "claude-code", &sdk.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { waits <- struct{}{} }})
	a.call("terminal_run", args{"name": "x", "command": "sleep 1000", "background": true})
	read := make(chan string, 1)
	go func() {
		params := &sdk.CallToolParams{Name: "terminal_read", Arguments: args{"terminal": "x", "wait_s": 40}}
		params.SetProgressToken(1)
		if r, err := a.session.CallTool(t.Context(), params); err != nil {
			read <- err.Error()
		} else {
			read <- r.Content[0].(*sdk.TextContent).Text
		}
	}()
	p := attach(t, h, "x")
	slowtest.Receive(t, "progress", waits)
	hosttest.Check(t, p.conn.Dispose(p.term))
	like(t, slowtest.Receive(t, "the wait ends", read), `^\[x (gone|exited \d+)`)
	like(t, a.call("terminal_run", args{"name": "y", "command": "sleep 1000", "background": true}), `^\[y `)
	like(t, a.call("terminal_stop", args{"terminal": "y", "how": "remove"}), `^\[y gone `)
}

func TestReadingWaitsBeyondAPromptThatTheClientKnows(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a := connect(t, h, hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	like(t, a.call("terminal_run", args{"name": "q", "command": "printf 'Name: '; read x; echo hi $x; sleep 1; exit 4"}), `^\[q waiting for input: "Name:`)
	read := make(chan string, 1)
	go func() {
		text, _ := a.callWith(t.Context(), "terminal_read", args{"terminal": "q", "wait_s": 45})
		read <- text
	}()
	p := attach(t, h, "q")
	hosttest.Check(t, p.conn.Send(t.Context(), p.term, []byte("bob\n")))
	like(t, slowtest.Receive(t, "the wait ends", read), `(?s)^\[q exited 4 .*hi bob\n`)
}

func TestAKickEndsAWait(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a := connect(t, h, hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	a.call("terminal_run", args{"name": "k", "command": "exec sleep 1000", "background": true})
	read := make(chan string, 1)
	go func() {
		text, _ := a.callWith(t.Context(), "terminal_read", args{"terminal": "k", "wait_s": 45, "until": "never"})
		read <- text
	}()
	p := attach(t, h, "k")
	hosttest.Eventually(t, "the wait is there to be ended", func() bool {
		_, n, _ := p.conn.Kick(p.term, "alice/claude-code")
		return n > 0
	})
	like(t, slowtest.Receive(t, "the wait ends", read), `^error: alice has ended your view of k`)
	like(t, a.call("terminal_stop", args{"terminal": "k"}), `^\[k exited 130 `)
}

func TestARefusalIsToldThoughItsTerminalIsGone(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, guarded)
	a := connect(t, h, hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	like(t, a.call("terminal_run", args{"name": "late", "command": "echo ran", "wait_s": 0}), `^\[late waiting for approval `)
	decide(t, h, "late", host.RefuseOnce)
	hosttest.Eventually(t, "a result tells of it", func() bool {
		return match(a.call("terminal_list", nil), `"echo ran" was not started: refused by alice: not now\.\n$`)
	})
	if text := a.call("terminal_list", nil); match(text, "echo ran") {
		t.Errorf("it is told twice: %q", text)
	}
}

// What is typed without anybody's yes does not claim the last decision for itself.
func TestAKeyThatNobodyDecidesAboutIsNotSaidToBeDecided(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, guarded)
	a := connect(t, h, hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	done := make(chan struct{})
	go func() { defer close(done); decide(t, h, "g", host.ApproveOnce) }()
	a.call("terminal_run", args{"name": "g", "command": "exec sleep 1000", "wait_s": 40, "background": true})
	<-done
	like(t, a.call("terminal_send", args{"terminal": "g", "text": "no", "wait_s": 0}), `^\[g waiting for approval `)
	decide(t, h, "g", host.RefuseOnce)
	like(t, a.call("terminal_read", args{"terminal": "g", "wait_s": 40}), `"no" was not typed: refused by alice: not now\.`)
	if text := a.call("terminal_send", args{"terminal": "g", "keys": "ctrl-c"}); match(text, "alice") || !match(text, `^\[g exited 130 `) {
		t.Errorf("%q", text)
	}
}

func TestWhatHasExitedIsStoppedAgain(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	a.call("terminal_run", args{"name": "e", "command": "echo out; exit 3"})
	for _, how := range []string{"interrupt", "terminate"} {
		like(t, a.call("terminal_stop", args{"terminal": "e", "how": how}), `^\[e exited 3 `)
	}
}
