package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

func TestCommandsOfRealShellsAreToldApart(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			path := slowtest.Program(t, shell)
			clock := newClock()
			h := hosttest.New(t, func(c *host.Config) { c.ShellIntegration, c.Shell, c.Now = true, path, clock.Now })
			home := t.TempDir() // no files of a user's
			host.SetHome(h, home)
			writeFile(t, filepath.Join(home, ".zshrc"), "")
			p := connect(t, h, carol, "c")
			uri := p.create("x", "")
			st := p.subscribe(uri)
			if !st.Detection {
				p.until("detection", is(ahp.TerminalCommandDetectionAvailable{}))
			}
			for _, c := range []struct {
				line string
				code int
			}{{"echo hello world", 0}, {`sh -c "exit 42"`, 42}, {"false", 1}} {
				if got := p.dispatch(uri, ahp.TerminalInput{Data: []byte(c.line + "\r")}); got != "" {
					t.Fatal(got)
				}
				e := p.until("the command", ofType("terminal/commandExecuted"))
				executed := e.Action().(ahp.TerminalCommandExecuted)
				if executed.CommandLine != c.line || executed.By != "carol/c" ||
					executed.Timestamp != clock.Now().UnixMilli() {
					t.Errorf("executed %+v, want %q", executed, c.line)
				}
				e = p.until("its end", ofType("terminal/commandFinished"))
				finished := e.Action().(ahp.TerminalCommandFinished)
				if finished.CommandID != executed.CommandID ||
					finished.ExitCode == nil || *finished.ExitCode != c.code ||
					finished.DurationMs == nil || *finished.DurationMs != 0 {
					t.Errorf("%s: finished %+v", c.line, finished)
				}
			}
			if info := lookup(h, uri).Info(carol); info.LastCommand.Line != "false" || info.LastCommand.By != "carol/c" {
				t.Errorf("the last command is %+v", info.LastCommand)
			}
			// The exit ends the command that is running.
			p.dispatch(uri, ahp.TerminalInput{Data: []byte("exec sh -c 'kill -9 $$'\r")})
			p.until("the command", ofType("terminal/commandExecuted"))
			finished := p.until("its end", ofType("terminal/commandFinished"))
			code := finished.Action().(ahp.TerminalCommandFinished).ExitCode
			if code == nil || *code != 137 {
				t.Errorf("finished with %v", code)
			}
			exited := p.until("the exit", ofType("terminal/exited"))
			if code := exited.Action().(ahp.TerminalExited).ExitCode; code == nil || *code != 137 {
				t.Errorf("exited with %v", code)
			}
		})
	}
}

func TestWhatRunsIsUnknownWhenTheShellWasReplaced(t *testing.T) {
	t.Parallel()
	for shell, next := range map[string]string{"bash": "bash --norc", "zsh": "zsh -f"} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("%s is not installed here", shell)
			}
			h := hosttest.New(t, func(c *host.Config) { c.ShellIntegration, c.Shell = true, path })
			home := t.TempDir()
			host.SetHome(h, home)
			writeFile(t, filepath.Join(home, ".zshrc"), "")
			p := connect(t, h, carol, "c")
			uri := p.create("x", "")
			p.subscribe(uri)
			term := lookup(h, uri)
			types := func(line string) {
				t.Helper()
				if got := p.dispatch(uri, ahp.TerminalInput{Data: []byte(line + "\r")}); got != "" {
					t.Fatal(got)
				}
			}
			types("exec " + next)
			e := p.until("its end", ofType("terminal/commandFinished"))
			if code := e.Action().(ahp.TerminalCommandFinished).ExitCode; code != nil {
				t.Errorf("it ended with %d", *code)
			}
			if last := term.Info(carol).LastCommand; last.Line != "exec "+next || last.ExitCode != nil {
				t.Errorf("the last command is %+v", last)
			}
			if _, err := p.c.Wait(t.Context(), term, host.WaitFor{Command: true}); err != host.ErrNoCommands {
				t.Errorf("a wait for the next command: %v", err)
			}
			last := history.ExcerptOf{Last: true}
			if _, err := p.c.Excerpt(p.c.Work(t.Context()), term, last); err != host.ErrNoCommands {
				t.Errorf("the last command's output: %v", err)
			}
			types("echo go''es on")
			awaitOutput(t, h, term, "goes on")
			if got := term.Info(carol).Waiting; got != host.WaitingNone {
				t.Errorf("at its prompt it waits for %s", got)
			}
		})
	}
}

func TestAShellThatIsAskedForTellsOfItsCommands(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"bash", "bash -l", "zsh", "zsh -i", "fish"} {
		t.Run(line, func(t *testing.T) {
			words := strings.Fields(line)
			if _, err := exec.LookPath(words[0]); err != nil {
				t.Skipf("%s is not installed here", words[0])
			}
			h := hosttest.New(t, func(c *host.Config) { c.ShellIntegration, c.Shell = true, "/bin/sh" })
			home := t.TempDir()
			host.SetHome(h, home)
			writeFile(t, filepath.Join(home, ".zshrc"), "")
			p := connect(t, h, carol, "c")
			for _, o := range []host.CreateOptions{{Line: line}, {Argv: words}} {
				term, err := hosttest.Create(h, carol, o)
				if err != nil {
					t.Fatal(err)
				}
				if term.Name() != words[0] && !strings.HasPrefix(term.Name(), words[0]+"-") {
					t.Errorf("it is called %s", term.Name())
				}
				st := p.subscribe(term.URI())
				if !st.Detection {
					p.until("detection", is(ahp.TerminalCommandDetectionAvailable{}))
				}
				attach(t, h, carol, term.Name(), window).types("false\r")
				e := p.until("the end", ofType("terminal/commandFinished"))
				if code := e.Action().(ahp.TerminalCommandFinished).ExitCode; code == nil || *code != 1 {
					t.Errorf("it ended with %v", code)
				}
			}
		})
	}
	h := hosttest.New(t, func(c *host.Config) { c.ShellIntegration, c.Shell = true, "/bin/sh" })
	own := filepath.Join(t.TempDir(), "bash")
	if err := os.Symlink("/bin/sh", own); err != nil {
		t.Fatal(err)
	}
	for _, o := range []host.CreateOptions{{Line: "bash -c 'read x'"}, {Line: "bash --norc"},
		{Line: "bash; :"}, {Line: own}, {Argv: []string{own}},
		{Argv: []string{"bash"}, Env: []string{"PATH=" + filepath.Dir(own)}}} {
		term, err := hosttest.Create(h, carol, o)
		if err != nil {
			t.Fatal(err)
		}
		last := history.ExcerptOf{Last: true}
		c := connect(t, h, carol, "c").c
		if _, err := c.Excerpt(c.Work(t.Context()), term, last); err != host.ErrNoCommands {
			t.Errorf("the last command's output: %v", err)
		}
	}
}

func TestACommandsDuration(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	p := connect(t, h, carol, "c")
	uri := p.create("x", "/bin/sh", "-c",
		`printf '\033]633;A\007\033]633;E;forged;wrong\007\033]633;C\007begun'; read x; printf '\033]633;D;3\007'; read x; printf '\033]633;C\007again'; read x`)
	p.subscribe(uri)
	term := lookup(h, uri)
	awaitOutput(t, h, term, "begun")
	clock.advance(1500 * time.Millisecond)
	p.dispatch(uri, ahp.TerminalInput{Data: []byte("\r")})
	e := p.until("its end", ofType("terminal/commandFinished"))
	if f := e.Action().(ahp.TerminalCommandFinished); *f.DurationMs != 1500 || *f.ExitCode != 3 {
		t.Errorf("finished with %d after %d ms", *f.ExitCode, *f.DurationMs)
	}
	p.dispatch(uri, ahp.TerminalInput{Data: []byte("\r")})
	awaitOutput(t, h, term, "again")
	p.dispatch(uri, ahp.TerminalInput{Data: []byte("\r")})
	wait(t, "the exit", term.Done())
	st := state(p.t, h, term)
	var commands []*ahp.Command
	for _, part := range st.Content {
		if part.Command != nil {
			commands = append(commands, part.Command)
		}
	}
	if len(commands) != 2 || commands[0].Line != "" || !commands[1].Complete ||
		*commands[1].ExitCode != *st.ExitCode || commands[0].ID == commands[1].ID {
		t.Errorf("commands %+v", commands)
	}
}

func TestACommandIsOfWhoTypedItsEnter(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	const shell = `run() { printf '\033]633;A\007'; read x; i=$((i+1)); printf '\033]633;C\007'ran$i; }
		stty -echo; printf '\033]633;C\007\033]633;D\007'; printf '\033]633;C\007\033]633;D\007first'
		run; read x; run; run; read x`
	term := run(t, h, alice, "x", shell)
	awaitOutput(t, h, term, "first")
	a := attach(t, h, alice, "x", window).a
	input := func(keys string) {
		t.Helper()
		if err := a.Input([]byte(keys)); err != nil {
			t.Fatal(err)
		}
	}
	sender := door(t, h, hosttest.Principal("bob", authz.Admin), host.DoorSSH)
	input("half a li")
	if err := sender.Send(t.Context(), term, []byte("ne\r")); err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, h, term, "ran1")
	input("for the program\ra line typed ahead\r")
	awaitOutput(t, h, term, "ran2")
	input("\r")
	awaitOutput(t, h, term, "ran3")
	var who []string
	log, err := hosttest.Retained(h, alice, term)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range log.Commands() {
		who = append(who, c.By)
	}
	// Its program began the first one itself, and nobody typed the second.
	want := []string{"alice", "-", "bob", "alice", "alice"}
	if !slices.Equal(who, want) {
		t.Errorf("commands of %q, want %q", who, want)
	}
}

func TestARejectionSaysWhoHoldsTheTerminal(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	run(t, h, alice, "x", "read x")
	p := connect(t, h, carol, "c")
	const want = "input needs the claim; claimed by alice"
	in := ahp.TerminalInput{Data: []byte("x")}
	if got := p.dispatch(ahp.TerminalURI("x"), in); got != want {
		t.Errorf("rejected with %q", got)
	}
}
