package host_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/ahp/store"
	"termhost/authz"
)

// share makes a client-executed terminal of p's. grace is "" or a duration.
func (p *peer) share(name, grace string) (uri string, t *host.Terminal) {
	p.t.Helper()
	uri = ahp.TerminalURI(name)
	claim := ahp.ClientClaim(p.id)
	params := ahp.CreateTerminalParams{Channel: uri, Claim: &claim,
		ExecutionTarget: ahp.ExecutorClient,
		Meta:            &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{Grace: grace}}}
	if e := created(rpc.CreateTerminal(p.c, params)); e != nil {
		p.t.Fatalf("createTerminal: %v", e)
	}
	return uri, lookup(p.h, uri)
}

// print sends output and fails if it is refused.
func (p *peer) print(uri, data string) {
	p.t.Helper()
	if why := p.dispatch(uri, ahp.TerminalOutput{Data: []byte(data)}); why != "" {
		p.t.Fatalf("output was refused: %s", why)
	}
}

func newClientHost(t testing.TB) *host.Host {
	t.Helper()
	return hosttest.New(t, func(c *host.Config) { c.ClientGrace = time.Hour })
}

func TestOutputIsEchoedOnceToItsOwnerAndIsDataForAllOthers(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	owner, watcher := connect(t, h, carol, "owner"), connect(t, h, eve, "watcher")
	uri, term := owner.share("laptop", "")
	owner.subscribe(uri)
	watcher.subscribe(uri)
	viewer := attach(t, h, bot, "laptop", window)

	// Two outputs with all that the parser takes apart: data, a query, a title that begins in the
	// first and ends in the second, a command's marks, a wide character. Then one of no bytes.
	owner.print(uri, "one\x1b[6n\x1b]0;ti")
	owner.print(uri, "tle\x07\x1b]133;A\x07$ \x1b]133;C\x07two\x1b]133;D;3\x07\u4e2d")
	owner.print(uri, "")
	for _, e := range append(owner.passed, owner.pending()...) {
		switch a := e.Action().(type) {
		case ahp.TerminalData:
			t.Errorf("the owner is shown terminal/data %q", a.Data)
		case ahp.TerminalOutput:
			t.Errorf("the owner is shown %q without having sent it", a.Data)
		}
	}
	watcher.until("the end of the command", func(e *store.Entry) bool {
		if e.Origin() != nil {
			t.Errorf("another subscriber sees whose action it was: %s", e.Action().Type())
		}
		_, over := e.Action().(ahp.TerminalCommandFinished)
		return over
	})
	viewer.shows("two")
	st := state(owner.t, h, term)
	if got, want := text(st), "one\x1b]0;title\x07$ two\u4e2d"; got != want {
		t.Errorf("the content is %q, want %q", got, want)
	}
	if st.Title != "title" || !st.Detection || !st.Client {
		t.Errorf("the state is %+v", st)
	}
}

func TestOutputOfEverySizeAndCutArrivesWhole(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.ScrollbackBytes = 8 << 20; c.LogBytes = 32 << 20 })
	owner, watcher := connect(t, h, carol, "owner"), connect(t, h, eve, "watcher")
	line := "\x1b[31mred \u4e2d\u6587 \U0001f600 \x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\\x1b[0m\r\n"
	big := strings.Repeat(line, (512<<10)/len(line))
	for name, cuts := range map[string][]string{
		"whole":   {big},
		"nothing": {"", "a", "", "b", ""},
		"tiny":    strings.Split(strings.Repeat("x", 10_000), ""),
		"bytes":   cut(strings.Repeat(line, 20), 1),
		"odd":     cut(strings.Repeat(line, 500), 7),
	} {
		t.Run(name, func(t *testing.T) {
			var uri string
			var term *host.Terminal
			if name == "bytes" || name == "odd" { // JSON cannot cut a rune; an SSH session can
				s := sharedTerminal(t, h, 80, 24)
				uri, term = s.Terminal().URI(), s.Terminal()
				watcher.subscribe(uri)
				for _, p := range cuts {
					prints(t, s, p)
				}
			} else {
				uri, term = owner.share(name, "")
				watcher.subscribe(uri)
				for _, p := range cuts {
					owner.print(uri, p)
				}
			}
			want := strings.Join(cuts, "")
			if st := state(t, h, term); text(st) != want {
				t.Errorf("the content has %d bytes, sent were %d", len(text(st)), len(want))
			}
			var got bytes.Buffer
			for got.Len() < len(want) {
				e := watcher.until("data", ofType("terminal/data"))
				got.Write(e.Action().(ahp.TerminalData).Data)
			}
			if got.String() != want {
				t.Error("the watcher got something else")
			}
		})
	}
}

func cut(s string, n int) (list []string) {
	for len(s) > n {
		list, s = append(list, s[:n]), s[n:]
	}
	return append(list, s)
}

func TestInvalidUTF8StaysForViewersAndIsReplacedInJSON(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	c, err := h.Connect(carol, host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := c.Share(host.ShareOptions{Name: "bytes"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v := attach(t, h, eve, "bytes", host.AttachOptions{ReadOnly: true})
	if _, err := s.Output(t.Context(), []byte("a\xff\xfeb\xc3(\r\n")); err != nil {
		t.Fatal(err)
	}
	v.shows("a\xff\xfeb\xc3(\r\n")
	st := state(t, h, s.Terminal())
	raw := string(st.AppendJSON(nil, ahp.ShapeExitCode))
	if !strings.Contains(raw, `a��b�(`) || !strings.Contains(raw, `"isPty":false`) {
		t.Errorf("the state is %s", raw)
	}
}

// A watcher that typed, resized or claimed through an attach would act on somebody else's machine.
func TestAnAttachToAClientTerminalOnlyLooks(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	owner := connect(t, h, carol, "owner")
	uri, term := owner.share("laptop", "")
	owner.print(uri, "\x1b]52;c;c2VjcmV0\x07shown")
	before := state(owner.t, h, term)
	for _, p := range []authz.Principal{alice, carol, bot, eve} {
		v := attach(t, h, p, "laptop", host.AttachOptions{Cols: 40, Rows: 10})
		v.shows("shown")
		v.a.Resize(30, 5)
		if err := v.a.Input([]byte("x")); !isDenied(err) {
			t.Errorf("%s: typing gives %v", p.Name, err)
		}
		if err := v.a.Claim(); !isDenied(err) {
			t.Errorf("%s: claiming gives %v", p.Name, err)
		}
		if err := v.a.SendSignal(2); !isDenied(err) {
			t.Errorf("%s: a signal gives %v", p.Name, err)
		}
		if v.a.Holds() {
			t.Errorf("%s is told that it holds the claim", p.Name)
		}
		if name, _ := v.a.Holder(); name != "carol/owner" {
			t.Errorf("the owner is %q", name)
		}
		owner.print(uri, "\x1b]52;c;c2VjcmV0\x07")
		v.pull()
		if len(v.clipboards) > 0 {
			t.Errorf("%s got the owner's clipboard", p.Name)
		}
	}
	if after := state(owner.t, h, term); after.Cols != before.Cols || after.Claim != before.Claim ||
		text(after) != text(before) {
		t.Errorf("the state has changed to %+v", after)
	}
}

func isDenied(err error) bool {
	_, ok := err.(*authz.Denied)
	return ok
}

func TestCommandsOfTheOwnerMakeParts(t *testing.T) {
	t.Parallel()
	h := newClientHost(t)
	owner := connect(t, h, carol, "owner")
	uri, term := owner.share("laptop", "")
	three := 3
	ok := func(a ahp.Action) {
		t.Helper()
		if why := owner.dispatch(uri, a); why != "" {
			t.Fatalf("%s was refused: %s", a.Type(), why)
		}
	}
	owner.print(uri, "$ make\r\n")
	ok(ahp.TerminalCommandExecuted{CommandID: "1", CommandLine: "make", Timestamp: 5})
	owner.print(uri, "building\r\n")
	ok(ahp.TerminalCommandFinished{CommandID: "1", ExitCode: &three})
	ok(ahp.TerminalCommandExecuted{CommandID: "2", CommandLine: "sleep", Timestamp: 6})
	// The command before this one is over with it.
	ok(ahp.TerminalCommandExecuted{CommandID: "3", CommandLine: "exit", Timestamp: 7})
	ok(ahp.TerminalExited{ExitCode: &three})
	st := state(owner.t, h, term)
	var got []string
	for _, p := range st.Content {
		if c := p.Command; c != nil {
			got = append(got, fmt.Sprintf("%s:%q:%v:%s", c.Line, p.Text.String(), c.Complete,
				codeText(c.ExitCode)))
		} else {
			got = append(got, fmt.Sprintf("%q", p.Text.String()))
		}
	}
	want := `["$ make\r\n"] [make:"building\r\n":true:3] [sleep:"":true:?] [exit:"":true:3]`
	if text := "[" + strings.Join(got, "] [") + "]"; text != want {
		t.Errorf("the parts are\n%s, want\n%s", text, want)
	}
	if !st.Exited || *st.ExitCode != 3 || !st.Detection {
		t.Errorf("the state is %+v", st)
	}
}

// A command counts although it prints nothing: content without checkpoints would grow for ever.
func TestCommandsWithoutOutputAreTrimmedToo(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.ScrollbackBytes = 64 << 10; c.LogBytes = 128 << 10 })
	owner := connect(t, h, carol, "owner")
	uri, term := owner.share("laptop", "")
	for i := range 3000 {
		begun := ahp.TerminalCommandExecuted{CommandID: fmt.Sprint(i), CommandLine: "true", Timestamp: 1}
		owner.c.Dispatch(uri, int64(i), begun)
		owner.pending()
	}
	st := state(owner.t, h, term)
	if len(st.Content) > 1500 {
		t.Errorf("%d parts are kept", len(st.Content))
	}
}
