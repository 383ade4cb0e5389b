package host

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"termhost/ahp"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/store"
	"termhost/authz"
)

func TestMain(m *testing.M) {
	slowtest.Overlap()
	goleak.VerifyTestMain(m)
}

// patience bounds every wait of a test; it is a failure bound, never a pause.
const patience = 90 * time.Second

var (
	alice = keyOf("alice", authz.Admin)
	bot   = authz.Principal{ID: "SHA256:alice/bot", Name: "alice/bot", Role: authz.Operator,
		Fingerprint: "SHA256:alice", Token: "bot"}
	carol = keyOf("carol", authz.Operator)
	eve   = keyOf("eve", authz.Observer)
)

// keyOf returns the principal of somebody's key.
func keyOf(name string, role authz.Role) authz.Principal {
	id := "SHA256:" + name
	return authz.Principal{ID: id, Name: name, Role: role, Fingerprint: id}
}

// initParams returns the params of an initialize.
func initParams(version, clientID string) ahp.InitializeParams {
	return ahp.InitializeParams{
		Channel: ahp.RootURI, ProtocolVersions: []string{version}, ClientID: clientID,
	}
}

// sh returns what runs a command line.
func sh(line string) []string { return []string{"/bin/sh", "-c", line} }

func newHost(t testing.TB, change ...func(*Config)) *Host {
	t.Helper()
	cfg := Config{Shell: "/bin/sh", StateDir: t.TempDir(), Version: "test", MaxExited: 64,
		MaxTerminals: 100, Persist: true}
	for _, f := range change {
		f(&cfg)
	}
	h, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := h.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return h
}

// eventually waits until something holds that nothing tells of.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// peer is an AHP client of the host, without a wire in between.
type peer struct {
	t    testing.TB
	c    *Conn
	id   string
	seq  int64
	seen []*store.Entry
	// passed are the entries that until has seen and that were not what it looked for.
	passed []*store.Entry
}

func connect(t testing.TB, h *Host, p authz.Principal, clientID string) *peer {
	t.Helper()
	c, err := h.Connect(p, DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, e := c.Initialize(initParams("0.5.0", clientID)); e != nil {
		t.Fatalf("initialize: %v", e)
	}
	return &peer{t: t, c: c, id: clientID}
}

// until pulls until an entry satisfies want and returns it.
func (p *peer) until(what string, want func(*store.Entry) bool) *store.Entry {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		for _, it := range p.c.sub.Pull(nil, 1<<20) {
			if it.Entry == nil {
				continue
			}
			p.seen = append(p.seen, it.Entry)
		}
		for i, e := range p.seen {
			if want(e) {
				p.passed = append(p.passed, p.seen[:i]...)
				p.seen = p.seen[i+1:]
				return e
			}
		}
		select {
		case <-p.c.sub.Signal():
		case <-deadline:
			p.t.Fatalf("%s: never came", what)
		}
	}
}

// ofType is for until: the first action of a type.
func ofType(name string) func(*store.Entry) bool {
	return func(e *store.Entry) bool { return e.Action().Type() == name }
}

// is is for until: an action that equals want, of a type that can be compared.
func is(want ahp.Action) func(*store.Entry) bool {
	return func(e *store.Entry) bool { return e.Action() == want }
}

// answer returns the echo or the rejection of the peer's action.
func (p *peer) answer(seq int64) *store.Entry {
	p.t.Helper()
	return p.until("the answer", func(e *store.Entry) bool {
		o := e.Origin()
		return o != nil && o.ClientID == p.id && o.ClientSeq == seq
	})
}

// dispatch sends an action and returns why it was refused; "": it was not.
func (p *peer) dispatch(uri string, a ahp.Action) (rejection string) {
	p.t.Helper()
	p.seq++
	p.c.Dispatch(uri, p.seq, a)
	return p.answer(p.seq).Rejection()
}

// claim claims a terminal for a clientId and returns why that was refused; "": it was not.
func (p *peer) claim(uri, clientID string) (rejection string) {
	p.t.Helper()
	return p.dispatch(uri, ahp.TerminalClaimed{Claim: ahp.ClientClaim(clientID)})
}

// follow subscribes and has the answer written at once.
func (p *peer) follow(uri string) (view store.View) {
	p.t.Helper()
	answered := false
	e := p.c.Subscribe(uri, func(dst []byte, v store.View) []byte {
		view, answered = v, true
		return dst
	})
	if e != nil {
		p.t.Fatalf("subscribe: %v", e)
	}
	for !answered {
		for _, it := range p.c.sub.Pull(nil, 1<<20) {
			if it.Post != nil {
				it.Post(nil)
				continue
			}
			p.seen = append(p.seen, it.Entry)
		}
	}
	return view
}

func (p *peer) subscribe(uri string) ahp.TerminalState {
	p.t.Helper()
	return *p.follow(uri).Terminal
}

// pending returns what has come for the peer and was not pulled yet.
func (p *peer) pending() []*store.Entry {
	for _, it := range p.c.sub.Pull(nil, 1<<20) {
		if it.Entry != nil {
			p.seen = append(p.seen, it.Entry)
		}
	}
	seen := p.seen
	p.seen = nil
	return seen
}

func (p *peer) create(name, command string, args ...string) string {
	p.t.Helper()
	uri := ahp.TerminalURI(name)
	claim := ahp.ClientClaim(p.id)
	params := ahp.CreateTerminalParams{Channel: uri, Claim: &claim}
	if command != "" {
		extras := &ahp.CreateTerminalExtras{Command: command, Args: args}
		params.Meta = &ahp.CreateTerminalMeta{Termhost: extras}
	}
	if e := p.c.CreateTerminal(params); e != nil {
		p.t.Fatalf("createTerminal: %v", e)
	}
	return uri
}

func text(st ahp.TerminalState) string {
	var b strings.Builder
	for _, p := range st.Content {
		b.WriteString(p.Text.String())
	}
	return b.String()
}

func writeFile(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// wait waits for a channel to be closed.
func wait(t testing.TB, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("%s: not in %s", what, patience)
	}
}

// viewer is an SSH session's side of an attach. It keeps what it pulls.
type viewer struct {
	t   testing.TB
	c   *Conn
	a   *Attach
	out []byte
	// clipboards are the OSC 52 sequences that came.
	clipboards []string
	// notifications are the OSC 9 and OSC 777 sequences that came.
	notifications []string
	lagged        int
}

// attach attaches p to a terminal by NAME, from a connection of its own.
func attach(t testing.TB, h *Host, p authz.Principal, name string, o AttachOptions) *viewer {
	t.Helper()
	c, err := h.Connect(p, DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	term, err := h.Find(p, name)
	if err != nil {
		t.Fatal(err)
	}
	a, first, err := c.Attach(term, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return &viewer{t: t, c: c, a: a, out: first}
}

// pull takes what there is and reports whether there was anything.
func (v *viewer) pull() bool {
	v.t.Helper()
	items := v.a.Pull(nil, 1<<20)
	for _, it := range items {
		if it.Lagged != nil {
			v.lagged++
			redraw, err := v.a.Redraw()
			if err != nil {
				v.t.Fatal(err)
			}
			v.out = redraw
			continue
		}
		switch a := it.Entry.Action().(type) {
		case ahp.TerminalData:
			v.out = append(v.out, a.Data...)
		case store.Clipboard:
			v.clipboards = append(v.clipboards, string(a.Sequence))
		case store.Notification:
			v.notifications = append(v.notifications, string(a.Sequence))
		}
	}
	return len(items) > 0
}

// until pulls until what has come satisfies want.
func (v *viewer) until(what string, want func(out string) bool) {
	v.t.Helper()
	deadline := time.After(patience)
	for {
		for v.pull() {
		}
		if want(string(v.out)) {
			return
		}
		select {
		case <-v.a.Signal():
		case <-deadline:
			last := v.out[max(0, len(v.out)-200):]
			v.t.Fatalf("%s: never came; got %d bytes, the last %q", what, len(v.out), last)
		}
	}
}

func (v *viewer) shows(text string) {
	v.t.Helper()
	v.until(strconv.Quote(text), func(out string) bool { return strings.Contains(out, text) })
}

// run creates a terminal that runs a command line, for p.
func run(t testing.TB, h *Host, p authz.Principal, name, line string) *Terminal {
	t.Helper()
	term, err := h.Create(p, CreateOptions{Name: name, Argv: sh(line)})
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func TestATerminalRunsACommandAndTellsItsExit(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	p := connect(t, h, bot, "agent")
	uri := p.create("job", "/bin/sh", "-c", "echo hello; exit 7")
	term := h.lookup(uri)
	<-term.Done()
	st := p.subscribe(uri)
	if got := text(st); got != "hello\r\n" {
		t.Errorf("output is %q", got)
	}
	if !st.Exited || *st.ExitCode != 7 {
		t.Errorf("exit is %v %v, want 7", st.Exited, st.ExitCode)
	}
}

func TestInputIsAcknowledgedWithoutItsKeysAndOnlyToItsSender(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	p := connect(t, h, bot, "agent")
	other := connect(t, h, eve, "watcher")
	uri := p.create("cat", "/bin/cat")
	for _, c := range []*peer{p, other} {
		c.subscribe(uri)
	}
	p.c.Dispatch(uri, 1, ahp.TerminalInput{Data: []byte("secret\r")})
	a := p.answer(1)
	if d := a.Action().(ahp.TerminalInput).Data; len(d) != 0 {
		t.Errorf("the acknowledgement carries %q", d)
	}
	other.until("the echo of the pty", func(e *store.Entry) bool {
		if _, ok := e.Action().(ahp.TerminalInput); ok {
			t.Error("a watcher saw input")
		}
		d, ok := e.Action().(ahp.TerminalData)
		return ok && strings.Contains(string(d.Data), "secret")
	})
}

// awaitOutput waits until the terminal has printed text.
func (t *Terminal) awaitOutput(tb testing.TB, want string) {
	tb.Helper()
	t.awaitState(tb, fmt.Sprintf("printed %q", want), func(st ahp.TerminalState) bool {
		return strings.Contains(text(st), want)
	})
}

// awaitTitle waits for a title, which comes after the output that it came with.
func (t *Terminal) awaitTitle(tb testing.TB, want string) {
	tb.Helper()
	t.awaitState(tb, fmt.Sprintf("was titled %q", want), func(st ahp.TerminalState) bool {
		return st.Title == want
	})
}

func (t *Terminal) awaitState(tb testing.TB, what string, is func(ahp.TerminalState) bool) {
	tb.Helper()
	sub := t.host.store.NewSubscriber(true)
	defer sub.Close()
	if err := sub.Follow(t.ch); err != nil {
		tb.Fatal(err)
	}
	deadline := time.After(patience)
	for {
		if st, _ := t.ch.Terminal(); is(st) {
			return
		}
		sub.Pull(nil, 1<<20)
		select {
		case <-sub.Signal():
		case <-deadline:
			tb.Fatalf("%s never %s", t.name, what)
		}
	}
}
