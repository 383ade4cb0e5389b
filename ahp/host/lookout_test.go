package host

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/proctag"
)

// tool skips the test if a program is missing, except where the tests are promised to be complete.
func tool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err == nil {
		return
	}
	if os.Getenv("TERMHOST_REQUIRE_TOOLS") == "1" {
		t.Fatalf("%s is not installed", name)
	}
	t.Skipf("%s is not installed", name)
}

// waitsFor returns what the terminal's program waits for, once it does.
func (t *Terminal) waitsFor(tb testing.TB, c *Conn) Waiting {
	tb.Helper()
	got, err := c.Wait(context.Background(), t, WaitFor{Blocked: true, Timeout: patience})
	if err != nil {
		tb.Fatal(err)
	}
	if got.Reason != WaitBlocked {
		t.term.Lock()
		defer t.term.Unlock()
		tb.Errorf("the wait ends with %+v; the screen:\n%s", got, t.term.Screen().AppendText(nil, false))
	}
	return got.Waiting
}

// repository makes a git repository with a change in it.
func repository(t *testing.T, dir string) {
	t.Helper()
	line := `git init -q . && git config user.name x && git config user.email x@y &&
		seq 500 >f && git add f && git commit -qm one && sed -i 3d f`
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	proctag.Untagged(func() { // else it may be taken for another test's terminal, and ended with it
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	})
}

func TestProgramsThatWaitForSomebody(t *testing.T) {
	const node = "require('readline').createInterface({input: process.stdin, output: process.stdout})"
	for name, c := range map[string]struct {
		needs, line string
		want        Waiting
	}{
		"sh read":         {"sh", `printf 'Name: '; read x`, WaitingInput},
		"read, no prompt": {"sh", `read x`, WaitingInput},
		"bash read":       {"bash", `bash -c 'read -p "Name: " x'`, WaitingInput},
		"bash read -s":    {"bash", `bash -c 'read -s -p "Password: " x'`, WaitingSecret},
		"read -n1":        {"bash", `bash -c 'read -n1 -p "Continue? [y/N] " x'`, WaitingInput},
		"read later":      {"sh", `sleep 1.5; read x`, WaitingInput},
		"cat":             {"cat", `cat`, WaitingInput},
		"input()":         {"python3", `python3 -c 'input("Name? ")'`, WaitingInput},
		"input(), bare":   {"python3", `python3 -c 'input()'`, WaitingInput},
		"readline":        {"python3", `python3 -c 'import readline; input("Name: ")'`, WaitingInput},
		"getpass": {"python3", `python3 -c 'import getpass; getpass.getpass()'`,
			WaitingSecret},
		"ssh-keygen": {"ssh-keygen", `ssh-keygen -t ed25519 -f ./new`, WaitingSecret},
		"ssh-keygen, overwrite": {"ssh-keygen", `touch new; ssh-keygen -t ed25519 -f ./new`,
			WaitingInput},
		"git add -p": {"git", `git add -p`, WaitingInput},
		"node readline": {"node", `node -e "` + node + `.question('Name? ', () => {})"`,
			WaitingInput},
		"node, a password": {"node", `node -e "` + node + `.question('Password: ', () => {})"`,
			WaitingSecret},
		"apt": {"sh", `echo 'After this, 5 MB will be used.'; printf 'Do you want to continue? [Y/n] ';
			read x`, WaitingInput},
		"sudo": {"bash", `bash -c 'printf "[sudo] password for ann: "; stty -echo; read x'`,
			WaitingSecret},
		"gpg": {"gpg", `mkdir -m 700 g; printf x | gpg --homedir g --pinentry-mode loopback -c -o - -`,
			WaitingSecret},
		"zsh read -q":       {"zsh", `zsh -fc 'read -q "x?Sure? "'`, WaitingInput},
		"in a substitution": {"bash", `bash -c 'x=$(read -p "Name: " y; echo $y)'`, WaitingInput},
		"in a pipeline":     {"bash", `bash -c 'read -p "Name: " y | cat'`, WaitingInput},
		"a child":           {"bash", `bash -c 'bash -c "read -p Name: y"; true'`, WaitingInput},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool(t, c.needs)
			if c.needs == "node" || c.needs == "gpg" {
				slowtest.Skip(t)
			}
			h := newHost(t)
			dir := t.TempDir()
			if c.needs == "git" {
				repository(t, dir)
			}
			term, err := h.Create(carol, CreateOptions{Name: "x", Argv: sh(c.line), Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if got := term.waitsFor(t, connect(t, h, carol, "c").c); got != c.want {
				t.Errorf("it waits for %q, not %q", got, c.want)
			}
		})
	}
}

// rests returns when the lookout has looked three times since the last sign of life, or needs to
// look no more. Of a program that prints all the time it has seen many signs then.
func (t *Terminal) rests(tb testing.TB) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	for {
		t.term.Lock()
		l := &t.lookout
		settled := l.looks >= 3 && l.signs == l.seen || l.atRest || l.signs > 100
		waits, text := t.waits.program, t.term.Screen().AppendText(nil, false)
		t.term.Unlock()
		switch {
		case waits != WaitingNone:
			tb.Fatalf("it waits for %q; the screen:\n%s", waits, text)
		case settled:
			return
		case time.Now().After(deadline):
			tb.Fatal("the lookout does not settle")
		}
		time.Sleep(time.Millisecond) // there is nothing to wait on: nothing is to happen
	}
}

func TestProgramsThatDoNotWait(t *testing.T) {
	slowtest.Skip(t)
	for name, c := range map[string]struct{ needs, line, ready string }{
		"sleep":           {"sleep", `sleep 1000`, ""},
		"a build":         {"sh", `for i in $(seq 100); do echo cc $i.o; sleep 0.02; done; sleep 9`, "cc 9.o"},
		"a quiet build":   {"sh", `printf 'checking for cc... '; sleep 1000`, "cc... "},
		"a progress":      {"sh", `printf 'Fetching: '; sleep 1000`, "Fetching: "},
		"tail -f":         {"tail", `printf 'a: ' >f; tail -f f`, "a: "},
		"cat | wc":        {"cat", `cat | wc`, ""},
		"sort | head":     {"sort", `sort | head`, ""},
		"cat > file":      {"cat", `cat >f`, ""},
		"vim":             {"vim", `vim -u NONE f`, "~"},
		"less":            {"less", `seq 1000 | less`, "10"},
		"less, no screen": {"less", `seq 1000 | less -X`, "10"},
		"git log":         {"git", `git log -p`, "commit"},
		"man":             {"man", `man man`, "MAN"},
		"top":             {"top", `top`, "PID"},
		"watch":           {"watch", `watch -n 1 date`, "Every"},
		"a python server": {"python3", `python3 -u -m http.server -b 127.0.0.1 0`, "Serving"},
		"a node server": {"node", `node -e "require('http').createServer().listen(0, () =>
			process.stdout.write('Listening: '))"`, "Listening: "},
		"find":         {"find", `while :; do find /usr -name 'no such file'; done`, ""},
		"grep -r":      {"grep", `while :; do grep -rs nosuchthing /usr/share; done`, ""},
		"tmux":         {"tmux", `unset TMUX; tmux -S ./sock -f /dev/null new sh`, ""},
		"bash":         {"bash", `exec bash --norc -i`, ""},
		"bash in bash": {"bash", `bash --norc -c 'bash --norc; true'`, ""},
		"zsh":          {"zsh", `exec zsh -f`, ""},
		"fish":         {"fish", `exec fish -N`, ""},
		"dash":         {"sh", `exec sh`, ""},
		"python":       {"python3", `PYTHON_BASIC_REPL=1 exec python3 -q`, ">>>"},
		"a new python": {"python3", `exec python3 -q`, ">>>"},
		"node":         {"node", `exec node`, ">"},
		"sqlite3":      {"sqlite3", `exec sqlite3`, ">"},
		"ssh-agent":    {"ssh-agent", `ssh-agent -D -a ./sock`, "sock"},
		"wait":         {"sh", `sleep 1000 & printf 'Waiting: '; wait`, "Waiting: "},
		"a job":        {"bash", `bash --norc -i -c 'sleep 1000 & printf "x: "; wait'`, "x: "},
		"dialog":       {"dialog", `dialog --yesno 'Sure?' 5 20`, "Sure"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool(t, c.needs)
			h := newHost(t)
			dir := t.TempDir()
			if c.needs == "git" {
				repository(t, dir)
			}
			term, err := h.Create(carol, CreateOptions{Name: "x", Argv: sh(c.line), Dir: dir,
				Env: []string{"HOME=" + dir, "LESS="}})
			if err != nil {
				t.Fatal(err)
			}
			if c.ready != "" {
				term.awaitOutput(t, c.ready)
			}
			term.rests(t)
		})
	}
}

// A read builtin of the shell itself is told from the shell's prompt.
func TestAShellsPromptIsNoQuestionAndItsReadIs(t *testing.T) {
	t.Parallel()
	for shell, c := range map[string]struct {
		read string
		want Waiting
	}{
		"bash": {`read -s -p "Password: " x`, WaitingSecret},
		"zsh":  {`read "x?Name: "`, WaitingInput},
		"fish": {`read x`, WaitingInput},
		"sh":   {`read x`, WaitingInput},
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			tool(t, shell)
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Fatal(err)
			}
			h := newHost(t, func(c *Config) { c.Shell, c.ShellIntegration = path, true })
			term, err := h.Create(alice, CreateOptions{Name: "x",
				Env: []string{"HOME=" + t.TempDir(), "ZDOTDIR="}})
			if err != nil {
				t.Fatal(err)
			}
			term.rests(t)
			conn := attach(t, h, alice, "x", window)
			if err := conn.a.Input([]byte(c.read + "\r")); err != nil {
				t.Fatal(err)
			}
			if got := term.waitsFor(t, conn.c); got != c.want {
				t.Errorf("%s waits for %q", c.read, got)
			}
			if err := conn.a.Input([]byte("x\r")); err != nil {
				t.Fatal(err)
			}
			term.rests(t)
		})
	}
}

// withoutLookout is for tests in which no program is to be found waiting at just any moment.
func withoutLookout(c *Config) { c.NoLookout = true }
