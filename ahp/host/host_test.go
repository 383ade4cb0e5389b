package host_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/rpc"
	"termhost/ahp/store"
	"termhost/authz"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

var (
	alice = hosttest.Principal("alice", authz.Admin)
	bot   = authz.Principal{ID: "SHA256:alice/bot", Name: "alice/bot", Role: authz.Operator,
		Fingerprint: "SHA256:alice", Token: "bot"}
	carol = hosttest.Principal("carol", authz.Operator)
	eve   = hosttest.Principal("eve", authz.Observer)
)

// initParams returns the params of an initialize.
func initParams(version, clientID string) ahp.InitializeParams {
	return ahp.InitializeParams{
		Channel: ahp.RootURI, ProtocolVersions: []string{version}, ClientID: clientID,
	}
}

// sh returns what runs a command line.
func sh(line string) []string { return []string{"/bin/sh", "-c", line} }

// peer is an AHP client of the host, without a wire in between.
type peer struct {
	t    testing.TB
	h    *host.Host
	c    *host.Conn
	id   string
	seq  int64
	seen []*store.Entry
	// passed are the entries that until has seen and that were not what it looked for.
	passed []*store.Entry
}

func connect(t testing.TB, h *host.Host, p authz.Principal, clientID string) *peer {
	t.Helper()
	c, err := h.Connect(p, host.DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, e := c.Initialize(initParams("0.5.0", clientID)); e != nil {
		t.Fatalf("initialize: %v", e)
	}
	return &peer{t: t, h: h, c: c, id: clientID}
}

// until pulls until an entry satisfies want and returns it.
func (p *peer) until(what string, want func(*store.Entry) bool) *store.Entry {
	p.t.Helper()
	deadline := time.After(slowtest.PatienceOf(p.t))
	for {
		for _, it := range p.c.Subscriber().Pull(nil, 1<<20) {
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
		case <-p.c.Subscriber().Signal():
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
		for _, it := range p.c.Subscriber().Pull(nil, 1<<20) {
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
	for _, it := range p.c.Subscriber().Pull(nil, 1<<20) {
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
	if e := created(rpc.CreateTerminal(p.c, params)); e != nil {
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
	case <-time.After(slowtest.PatienceOf(t)):
		t.Fatalf("%s: not in %s", what, slowtest.PatienceOf(t))
	}
}

// viewer is an SSH session's side of an attach. It keeps what it pulls.
type viewer struct {
	t   testing.TB
	c   *host.Conn
	a   *host.Attach
	out []byte
	// clipboards are the OSC 52 sequences that came.
	clipboards []string
	// notifications are the OSC 9 and OSC 777 sequences that came.
	notifications []string
	lagged        int
}

// handBack hands the keyboard back at the viewer, and returns to whom.
func (v *viewer) handBack() (name string, err error) {
	back, err := v.c.HandBack(v.a.Terminal(), v.a, false)
	if err == nil && back.To == "" {
		err = host.ErrNoPrior
	}
	return back.To, err
}

// giveAsked gives the keyboard to the first who has asked for it, and returns to whom.
func (v *viewer) giveAsked() (name string, err error) {
	back, err := v.c.HandBack(v.a.Terminal(), v.a, true)
	return back.To, err
}

// ask asks for the keyboard at the viewer.
func (v *viewer) ask() (holder string, here bool, err error) {
	asked, err := v.c.Ask(v.a.Terminal(), v.a)
	return asked.Holder, asked.Here, err
}

// decide decides at the viewer about what an agent wants to type.
func (v *viewer) decide(ask string, d host.Decision) error {
	_, err := v.c.Decide(v.a.Terminal(), v.a, ask, d, "")
	return err
}

// attach attaches p to a terminal by NAME, from a connection of its own.
func attach(t testing.TB, h *host.Host, p authz.Principal, name string, o host.AttachOptions) *viewer {
	t.Helper()
	c, err := h.Connect(p, host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	term, err := hosttest.Find(h, p, name)
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
	deadline := time.After(slowtest.PatienceOf(v.t))
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
func run(t testing.TB, h *host.Host, p authz.Principal, name, line string) *host.Terminal {
	t.Helper()
	term, err := hosttest.Create(h, p, host.CreateOptions{Name: name, Argv: sh(line)})
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func TestATerminalRunsACommandAndTellsItsExit(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, bot, "agent")
	uri := p.create("job", "/bin/sh", "-c", "echo hello; exit 7")
	term := lookup(h, uri)
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
	h := hosttest.New(t)
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

// lookup returns the terminal of a URI; nil: there is none.
func lookup(h *host.Host, uri string) *host.Terminal {
	list, _ := hosttest.As(h, alice, (*host.Conn).Terminals) // an admin may list
	for _, term := range list {
		if term.URI() == uri {
			return term
		}
	}
	return nil
}

// rootList returns the list of terminals that p is sent.
func rootList(tb testing.TB, h *host.Host, p authz.Principal) []ahp.TerminalInfo {
	tb.Helper()
	c, err := h.Connect(p, host.DoorWebSocket)
	hosttest.Check(tb, err)
	defer c.Close()
	if _, e := c.Initialize(initParams("0.5.0", "reader of the list")); e != nil {
		tb.Fatal(e)
	}
	return (&peer{t: tb, h: h, c: c}).follow(ahp.RootURI).Root.Terminals
}

// state returns a terminal's state with all output that is retained.
func state(tb testing.TB, h *host.Host, term *host.Terminal) ahp.TerminalState {
	tb.Helper()
	log, err := hosttest.Retained(h, alice, term)
	hosttest.Check(tb, err)
	return log.State
}

// exited reports whether a terminal has exited.
func exited(term *host.Terminal) bool {
	_, ok := term.Exit()
	return ok
}

// dispose disposes of a terminal, as an admin.
func dispose(tb testing.TB, h *host.Host, term *host.Terminal) {
	tb.Helper()
	hosttest.Check(tb, hosttest.Dispose(h, alice, term))
}

// send types text for carol, as ssh HOST send does.
func send(tb testing.TB, h *host.Host, term *host.Terminal, text string) {
	tb.Helper()
	c, err := h.Connect(carol, host.DoorSSH)
	hosttest.Check(tb, err)
	defer c.Close()
	hosttest.Check(tb, c.Send(tb.Context(), term, []byte(text)))
}

// awaitOutput waits until the terminal has printed text.
func awaitOutput(tb testing.TB, h *host.Host, term *host.Terminal, want string) {
	tb.Helper()
	awaitState(tb, h, term, fmt.Sprintf("printed %q", want), func(st ahp.TerminalState) bool {
		return strings.Contains(text(st), want)
	})
}

// awaitTitle waits for a title, which comes after the output that it came with.
func awaitTitle(tb testing.TB, h *host.Host, term *host.Terminal, want string) {
	tb.Helper()
	awaitState(tb, h, term, fmt.Sprintf("was titled %q", want), func(st ahp.TerminalState) bool {
		return st.Title == want
	})
}

// awaitState waits until the terminal's state satisfies is.
func awaitState(tb testing.TB, h *host.Host, term *host.Terminal, what string,
	is func(ahp.TerminalState) bool) {
	tb.Helper()
	var st ahp.TerminalState
	defer func() {
		if held, _ := host.Queued(term); tb.Failed() {
			tb.Logf("%s has printed %q, and %d bytes are held", term.Name(), text(st), held)
		}
	}()
	hosttest.Eventually(tb, term.Name()+" has "+what, func() bool {
		st = state(tb, h, term)
		return is(st)
	})
}

// created returns why a terminal was not made.
func created(pending *rpc.PendingStart, e *ahp.Error) *ahp.Error {
	if pending != nil {
		return pending.End(context.Background())
	}
	return e
}

// begin creates a terminal without waiting for a person's yes; starting, if not nil, says how its
// program's start goes.
func begin(c *host.Conn, o host.CreateOptions) (*host.Terminal, *host.Starting, error) {
	o.Later = true
	if c.Initialized() {
		o.Claim = ahp.ClientClaim(c.ClientID())
	}
	made, err := c.Create(o)
	return made.Terminal, made.Starting, err
}

// createAttached creates a terminal that is attached from the beginning on.
func createAttached(c *host.Conn, o host.CreateOptions, as host.AttachOptions) (
	*host.Attach, []byte, error,
) {
	o.Attach = &as
	made, err := c.Create(o)
	return made.Attach, made.First, err
}

// createPiped creates a terminal whose program runs on pipes.
func createPiped(c *host.Conn, o host.CreateOptions) (*host.Streams, error) {
	o.Piped = true
	made, err := c.Create(o)
	return made.Streams, err
}
