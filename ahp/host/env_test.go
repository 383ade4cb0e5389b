package host_test

import (
	"bytes"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// variables runs env in a terminal and returns what it prints.
func variables(t *testing.T, h *host.Host, o host.CreateOptions) map[string]string {
	t.Helper()
	o.Argv = []string{"/usr/bin/env", "-0"}
	term, err := hosttest.Create(h, carol, o)
	if err != nil {
		t.Fatal(err)
	}
	wait(t, "exit", term.Done())
	st := state(t, h, term)
	vars := map[string]string{}
	for _, v := range strings.Split(text(st), "\x00") {
		if name, value, ok := strings.Cut(v, "="); ok {
			vars[name] = value
		}
	}
	return vars
}

func TestNothingOfTheHostsEnvironmentReachesATerminal(t *testing.T) {
	t.Setenv("CANARY_SECRET", "tweet")
	t.Setenv("LANG", "tweet")
	t.Setenv("LC_ALL", "tweet")
	t.Setenv("TERM", "tweet")
	t.Setenv("PATH", os.Getenv("PATH")+":/tweet")
	home := t.TempDir() // but for this: the terminals' home is the host's, as in tmux
	t.Setenv("HOME", home)
	h := hosttest.New(t, func(c *host.Config) { c.Env = map[string]string{"EDITOR": "vim"} })
	got := variables(t, h, host.CreateOptions{Name: "build"})
	for name, value := range got {
		if strings.Contains(value, "tweet") {
			t.Errorf("%s=%s", name, value)
		}
	}
	user, err := user.Current()
	hosttest.Check(t, err)
	for name, want := range map[string]string{
		"TERM": "xterm-256color", "LANG": "C.UTF-8", "EDITOR": "vim", "SHELL": "/bin/sh",
		"HOME": home, "USER": user.Username, "TERMHOST_NAME": "build",
		"TERMHOST_URI": "ahp-terminal:/build",
		"TERM_PROGRAM": "ghostty", "TERM_PROGRAM_VERSION": "1.2.0",
	} {
		if got[name] != want {
			t.Errorf("%s=%q, want %q", name, got[name], want)
		}
	}
}

func TestWhatAClientMaySet(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.Env = map[string]string{"EDITOR": "vim", "PAGER": "less"} })
	got := variables(t, h, host.CreateOptions{
		Term: "xterm",
		ClientEnv: []string{
			"LANG=de_DE.UTF-8", "LC_TIME=C", "COLORTERM=truecolor",
			"LD_PRELOAD=/evil.so", "EDITOR=evil", "PATH=/evil",
		},
		Env: []string{"SSH_CONNECTION=1 2 3 4", "PAGER=more"},
	})
	want := map[string]string{
		"LANG": "de_DE.UTF-8", "LC_TIME": "C", "COLORTERM": "truecolor",
		"LD_PRELOAD": "", "EDITOR": "vim",
		"SSH_CONNECTION": "1 2 3 4", "PAGER": "more", "TERM": "xterm",
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s=%q, want %q", name, got[name], value)
		}
	}
	if strings.Contains(got["PATH"], "evil") {
		t.Error("a client sets PATH")
	}
}

func TestTermIsTheCreatorsIfTheHostKnowsIt(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.Term = "vt100" })
	termFor := func(h *host.Host, theirs string) string {
		t.Helper()
		term, err := hosttest.Create(h, carol, host.CreateOptions{Term: theirs, Argv: []string{"printenv", "TERM"}})
		hosttest.Check(t, err)
		wait(t, "its end", term.Done())
		return strings.TrimSpace(text(state(t, h, term)))
	}
	home := t.TempDir()
	host.SetHome(h, home)
	for _, dir := range []string{"m", "6e"} {
		if err := os.MkdirAll(filepath.Join(home, ".terminfo", dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(home, ".terminfo/m/my-term"), "x")
	writeFile(t, filepath.Join(home, ".terminfo/6e/new-term"), "x")
	for term, want := range map[string]string{
		"xterm": "xterm", "my-term": "my-term", "new-term": "new-term",
		"": "vt100", "no-such-term": "vt100", "../m/my-term": "vt100", "m": "vt100", ".": "vt100",
		"..": "vt100", "x\x00": "vt100",
		strings.Repeat("x", 500): "vt100",
	} {
		if got := termFor(h, term); got != want {
			t.Errorf("%q gives %q, want %q", term, got, want)
		}
	}
	if got := termFor(hosttest.New(t), "no-such-term"); got != "xterm-256color" {
		t.Error(got)
	}
}

func TestALineRunsInTheShellAndNotInALoginShell(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.Shell, c.Login = "/bin/bash", true })
	term, err := hosttest.Create(h, carol,
		host.CreateOptions{Line: `X=1 echo "$0" "$-" $(shopt -q login_shell && echo login); cat <<<"a  b"`})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, "exit", term.Done())
	st := state(t, h, term)
	if got := text(st); strings.Contains(got, "login") || strings.Contains(got, "i ") ||
		!strings.Contains(got, "a  b\r\n") {
		t.Errorf("%q", got)
	}
	if term.Name() != "echo-1" {
		t.Errorf("it is called %s", term.Name())
	}
}

func TestAShellStartsAtHomeOrAtTheRoot(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	host.SetHome(h, "/no/such/home")
	term := run(t, h, carol, "x", "pwd")
	wait(t, "exit", term.Done())
	if st := state(t, h, term); text(st) != "/\r\n" || st.Cwd != "file:///" {
		t.Errorf("it starts in %q, said to be %s", text(st), st.Cwd)
	}
	dir := t.TempDir()
	term, err := hosttest.Create(h, carol, host.CreateOptions{Dir: dir, Argv: []string{"pwd"}})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, "exit", term.Done())
	if st := state(t, h, term); text(st) != dir+"\r\n" {
		t.Errorf("it starts in %q", text(st))
	}
}

func TestTheScriptsOfShellIntegrationAreInstalledOnce(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.ShellIntegration = true; c.Shell = "/bin/bash" })
	var files []string
	filepath.WalkDir(filepath.Join(host.StateDir(h), "shell"),
		func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, filepath.Base(path))
			}
			return err
		})
	slices.Sort(files)
	if len(files) != 3 {
		t.Errorf("installed %q", files)
	}
}

func TestAShellThatIsMissingIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	hosttest.New(t, func(c *host.Config) {
		c.Shell, c.Log = "/no/such/shell", slog.New(slog.NewTextHandler(&log, nil))
	})
	if got := log.String(); !strings.Contains(got, "terminal.shell cannot be run") ||
		!strings.Contains(got, "/no/such/shell") {
		t.Errorf("the log: %s", got)
	}
}

// Programs know kitty's keyboard protocol by the name of what draws the terminal. The configuration
// may have another, and a terminal that cannot draw has none.
func TestTheProgramThatDrawsHasAName(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	if got := variables(t, h, host.CreateOptions{Term: "dumb"}); got["TERM"] != "dumb" ||
		got["TERM_PROGRAM"] != "" || got["TERM_PROGRAM_VERSION"] != "" {
		t.Errorf("dumb: %q", got)
	}
	other := hosttest.New(t, func(c *host.Config) { c.Env = map[string]string{"TERM_PROGRAM": "other"} })
	if got := variables(t, other, host.CreateOptions{}); got["TERM_PROGRAM"] != "other" {
		t.Errorf("configured: %q", got["TERM_PROGRAM"])
	}
}
