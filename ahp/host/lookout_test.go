package host_test

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/proctag"
)

// waitsFor returns what the terminal's program waits for, once it does.
func waitsFor(tb testing.TB, h *host.Host, term *host.Terminal, c *host.Conn) host.Waiting {
	tb.Helper()
	got, err := c.Wait(context.Background(), term, host.WaitFor{Blocked: true, Timeout: hosttest.Patience})
	if err != nil {
		tb.Fatal(err)
	}
	if got.Reason != host.WaitBlocked {
		tb.Errorf("the wait ends with %+v; the screen:\n%s", got, screenText(tb, h, term))
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
		want        host.Waiting
	}{
		"sh read":         {"sh", `printf 'Name: '; read x`, host.WaitingInput},
		"read, no prompt": {"sh", `read x`, host.WaitingInput},
		"bash read":       {"bash", `bash -c 'read -p "Name: " x'`, host.WaitingInput},
		"bash read -s":    {"bash", `bash -c 'read -s -p "Password: " x'`, host.WaitingSecret},
		"read -n1":        {"bash", `bash -c 'read -n1 -p "Continue? [y/N] " x'`, host.WaitingInput},
		"read later":      {"sh", `sleep 1.5; read x`, host.WaitingInput},
		"cat":             {"cat", `cat`, host.WaitingInput},
		"input()":         {"python3", `python3 -c 'input("Name? ")'`, host.WaitingInput},
		"input(), bare":   {"python3", `python3 -c 'input()'`, host.WaitingInput},
		"readline":        {"python3", `python3 -c 'import readline; input("Name: ")'`, host.WaitingInput},
		"getpass": {"python3", `python3 -c 'import getpass; getpass.getpass()'`,
			host.WaitingSecret},
		"ssh-keygen": {"ssh-keygen", `ssh-keygen -t ed25519 -f ./new`, host.WaitingSecret},
		"ssh-keygen, overwrite": {"ssh-keygen", `touch new; ssh-keygen -t ed25519 -f ./new`,
			host.WaitingInput},
		"git add -p": {"git", `git add -p`, host.WaitingInput},
		"node readline": {"node", `node -e "` + node + `.question('Name? ', () => {})"`,
			host.WaitingInput},
		"node, a password": {"node", `node -e "` + node + `.question('Password: ', () => {})"`,
			host.WaitingSecret},
		"apt": {"sh", `echo 'After this, 5 MB will be used.'; printf 'Do you want to continue? [Y/n] ';
			read x`, host.WaitingInput},
		"sudo": {"bash", `bash -c 'printf "[sudo] password for ann: "; stty -echo; read x'`,
			host.WaitingSecret},
		"gpg": {"gpg", `mkdir -m 700 g; printf x | gpg --homedir g --pinentry-mode loopback -c -o - -`,
			host.WaitingSecret},
		"zsh read -q":       {"zsh", `zsh -fc 'read -q "x?Sure? "'`, host.WaitingInput},
		"in a substitution": {"bash", `bash -c 'x=$(read -p "Name: " y; echo $y)'`, host.WaitingInput},
		"in a pipeline":     {"bash", `bash -c 'read -p "Name: " y | cat'`, host.WaitingInput},
		"a child":           {"bash", `bash -c 'bash -c "read -p Name: y"; true'`, host.WaitingInput},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slowtest.Programs(t, c.needs)
			if c.needs == "node" || c.needs == "gpg" {
				slowtest.Skip(t)
			}
			h := hosttest.New(t)
			dir := t.TempDir()
			if c.needs == "git" {
				repository(t, dir)
			}
			term, err := hosttest.Create(h, carol, host.CreateOptions{Name: "x", Argv: sh(c.line), Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if got := waitsFor(t, h, term, connect(t, h, carol, "c").c); got != c.want {
				t.Errorf("it waits for %q, not %q", got, c.want)
			}
		})
	}
}

// rests returns when the lookout has looked three times since the last sign of life, or needs to
// look no more. Of a program that prints all the time it has seen many signs then.
func rests(tb testing.TB, h *host.Host, term *host.Terminal) {
	tb.Helper()
	deadline := time.Now().Add(hosttest.Patience)
	for {
		settled, waits := host.Looked(term), term.Info(alice).Waiting
		switch {
		case waits != host.WaitingNone:
			tb.Fatalf("it waits for %q; the screen:\n%s", waits, screenText(tb, h, term))
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
			slowtest.Programs(t, c.needs)
			h := hosttest.New(t)
			dir := t.TempDir()
			if c.needs == "git" {
				repository(t, dir)
			}
			term, err := hosttest.Create(h, carol, host.CreateOptions{Name: "x", Argv: sh(c.line), Dir: dir,
				Env: []string{"HOME=" + dir, "LESS="}})
			if err != nil {
				t.Fatal(err)
			}
			if c.ready != "" {
				awaitOutput(t, h, term, c.ready)
			}
			rests(t, h, term)
		})
	}
}

// A read builtin of the shell itself is told from the shell's prompt.
func TestAShellsPromptIsNoQuestionAndItsReadIs(t *testing.T) {
	t.Parallel()
	for shell, c := range map[string]struct {
		read string
		want host.Waiting
	}{
		"bash": {`read -s -p "Password: " x`, host.WaitingSecret},
		"zsh":  {`read "x?Name: "`, host.WaitingInput},
		"fish": {`read x`, host.WaitingInput},
		"sh":   {`read x`, host.WaitingInput},
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			slowtest.Programs(t, shell)
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Fatal(err)
			}
			h := hosttest.New(t, func(c *host.Config) { c.Shell, c.ShellIntegration = path, true })
			term, err := hosttest.Create(h, alice, host.CreateOptions{Name: "x",
				Env: []string{"HOME=" + t.TempDir(), "ZDOTDIR="}})
			if err != nil {
				t.Fatal(err)
			}
			rests(t, h, term)
			conn := attach(t, h, alice, "x", window)
			if err := conn.a.Input([]byte(c.read + "\r")); err != nil {
				t.Fatal(err)
			}
			if got := waitsFor(t, h, term, conn.c); got != c.want {
				t.Errorf("%s waits for %q", c.read, got)
			}
			if err := conn.a.Input([]byte("x\r")); err != nil {
				t.Fatal(err)
			}
			rests(t, h, term)
		})
	}
}

// withoutLookout is for tests in which no program is to be found waiting at just any moment.
func withoutLookout(c *host.Config) { c.NoLookout = true }
