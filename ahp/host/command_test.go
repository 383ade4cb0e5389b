package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

func TestCommandsOfRealShellsAreToldApart(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil && os.Getenv("TERMHOST_REQUIRE_TOOLS") == "1" {
				t.Fatal(err)
			}
			if err != nil {
				t.Skipf("%s is not installed here", shell)
			}
			clock := newClock()
			h := newHost(t, func(c *Config) { c.ShellIntegration, c.Shell, c.Now = true, path, clock.Now })
			h.account.Home = t.TempDir() // no files of a user's
			writeFile(t, filepath.Join(h.account.Home, ".zshrc"), "")
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
				if executed.CommandLine != c.line || executed.By != "carol" ||
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
			if info := h.lookup(uri).Info(carol); info.LastCommand.Line != "false" || info.LastCommand.By != "carol" {
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

func TestACommandsDuration(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := newHost(t, withClock(clock))
	p := connect(t, h, carol, "c")
	uri := p.create("x", "/bin/sh", "-c",
		`printf '\033]633;A\007\033]633;E;forged;wrong\007\033]633;C\007begun'; read x; printf '\033]633;D;3\007'; read x; printf '\033]633;C\007again'; read x`)
	p.subscribe(uri)
	term := h.lookup(uri)
	term.awaitOutput(t, "begun")
	clock.advance(1500 * time.Millisecond)
	p.dispatch(uri, ahp.TerminalInput{Data: []byte("\r")})
	e := p.until("its end", ofType("terminal/commandFinished"))
	if f := e.Action().(ahp.TerminalCommandFinished); *f.DurationMs != 1500 || *f.ExitCode != 3 {
		t.Errorf("finished with %d after %d ms", *f.ExitCode, *f.DurationMs)
	}
	p.dispatch(uri, ahp.TerminalInput{Data: []byte("\r")})
	term.awaitOutput(t, "again")
	p.dispatch(uri, ahp.TerminalInput{Data: []byte("\r")})
	wait(t, "the exit", term.Done())
	st, _ := term.ch.Terminal()
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
	h := newHost(t)
	const shell = `run() { printf '\033]633;A\007'; read x; i=$((i+1)); printf '\033]633;C\007'ran$i; }
		stty -echo; printf '\033]633;C\007\033]633;D\007'; printf '\033]633;C\007\033]633;D\007first'
		run; read x; run; run; read x`
	term := run(t, h, alice, "x", shell)
	term.awaitOutput(t, "first")
	a := attach(t, h, alice, "x", window).a
	input := func(keys string) {
		t.Helper()
		if err := a.Input([]byte(keys)); err != nil {
			t.Fatal(err)
		}
	}
	sender := connect(t, h, keyOf("bob", authz.Admin), "b").c
	input("half a li")
	if err := sender.Send(t.Context(), term, []byte("ne\r")); err != nil {
		t.Fatal(err)
	}
	term.awaitOutput(t, "ran1")
	input("for the program\ra line typed ahead\r")
	term.awaitOutput(t, "ran2")
	input("\r")
	term.awaitOutput(t, "ran3")
	var who []string
	list, _, err := h.LogCommands(alice, term)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
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
	h := newHost(t)
	run(t, h, alice, "x", "read x")
	p := connect(t, h, carol, "c")
	const want = "input needs the claim; claimed by alice"
	in := ahp.TerminalInput{Data: []byte("x")}
	if got := p.dispatch(ahp.TerminalURI("x"), in); got != want {
		t.Errorf("rejected with %q", got)
	}
}
