package host_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool"
)

// TestAProgramFindsItsOwnTerminal: what a program does first may be to say how it stands.
func TestAProgramFindsItsOwnTerminal(t *testing.T) {
	t.Parallel()
	c := door(t, hosttest.New(t), alice, host.DoorSSH)
	dir := t.TempDir()
	for i := range 50 {
		name := fmt.Sprintf("work-%d", i)
		runs := filepath.Join(dir, name)
		failed := make(chan error, 1)
		go func() {
			_, err := c.Create(host.CreateOptions{Name: name,
				Argv: []string{"/bin/sh", "-c", ": >" + runs + "; read x"}})
			failed <- err
		}()
		for {
			if _, err := os.Stat(runs); err == nil {
				break
			}
		}
		if _, err := c.Find(ahp.TerminalURI(name)); err != nil {
			t.Fatalf("while its program runs: %v", err)
		}
		hosttest.Check(t, <-failed)
	}
}

func TestCreateTerminalsErrors(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.MaxTerminals = 2 })
	p := connect(t, h, carol, "c")
	p.create("taken", "/bin/cat")
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, "not a program\n")
	n := func(i int) *int { return &i }
	claim := func(c ahp.Claim) *ahp.Claim { return &c }
	extras := func(x ahp.CreateTerminalExtras) *ahp.CreateTerminalMeta {
		return &ahp.CreateTerminalMeta{Termhost: &x}
	}
	type params = ahp.CreateTerminalParams
	for name, c := range map[string]struct {
		change func(*params)
		code   int
		data   string
	}{
		"no URI":             {func(p *params) { p.Channel = "x" }, -32602, `"channel"`},
		"empty URI":          {func(p *params) { p.Channel = "" }, -32602, `"channel"`},
		"long URI":           {func(p *params) { p.Channel = "ahp-terminal:/" + strings.Repeat("x", 256) }, -32602, `"channel"`},
		"illegal name":       {func(p *params) { p.Channel = "ahp-terminal:/a%20b" }, -32602, `"channel"`},
		"long name":          {func(p *params) { p.Channel = "ahp-terminal:/" + strings.Repeat("x", 65) }, -32602, `"channel"`},
		"the root":           {func(p *params) { p.Channel = ahp.RootURI }, -32602, `"channel"`},
		"a session's":        {func(p *params) { p.Channel = "ahp-session:/x" }, -32602, `"channel"`},
		"taken":              {func(p *params) { p.Channel = "ahp-terminal:/taken" }, -32010, ""},
		"taken, other form":  {func(p *params) { p.Channel = "AHP-Terminal:///./taken" }, -32010, ""},
		"taken, other URI":   {func(p *params) { p.Channel = "other:/place/taken" }, -32010, ""},
		"no claim":           {func(p *params) { p.Claim = nil }, -32602, `"claim"`},
		"another's clientId": {func(p *params) { p.Claim = claim(ahp.ClientClaim("d")) }, -32602, `"claim"`},
		"empty claim":        {func(p *params) { p.Claim = &ahp.Claim{} }, -32602, `"claim"`},
		"long session":       {func(p *params) { p.Claim = claim(ahp.Claim{Kind: "session", Session: strings.Repeat("s", 300)}) }, -32602, `"claim"`},
		"cwd no file":        {func(p *params) { p.Cwd = "http://x/tmp" }, -32602, `"cwd"`},
		"cwd elsewhere":      {func(p *params) { p.Cwd = "file://elsewhere/tmp" }, -32602, `"cwd"`},
		"cwd missing":        {func(p *params) { p.Cwd = "file:///no/such" }, -32602, `"cwd"`},
		"cwd a file":         {func(p *params) { p.Cwd = ahp.FileURI(file) }, -32602, `"cwd"`},
		"no cols":            {func(p *params) { p.Cols = n(0) }, -32602, `"cols"`},
		"negative cols":      {func(p *params) { p.Cols = n(-5) }, -32602, `"cols"`},
		"many cols":          {func(p *params) { p.Cols = n(1001) }, -32602, `"cols"`},
		"no rows":            {func(p *params) { p.Rows = n(0) }, -32602, `"rows"`},
		"many rows":          {func(p *params) { p.Rows = n(501) }, -32602, `"rows"`},
		"target":             {func(p *params) { p.ExecutionTarget = "moon" }, -32602, `"executionTarget"`},
		"no such command":    {func(p *params) { p.Meta = extras(ahp.CreateTerminalExtras{Command: "/no/such"}) }, -32602, `command`},
		"no program":         {func(p *params) { p.Meta = extras(ahp.CreateTerminalExtras{Command: file}) }, -32602, `command`},
		"args alone":         {func(p *params) { p.Meta = extras(ahp.CreateTerminalExtras{Args: []string{"x"}}) }, -32602, `args`},
		"env":                {func(p *params) { p.Meta = extras(ahp.CreateTerminalExtras{Env: map[string]string{"A=B": "c"}}) }, -32602, `env`},
		"env NUL":            {func(p *params) { p.Meta = extras(ahp.CreateTerminalExtras{Env: map[string]string{"A": "c\x00d"}}) }, -32602, `env`},
	} {
		params := params{Channel: "ahp-terminal:/fresh", Claim: claim(ahp.ClientClaim("c"))}
		c.change(&params)
		e := created(rpc.CreateTerminal(p.c, params))
		if e == nil || e.Code != c.code || !strings.Contains(string(e.Data), c.data) {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if infos, err := hosttest.List(h, carol); err != nil || len(infos) != 1 {
		t.Errorf("what could not be created is listed: %+v %v", infos, err)
	}
	looker := connect(t, h, eve, "looker")
	own := params{Channel: "ahp-terminal:/l", Claim: claim(ahp.ClientClaim("looker"))}
	if e := created(rpc.CreateTerminal(looker.c, own)); e == nil || e.Code != -32009 {
		t.Errorf("an observer: %+v", e)
	}
	// Neither names nor places are taken by what could not be created.
	p.create("fresh", "/bin/cat")
	e := created(rpc.CreateTerminal(p.c, params{Channel: "ahp-terminal:/third", Claim: claim(ahp.ClientClaim("c"))}))
	if e == nil || e.Code != ahp.CodeLimit ||
		!strings.Contains(string(e.Data), "terminal.max_terminals") {
		t.Errorf("beyond the limit: %+v", e)
	}
	_, err := hosttest.Create(h, carol, host.CreateOptions{})
	var limit *ptypool.LimitError
	if !errors.As(err, &limit) || limit.Limit != 2 {
		t.Errorf("beyond the limit: %v", err)
	}
}

func TestAShellThatDoesNotExistIsTheHostsFault(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.Shell = "/no/such/shell" })
	p := connect(t, h, carol, "c")
	claim := ahp.ClientClaim("c")
	e := created(rpc.CreateTerminal(p.c, ahp.CreateTerminalParams{Channel: "ahp-terminal:/x", Claim: &claim}))
	if e == nil || e.Code != ahp.CodeInternal || strings.Contains(e.Message, "/") {
		t.Errorf("%+v", e)
	}
	_, err := hosttest.Create(h, carol, host.CreateOptions{})
	if !errors.Is(err, ptypool.ErrNotFound) {
		t.Errorf("over SSH it is %v", err)
	}
}

func TestCreateNamesClampsAndClaims(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	for _, name := range []string{"a b", "..", strings.Repeat("x", 65), "ä"} {
		var bad *host.NameError
		if _, err := hosttest.Create(h, carol, host.CreateOptions{Name: name}); !errors.As(err, &bad) {
			t.Errorf("%q: %v", name, err)
		}
	}
	var names []string
	for range 3 {
		term, err := hosttest.Create(h, carol, host.CreateOptions{Argv: []string{"/bin/cat"}, Cols: 4000, Rows: 4000})
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, term.Name())
		info := term.Info(carol)
		if info.Cols != host.MaxCols || info.Rows != host.MaxRows {
			t.Errorf("4000x4000 became %dx%d", info.Cols, info.Rows)
		}
		if info.Claim != ahp.ClientClaim(host.SSHClientID(carol)) || !info.Mine || info.Holder != "carol" {
			t.Errorf("held by %+v", info)
		}
	}
	if !slices.Equal(names, []string{"cat-1", "cat-2", "cat-3"}) {
		t.Errorf("names %q", names)
	}
	if _, err := hosttest.Create(h, carol, host.CreateOptions{Claim: ahp.ClientClaim("nobody")}); err == nil {
		t.Error("claimed by nobody")
	}
	var denied *authz.Denied
	for _, p := range []authz.Principal{
		eve,
		{ID: "x", Role: authz.Admin, Command: "date"}, {ID: "x", Role: authz.Admin, ReadOnly: true},
	} {
		if _, err := hosttest.Create(h, p, host.CreateOptions{}); !errors.As(err, &denied) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

func TestInitialSubscriptionsThatDoNotExistAreLeftOut(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	uri := connect(t, h, carol, "a").create("x", "/bin/cat")
	c, err := h.Connect(eve, host.DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	hello, e := c.Initialize(ahp.InitializeParams{
		ProtocolVersions: []string{"0.9.0", "7.0.0"}, ClientID: "e",
		InitialSubscriptions: []ahp.SubscriptionRef{
			"ahp-root:", "ahp-terminal:/none", ahp.SubscriptionRef(uri), "no uri", "",
		},
	})
	if e != nil {
		t.Fatal(e)
	}
	snapshots, serverSeq := hello.Snapshots.Start()
	if len(snapshots) != 2 || snapshots[0].Root == nil || snapshots[1].Terminal == nil {
		t.Fatalf("snapshots %+v", snapshots)
	}
	if got := snapshots[0].Root.Terminals; len(got) != 1 || got[0].Resource != uri {
		t.Errorf("the list is %+v", got)
	}
	for _, v := range snapshots {
		if serverSeq > v.Seq {
			t.Errorf("serverSeq %d is above a snapshot's %d: what is between would be lost",
				serverSeq, v.Seq)
		}
	}
	if hello.Version.String() != "0.9.0" || hello.DefaultDirectory == "" {
		t.Errorf("%+v", hello)
	}
	if _, err := c.Initialize(initParams("0.9.0", "e")); err != host.ErrInitialized {
		t.Errorf("a second initialize: %v", err)
	}
	if _, err := c.Reconnect(ahp.ReconnectParams{ClientID: "e"}); err != host.ErrInitialized {
		t.Errorf("reconnect after initialize: %v", err)
	}
}

func TestAVersionThatNobodySpeaks(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	c, err := h.Connect(carol, host.DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	versions := []string{"2.0.0", "0.2.0", "x"}
	_, err = c.Initialize(ahp.InitializeParams{ProtocolVersions: versions, ClientID: "c"})
	if e := rpc.Error(c, err); e == nil || e.Code != ahp.CodeVersion ||
		!strings.Contains(string(e.Data), `"supportedVersions":["1.0.0"`) {
		t.Errorf("%v", err)
	}
}

func TestTheProgramsOwnTitleAndDirectory(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, carol, "c")
	uri := p.create("x", "/bin/sh", "-c",
		`printf '\033]0;mine\007\033]7;file:///usr\033\\'; read x; printf '\033]2;yours\007'; read x; printf '\033]2;theirs\007done'; read x`)
	p.subscribe(uri)
	term := lookup(h, uri)
	state := func() ahp.TerminalState { st := state(p.t, h, term); return st }
	for state().Cwd != "file:///usr" {
		p.until("something", func(e *store.Entry) bool { return e.Channel() == uri })
	}
	if st := state(); st.Title != "mine" {
		t.Errorf("title %q", st.Title)
	}
	p.dispatch(uri, ahp.TerminalInput{Data: []byte("\r")})
	p.until("the second title", is(ahp.TerminalTitleChanged{Title: "yours"}))
	long := "  a\x1b]0;b\x07\u202ec" + strings.Repeat("é", 200)
	if got := p.dispatch(uri, ahp.TerminalTitleChanged{Title: long}); got != "" {
		t.Error(got)
	}
	renamed := state().Title
	if !strings.HasPrefix(renamed, "a]0;bcéé") || len(renamed) > 256 {
		t.Errorf("renamed to %q", renamed)
	}
	if got := p.dispatch(uri, ahp.TerminalTitleChanged{Title: "\x1b\x07 "}); got != reasonTitle {
		t.Errorf("an empty title: %q", got)
	}
	p.dispatch(uri, ahp.TerminalInput{Data: []byte("\r")})
	awaitOutput(t, h, term, "done")
	if got := state().Title; got != renamed {
		t.Errorf("a rename does not stick: %q", got)
	}
	if got := p.dispatch(uri, ahp.TerminalCleared{}); got != "" {
		t.Errorf("clear: %q", got)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	for line, want := range map[string]int{
		"exit 0": 0, "exit 7": 7, "exit 255": 255,
		"kill -TERM $$": 143, "kill -KILL $$": 137, "kill -HUP $$": 129,
	} {
		term := run(t, h, carol, "", line)
		wait(t, line, term.Done())
		st := state(t, h, term)
		if got, ok := term.Exit(); !ok || got.Code != want || !st.Exited || *st.ExitCode != want {
			t.Errorf("%s: %v %v, state %v", line, got, ok, st.ExitCode)
		}
	}
}

func TestChildrenHaveTheStandardDescriptorsOnly(t *testing.T) {
	t.Parallel()
	f, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := hosttest.New(t)
	term := run(t, h, carol, "fds", "ls /proc/self/fd | tr '\\n' ' '")
	wait(t, "exit", term.Done())
	st := state(t, h, term)
	if got := strings.TrimSpace(text(st)); got != "0 1 2 3" { // 3 is ls's own
		t.Errorf("descriptors %q", got)
	}
}

func TestAForcedCommandsTerminalIsItsOwnOnly(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	forced := authz.Principal{ID: "SHA256:forced", Name: "forced", Role: authz.Operator,
		Fingerprint: "SHA256:forced", Command: "cat"}
	c, err := h.Connect(forced, host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	other := run(t, h, carol, "other", "exec cat")
	var denied *authz.Denied
	if _, _, err := createAttached(c, host.CreateOptions{Line: "sh"}, window); !errors.As(err, &denied) {
		t.Errorf("another command: %v", err)
	}
	if _, _, err := c.Attach(other, host.AttachOptions{ReadOnly: true}); !errors.As(err, &denied) {
		t.Errorf("another's terminal: %v", err)
	}
	if err := c.Send(t.Context(), other, []byte("x")); !errors.As(err, &denied) {
		t.Errorf("input to another's terminal: %v", err)
	}
	a, _, err := createAttached(c, host.CreateOptions{Line: forced.Command, Forced: true}, window)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.Input([]byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, h, a.Terminal(), "hello")
	a.Resize(100, 30)
	if info := a.Terminal().Info(carol); info.Cols != 100 {
		t.Error("its window does not follow")
	}
}

func TestCreateAttachedMissesNothingFromTheFirstByteOn(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	c, err := h.Connect(carol, host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 30 {
		o := host.CreateOptions{Argv: []string{"/bin/echo", "hello"}, Transient: true}
		a, first, err := createAttached(c, o, host.AttachOptions{})
		if err != nil {
			t.Fatal(err)
		}
		v := &viewer{t: t, c: c, a: a, out: first}
		v.shows("hello\r\n")
		if string(v.out) != "hello\r\n" {
			t.Errorf("got %q", v.out)
		}
		wait(t, "exit", a.Terminal().Done())
		a.Close()
		wait(t, "its going", a.Terminal().Gone())
	}
	if list, err := hosttest.List(h, carol); err != nil || len(list) != 0 {
		t.Errorf("left: %v %v", list, err)
	}
	c.End(errors.New("enough"))
	if _, _, err := createAttached(c, host.CreateOptions{}, window); err == nil || err.Error() != "enough" {
		t.Errorf("an ended connection creates: %v", err)
	}
}
