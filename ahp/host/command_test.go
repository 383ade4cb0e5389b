package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"termhost/ahp"
)

func TestCommandsOfRealShellsAreToldApart(t *testing.T) {
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
				p.until("detection", func(e *storeEntry) bool { return e.Action() == ahp.TerminalCommandDetectionAvailable{} })
			}
			for _, c := range []struct {
				line string
				code int
			}{{"echo hello world", 0}, {`sh -c "exit 42"`, 42}, {"false", 1}} {
				if got := p.dispatch(uri, ahp.TerminalInput{Data: []byte(c.line + "\r")}); got != "" {
					t.Fatal(got)
				}
				e := p.until("the command", func(e *storeEntry) bool { return e.Action().Type() == "terminal/commandExecuted" })
				executed := e.Action().(ahp.TerminalCommandExecuted)
				if executed.CommandLine != c.line || executed.Timestamp != clock.Now().UnixMilli() {
					t.Errorf("executed %+v, want %q", executed, c.line)
				}
				e = p.until("its end", func(e *storeEntry) bool { return e.Action().Type() == "terminal/commandFinished" })
				finished := e.Action().(ahp.TerminalCommandFinished)
				if finished.CommandID != executed.CommandID || finished.ExitCode == nil || *finished.ExitCode != c.code || finished.DurationMs == nil || *finished.DurationMs != 0 {
					t.Errorf("%s: finished %+v", c.line, finished)
				}
			}
			if info := h.lookup(uri).Info(carol); info.LastCommand != "false" {
				t.Errorf("the last command is %q", info.LastCommand)
			}
			// The exit finishes what runs.
			p.dispatch(uri, ahp.TerminalInput{Data: []byte("exec sh -c 'kill -9 $$'\r")})
			p.until("the command", func(e *storeEntry) bool { return e.Action().Type() == "terminal/commandExecuted" })
			finished := p.until("its end", func(e *storeEntry) bool { return e.Action().Type() == "terminal/commandFinished" })
			if code := finished.Action().(ahp.TerminalCommandFinished).ExitCode; code == nil || *code != 137 {
				t.Errorf("finished with %v", code)
			}
			exited := p.until("the exit", func(e *storeEntry) bool { return e.Action().Type() == "terminal/exited" })
			if code := exited.Action().(ahp.TerminalExited).ExitCode; code == nil || *code != 137 {
				t.Errorf("exited with %v", code)
			}
		})
	}
}

func TestACommandsDuration(t *testing.T) {
	clock := newClock()
	h := newHost(t, withClock(clock))
	p := connect(t, h, carol, "c")
	uri := p.create("x", "/bin/sh", "-c", `printf '\033]633;A\007\033]633;E;forged;wrong\007\033]633;C\007begun'; read x; printf '\033]633;D;3\007'; read x; printf '\033]633;C\007again'; read x`)
	p.subscribe(uri)
	term := h.lookup(uri)
	term.awaitOutput(t, "begun")
	clock.advance(1500 * time.Millisecond)
	p.dispatch(uri, ahp.TerminalInput{Data: []byte("\r")})
	e := p.until("its end", func(e *storeEntry) bool { return e.Action().Type() == "terminal/commandFinished" })
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
	if len(commands) != 2 || commands[0].Line != "" || !commands[1].Complete || *commands[1].ExitCode != *st.ExitCode || commands[0].ID == commands[1].ID {
		t.Errorf("commands %+v", commands)
	}
}
