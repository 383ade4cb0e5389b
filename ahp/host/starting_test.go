package host_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/authz"
	"termhost/ptypool"
)

// starter is a host with guard_agents, an agent, and people that may decide about its programs.
type starter struct {
	*guarded // its dir is also a folder for what programs leave behind
	cfg      host.Config
}

func newStarter(t *testing.T, change ...func(*host.Config)) *starter {
	t.Helper()
	var cfg host.Config
	h := hosttest.New(t, append(change, func(c *host.Config) {
		c.GuardAgents = true
		cfg = *c
	})...)
	s := &starter{guarded: &guarded{t: t, h: h, dir: t.TempDir()}, cfg: cfg}
	host.SetHome(h, s.dir)
	s.agent = connect(t, h, bot, "agent")
	s.ann, s.bob = door(t, h, alice, host.DoorSSH), door(t, h, hosttest.Principal("bob", authz.Admin), host.DoorSSH)
	return s
}

// begins has the agent send createTerminal for a line of sh, which must wait. The result gets the
// answer.
func (s *starter) begins(name, line string) (answer <-chan *ahp.Error) {
	s.t.Helper()
	claim := ahp.ClientClaim("agent")
	params := ahp.CreateTerminalParams{Channel: ahp.TerminalURI(name), Claim: &claim,
		Meta: &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{
			Command: "/bin/sh", Args: []string{"-c", line}}}}
	pending, e := rpc.CreateTerminal(s.agent.c, params)
	if e != nil || pending == nil {
		s.t.Fatalf("it does not wait: %v", e)
	}
	s.term = lookup(s.h, params.Channel)
	answered := make(chan *ahp.Error, 1)
	go func() { answered <- pending.End(context.Background()) }()
	return answered
}

// ran reports whether a program has left a file behind.
func (s *starter) ran(file string) bool {
	_, err := os.Stat(filepath.Join(s.dir, file))
	return err == nil
}

// refused checks the answer to a createTerminal whose program has not run.
func (s *starter) refused(answer <-chan *ahp.Error, want string) {
	s.t.Helper()
	switch e := <-answer; {
	case e == nil || e.Code != ahp.CodeNotPermitted || e.Message != want:
		s.t.Errorf("the answer is %+v, want %q", e, want)
	case lookup(s.h, s.term.URI()) != nil:
		s.t.Error("the terminal is still there")
	}
	if s.ran("ran") {
		s.t.Error("it ran")
	}
}

func TestWhatAnAgentStartsRunsWhenAPersonApproves(t *testing.T) {
	t.Parallel()
	s := newStarter(t)
	answer := s.begins("x", "touch ran; echo started; read x; echo got $x")
	info := s.term.Info(alice)
	if info.Waiting != host.WaitingApproval || !info.Guarded || info.State != host.StateRunning {
		t.Errorf("listed as %+v", info)
	}
	if st := s.agent.subscribe(s.term.URI()); st.Exited {
		t.Errorf("its state is %+v", st)
	}
	list, err := s.ann.Asks()
	if err != nil || len(list) != 1 {
		t.Fatalf("asks: %+v, %v", list, err)
	}
	want := "cd " + s.dir + "\n/bin/sh -c 'touch ran; echo started; read x; echo got $x'"
	if is := list[0]; is.Text != want || is.Does != ahp.AskStarts || is.By != "alice/bot" || is.All {
		t.Errorf("asked %+v, want %q", is, want)
	}
	if s.ran("ran") {
		t.Error("it ran before the yes")
	}
	if _, err := s.ann.Decide(s.term, nil, list[0].Ask, host.EditIt, ""); message(err) != "a program that is to be started cannot be edited; refuse it" {
		t.Errorf("edited: %v", err)
	}
	s.decides(s.ann, list[0].Ask, host.ApproveOnce, "")
	if e := <-answer; e != nil {
		t.Fatalf("the answer is %+v", e)
	}
	awaitOutput(t, s.h, s.term, "started")
	s.asks("hi\r")
	s.decides(s.ann, "", host.ApproveOnce, "")
	awaitOutput(t, s.h, s.term, "got hi")
}

func TestWhatAnAgentStartsNeverRunsWithoutAYes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(*starter)
		want string
	}{
		"a refusal": {func(s *starter) { s.decides(s.bob, "", host.RefuseOnce, "not now") },
			"not started: refused by bob: not now"},
		"it is disposed": {func(s *starter) {
			if err := hosttest.Dispose(s.h, alice, s.term); err != nil {
				s.t.Error(err)
			}
		}, "not started: the terminal was ended by alice"},
		"the guard is turned off": {func(s *starter) {
			if err := s.bob.SetGuard(s.term, false); err != nil {
				s.t.Error(err)
			}
		}, "not started: " + unguarded},
		"the agent leaves": {func(s *starter) { s.agent.c.Close() },
			"not started: the connection was closed"},
		"nobody answers": {nil, "not started: nobody answered in 10m"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStarter(t)
			if c.end == nil {
				host.SetApprovalTime(s.h, time.Millisecond)
			}
			answer := s.begins("x", "touch ran")
			if c.end != nil {
				c.end(s)
			}
			s.refused(answer, c.want)
		})
	}
}

// creates makes a terminal for a connection, and returns whether that waits for a yes.
func creates(t *testing.T, h *host.Host, c *host.Conn, o host.CreateOptions) (waits bool) {
	t.Helper()
	term, starting, err := begin(c, o)
	if err != nil {
		t.Fatal(err)
	}
	if starting != nil {
		starting.Withdraw(errors.New("enough"))
	}
	hosttest.Check(t, h.Hangup(alice, term, 0))
	wait(t, "its end", term.Done())
	return starting != nil
}

func TestWhichStartsNeedAYes(t *testing.T) {
	t.Parallel()
	s := newStarter(t, func(c *host.Config) { c.Shell = "/bin/sh" })
	inside := alice
	inside.Inside = true
	program := host.CreateOptions{Argv: []string{"true"}}
	for name, c := range map[string]struct {
		c    *host.Conn
		o    host.CreateOptions
		want bool
	}{
		"a program of an AHP peer":     {s.agent.c, program, true},
		"a line of one":                {s.agent.c, host.CreateOptions{Line: "true"}, true},
		"a shell with variables":       {s.agent.c, host.CreateOptions{Env: []string{"A=b"}}, true},
		"a shell":                      {s.agent.c, host.CreateOptions{Dir: "/tmp"}, false},
		"a token's over ssh":           {door(t, s.h, bot, host.DoorSSH), program, true},
		"one from inside a terminal":   {door(t, s.h, inside, host.DoorSSH), program, true},
		"a person's":                   {s.ann, program, false},
		"a person's with AHP":          {door(t, s.h, alice, host.DoorSubsystem), program, true},
		"a forced command of a person": {s.ann, host.CreateOptions{Line: "true", Forced: true}, false},
	} {
		if got := creates(t, s.h, c.c, c.o); got != c.want {
			t.Errorf("%s waits: %v", name, got)
		}
	}
	var denied *authz.Denied
	token := door(t, s.h, bot, host.DoorSSH)
	if _, err := token.StartProcess(authz.Create, program); !errors.As(err, &denied) {
		t.Errorf("a program that is not listed: %v", err)
	}
	cfg := s.cfg
	cfg.GuardAgents = false
	s.h.Configure(cfg)
	if creates(t, s.h, s.agent.c, program) {
		t.Error("without guard_agents it waits")
	}
}

func TestKeysForWhatHasNotStartedAreRefused(t *testing.T) {
	t.Parallel()
	s := newStarter(t)
	answer := s.begins("x", "touch ran; exec cat")
	v := attach(t, s.h, alice, "x", window)
	if err := v.a.Input([]byte("k")); ruleIn(err) != reasonUnstarted {
		t.Errorf("a viewer types: %v", err)
	}
	if err := s.bob.Send(t.Context(), s.term, []byte("k")); ruleIn(err) != reasonUnstarted {
		t.Errorf("somebody sends: %v", err)
	}
	if who, _ := v.a.Holder(); who != "alice/bot" {
		t.Errorf("it is held by %s", who)
	}
	if is, ok := v.a.Asking(); !ok || is.Does != ahp.AskStarts {
		t.Errorf("the viewer is asked %+v, %v", is, ok)
	}
	if err := v.a.Claim(); err != nil { // which takes nothing back that the agent has asked for
		t.Fatal(err)
	}
	v.a.Resize(90, 30)
	is, _ := v.a.Asking()
	if err := v.decide(is.Ask, host.ApproveOnce); err != nil {
		t.Fatal(err)
	}
	if e := <-answer; e != nil {
		t.Fatal(e)
	}
	if err := v.a.Input([]byte("typed\r")); err != nil {
		t.Fatal(err)
	}
	v.shows("typed\r\ntyped")
}

func TestAYesToWhatCannotStartIsToldToBoth(t *testing.T) {
	t.Parallel()
	s := newStarter(t)
	program := filepath.Join(s.dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch ran\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	term, starting, err := begin(s.agent.c, host.CreateOptions{Argv: []string{program}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	s.term = term
	var start *ptypool.StartError
	if _, err := s.ann.Decide(term, nil, s.first(), host.ApproveOnce, ""); !errors.As(err, &start) {
		t.Errorf("the person is told %v", err)
	}
	wait(t, "its end", term.Done())
	if st, _ := term.Exit(); st.Code != 127 {
		t.Errorf("it ended with %+v", st)
	}
	if err := starting.Wait(t.Context()); !errors.As(err, &start) {
		t.Errorf("the agent is told %v", err)
	}
}

func TestWhatAnAgentRunsOnPipesWaitsForAYes(t *testing.T) {
	t.Parallel()
	s := newStarter(t)
	token := door(t, s.h, bot, host.DoorSSH)
	held := make(chan *host.Starting, 1)
	o := host.CreateOptions{Name: "x", Argv: []string{"cat"}, Transient: true,
		Held: func(s *host.Starting) { held <- s }}
	type made struct {
		s   *host.Streams
		err error
	}
	done := make(chan made, 1)
	create := func() {
		streams, err := createPiped(token, o)
		done <- made{streams, err}
	}
	go create()
	s.term = (<-held).Terminal()
	if info := s.term.Info(alice); !info.Guarded || info.Waiting != host.WaitingApproval {
		t.Errorf("listed as %+v", info)
	}
	s.decides(s.ann, "", host.RefuseOnce, "")
	var never *host.NotStartedError
	if got := <-done; !errors.As(got.err, &never) || never.Why != "refused by alice" {
		t.Errorf("refused: %v", got.err)
	}
	go create()
	s.term = (<-held).Terminal()
	s.decides(s.ann, "", host.ApproveOnce, "")
	got := <-done
	if got.err != nil {
		t.Fatal(got.err)
	}
	defer got.s.Close()
	if s.term.Guarded() {
		t.Error("it is guarded though nobody types into it")
	}
	go func() {
		_, _ = got.s.Write([]byte("exact\n"))
		got.s.CloseInput()
	}()
	var out strings.Builder
	go func() { _ = got.s.CopyStderr(io.Discard) }()
	if err := got.s.CopyStdout(&out); err != nil || out.String() != "exact\n" {
		t.Errorf("it printed %q, %v", out.String(), err)
	}
}

func TestATooLongCommandIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := newStarter(t)
	o := host.CreateOptions{Name: "x", Argv: []string{"true", strings.Repeat("x", maxHeldText)}}
	if _, _, err := begin(s.agent.c, o); !strings.Contains(message(err), "at most 16384 bytes long; use a script") {
		t.Errorf("refused with %v", err)
	}
	if lookup(s.h, ahp.TerminalURI("x")) != nil {
		t.Error("the terminal is still there")
	}
}

func TestARestartRefusesWhatHasNotStarted(t *testing.T) {
	t.Parallel()
	s := newStarter(t)
	s.begins("x", "touch ran")
	started := s.begins("y", "exec cat")
	s.decides(s.ann, "", host.ApproveOnce, "")
	if e := <-started; e != nil {
		t.Fatal(e)
	}
	later := after(t, killed(t, s.h))
	term := find(t, later, "x")
	if st, over := term.Exit(); !over || st.Code != ptypool.NotStarted ||
		term.EndedBy() != "before it had started: nobody had approved it when the host ended" {
		t.Errorf("the next host has it as %+v, %q", st, term.EndedBy())
	}
	if st, over := find(t, later, "y").Exit(); !over || st.Code == ptypool.NotStarted {
		t.Errorf("what ran is listed as %+v", st)
	}
	if s.ran("ran") {
		t.Error("it ran")
	}
}

func TestAGuardedNameStaysGuarded(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	again := func(h *host.Host, c *host.Conn, o host.CreateOptions) (*host.Terminal, *host.Starting) {
		t.Helper()
		if term := lookup(h, ahp.TerminalURI("x")); term != nil {
			if err := hosttest.Dispose(h, alice, term); err != nil {
				t.Fatal(err)
			}
		}
		o.Name = "x"
		term, starting, err := begin(c, o)
		if err != nil {
			t.Fatal(err)
		}
		return term, starting
	}
	program := host.CreateOptions{Argv: []string{"cat"}}
	if term, starting := again(g.h, g.agent.c, host.CreateOptions{}); !term.Guarded() || starting != nil {
		t.Errorf("an agent's shell is guarded: %v, waits: %v", term.Guarded(), starting != nil)
	}
	if term, starting := again(g.h, g.agent.c, program); !term.Guarded() || starting == nil {
		t.Errorf("an agent's program is guarded: %v, waits: %v", term.Guarded(), starting != nil)
	}
	later := after(t, killed(t, g.h))
	agent, ann := connect(t, later, bot, "agent"), door(t, later, alice, host.DoorSSH)
	if term, _ := again(later, agent.c, host.CreateOptions{}); !term.Guarded() {
		t.Error("after a restart it is not")
	}
	if term, _ := again(later, ann, program); term.Guarded() {
		t.Error("a person's own is")
	}
	if term, _ := again(later, agent.c, program); term.Guarded() {
		t.Error("after a person has made it anew, it still is")
	}
}

func TestACommandLineCannotLookLikeAnother(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	s := newStarter(t, func(c *host.Config) { c.Env = map[string]string{"PATH": bin} })
	dir := filepath.Join(s.dir, "a b")
	hosttest.Check(t, os.Mkdir(dir, 0o700))
	for _, name := range []string{"make", "echo", "A=b", "x;y"} {
		hosttest.Check(t, os.Symlink("/bin/true", filepath.Join(bin, name)))
	}
	for _, c := range []struct {
		argv, env []string
		want      string
	}{
		{[]string{"make", "-C", "a b", ""}, nil, "make -C 'a b' ''"},
		{[]string{"echo", "it's", "$HOME", "a\nb"}, nil, "echo 'it'\\''s' '$HOME' 'a\nb'"},
		{[]string{"A=b", "c=d"}, []string{"X=y z", "Y="}, "X='y z' Y='' 'A=b' c=d"},
		{[]string{"x;y", "é"}, []string{"LD_PRELOAD=/tmp/x.so"}, "LD_PRELOAD=/tmp/x.so 'x;y' 'é'"},
	} {
		_, starting, err := begin(s.agent.c, host.CreateOptions{Dir: dir, Argv: c.argv, Env: c.env})
		hosttest.Check(t, err)
		list, err := s.ann.Asks(starting.Terminal())
		hosttest.Check(t, err)
		if want := "cd '" + dir + "'\n" + c.want; len(list) != 1 || list[0].Text != want {
			t.Errorf("%q with %q is shown as %+v, want %q", c.argv, c.env, list, want)
		}
		starting.Withdraw(errors.New("enough"))
	}
}

// A host that leaves its terminals to the keeper leaves nothing that has not started.
func TestWhatHasNotStartedEndsWithTheHost(t *testing.T) {
	t.Parallel()
	s := newStarter(t)
	answer := s.begins("x", "touch ran")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.h.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	if e := <-answer; e == nil || !strings.Contains(e.Message, host.ErrClosed.Error()) {
		t.Errorf("the answer is %+v", e)
	}
	if st, _ := s.term.Exit(); st.Code != ptypool.NotStarted || s.ran("ran") {
		t.Errorf("it ended with %+v, and ran: %v", st, s.ran("ran"))
	}
}
