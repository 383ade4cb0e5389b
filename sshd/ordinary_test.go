package sshd

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// asSSHD is a rig that runs what is no verb as sshd would.
func asSSHD(t testing.TB, people map[string]string) *rig {
	t.Helper()
	return newRig(t, rigOptions{people: people, door: func(c *Config) { c.Policy.Shell = true }})
}

// onTTY runs a command with OpenSSH's client, which asks for a terminal though it has none.
func (r *rig) onTTY(stdin, command string) outcome {
	r.t.Helper()
	return r.runSSH(stdin, append(r.sshArgs("alice", "-tt"), command)...)
}

func TestACommandOnATerminalGivesItsBytesAndNothingElse(t *testing.T) {
	t.Parallel()
	r := asSSHD(t, nil)
	all := make([]byte, 0, 3*256)
	for i := range 3 * 256 {
		all = append(all, byte(i))
	}
	r.write("all", string(all))
	for _, c := range []struct {
		command, in string
		want        outcome
	}{
		{"echo hi", "", outcome{"hi\r\n", "", 0}},
		{"echo out; echo err >&2; exit 3", "", outcome{"out\r\nerr\r\n", "", 3}},
		{"stty -opost; cat " + r.path("all"), "", outcome{string(all), "", 0}},
		{`printf '\033[?1049h\033]0;a\007\033[c\033[6n\033]11;?\033\\'`, "",
			outcome{"\x1b[?1049h\x1b]0;a\a\x1b[c\x1b[6n\x1b]11;?\x1b\\", "", 0}},
		{"no-such-program 2>/dev/null", "", outcome{"", "", 127}},
		{"cat", "line\n\x04", outcome{"line\r\nline\r\n", "", 0}},
	} {
		if got := r.onTTY(c.in, c.command); got != c.want {
			t.Errorf("%s: got %.200q, want %.200q", c.command, fmt.Sprint(got), fmt.Sprint(c.want))
		}
	}
	if got := r.onTTY("", "termhost ls --json"); got.stdout != "[]\r\n" {
		t.Errorf("terminals are left behind: %+v", got)
	}
}

// The client's reader begins when the program stands still, because nothing more is taken.
func TestACommandOnATerminalWaitsForItsReader(t *testing.T) {
	t.Parallel()
	r := asSSHD(t, nil)
	n := 2_000_000
	if !slowtest.On(t) {
		n = 600_000
	}
	if err := syscall.Mkfifo(r.path("go"), 0o600); err != nil {
		t.Fatal(err)
	}
	counted := make(chan outcome, 1)
	script := strings.Join(r.sshArgs("alice", "-tt"), "' '")
	cmd := exec.CommandContext(t.Context(), "bash", "-c",
		fmt.Sprintf("ssh '%s' 'seq %d; exit 5' </dev/null | (read x <%s; sha256sum); echo ${PIPESTATUS[0]}",
			script, n, r.path("go")))
	go func() {
		out, _ := hosttest.Output(cmd)
		counted <- outcome{stdout: out}
	}()
	last := ""
	hosttest.Eventually(t, "the program stands still", func() bool {
		was := last
		last = r.ssh("alice", "", "peek seq-1").stdout // others may watch
		return last != "" && last == was
	})
	if strings.Contains(last, fmt.Sprint(n)) {
		t.Error("it has not waited")
	}
	if err := os.WriteFile(r.path("go"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want, _ := hosttest.Output(exec.Command("bash", "-c",
		fmt.Sprintf("seq %d | sed 's/$/\\r/' | sha256sum; echo 5", n)))
	if got := <-counted; got.stdout != want {
		t.Errorf("got %q, want %q", got.stdout, want)
	}
}

func TestAProgramsQuestionsAreForThePeersTerminal(t *testing.T) {
	t.Parallel()
	r := asSSHD(t, nil)
	p := r.open(r.dial("alice"), 80, 24,
		`stty raw -echo; printf '\033[6n'; head -c 6 | od -An -c; printf '\033[c'; head -c 1; stty sane`)
	p.sees("\x1b[6n")
	p.typeIn("\x1b[3;4R")
	p.sees(`033   [   3   ;   4   R`)
	p.sees("\x1b[c")
	p.typeIn("\x1c") // which begins a command of the viewer's elsewhere
	p.sees("\x1c")
	if got := p.status(); got != 0 {
		t.Errorf("status %d", got)
	}
}

func TestKeysAndSignalsReachACommandOnATerminal(t *testing.T) {
	t.Parallel()
	r := asSSHD(t, nil)
	p := r.open(r.dial("alice"), 80, 24,
		"trap 'echo int' INT; trap 'echo usr' USR1; trap 'echo over; exit 6' QUIT; echo up $TERM $SSH_TTY; "+
			"while :; do sleep 0.01; done")
	p.sees("up xterm-256color /dev/pts/")
	p.typeIn("\x03")
	p.sees("int\r\n")
	if err := p.s.Signal(gossh.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	p.sees("usr\r\n")
	p.typeIn("\x1c")
	p.sees("over\r\n")
	if got := p.status(); got != 6 {
		t.Errorf("status %d", got)
	}
}

func TestACommandsTerminalHasThePeersSize(t *testing.T) {
	t.Parallel()
	r := asSSHD(t, nil)
	p := r.open(r.dial("alice"), 101, 31, "echo $TERMHOST_NAME.; while read x; do stty size; done")
	name := p.named()
	p.typeIn("\r")
	p.sees("31 101\r\n")
	other := r.open(r.dial("alice"), 60, 20, "attach "+name)
	other.sees("31 101")
	p.typeIn("\r")
	p.sees("31 101\r\n")
	if err := p.s.WindowChange(32, 102); err != nil {
		t.Fatal(err)
	}
	hosttest.Eventually(t, "the new size", func() bool {
		return strings.Contains(r.ssh("alice", "", "ls --wide").stdout, "102x32")
	})
	other.typeIn("\r")
	p.sees("32 102\r\n")
	if got := r.ssh("alice", "", "who "+name).stdout; strings.Count(got, "alice") != 2 {
		t.Errorf("it is watched by %s", got)
	}
}

func TestACommandOnATerminalEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	r := asSSHD(t, nil)
	c := r.dial("alice")
	p := r.open(c, 80, 24, "sleep 1000 & echo pids $$ $! .; exec sleep 1001")
	p.sees(" .\r\n")
	var shell, sleep int
	if _, err := fmt.Sscanf(p.out.all(), "pids %d %d", &shell, &sleep); err != nil {
		t.Fatal(err)
	}
	c.Close()
	for _, pid := range []int{shell, sleep} {
		hosttest.Eventually(t, "its processes end", func() bool {
			return syscall.Kill(pid, 0) != nil
		})
	}
}

func TestACommandOnATerminalEndsWithItsReader(t *testing.T) {
	t.Parallel()
	r := asSSHD(t, nil)
	script := "ssh '" + strings.Join(r.sshArgs("alice", "-tt"), "' '") + "' yes </dev/null | head -1"
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	if got, err := hosttest.Output(cmd); got != "y\r\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	hosttest.Eventually(t, "nothing is left", func() bool {
		st := r.host.Stats()
		return st.Terminals+st.Exited == 0
	})
}

func TestSomebodyElseMayTakeTheKeyboardOfACommand(t *testing.T) {
	t.Parallel()
	r := asSSHD(t, map[string]string{"alice": "", "oscar": asOperator})
	p := r.open(r.dial("oscar"), 80, 24, `echo $TERMHOST_NAME.; while read x; do echo "<$x>"; done`)
	name := p.named()
	p.typeIn("mine\r")
	p.sees("<mine>")
	a := r.open(r.dial("alice"), 80, 24, "attach "+name)
	a.sees("<mine>")
	a.typeIn("hers\r")
	p.sees("<hers>")
	p.typeIn("no")
	p.sees("termhost: alice")
	a.typeIn("\x1cr") // hands it back
	a.sees("handed back")
	p.typeIn("again\r")
	p.sees("<again>")
}

// TestAWordThatIsNearlyAVerbIsAMistake unless something can be run by that name.
func TestAWordThatIsNearlyAVerbIsAMistake(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "olga": asObserver},
		host: func(c *host.Config) { c.Env["PATH"] = dir + ":/usr/bin:/bin" },
		door: func(c *Config) { c.Policy.Shell = true }})
	if err := os.WriteFile(dir+"/attahc", []byte("#!/bin/sh\necho mine $1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command string
		want    outcome
	}{
		{"attahc x", outcome{"mine x\n", "", 0}},
		{"type cd >/dev/null && echo known", outcome{"known\n", "", 0}},
		{"kill -0 $$", outcome{"", "", 0}},
		{"case x in x) echo hit;; esac", outcome{"hit\n", "", 0}},
		{"exec echo hi", outcome{"hi\n", "", 0}},
	} {
		if got := r.ssh("alice", "", c.command); got != c.want {
			t.Errorf("%s: %+v", c.command, got)
		}
	}
	for command, hint := range map[string]string{
		"atach x": "did you mean attach?", "list": "did you mean ls?",
		"sessions": "did you mean ls?", "send-keys x": "did you mean send?",
	} {
		for _, key := range []string{"alice", "olga"} {
			got := r.ssh(key, "", command)
			if got.status != 127 || got.stdout != "" || !strings.Contains(got.stderr, hint) {
				t.Errorf("%s: %s: %+v", key, command, got)
			}
		}
	}
	if got := r.onTTY("", "atach x"); got.status != 127 ||
		!strings.Contains(got.stderr, "did you mean attach?") {
		t.Errorf("on a terminal: %+v", got)
	}
}

// TestOnlyAdminsAndOperatorsRunWhatIsNoVerb: nobody else gets a shell by it.
func TestOnlyAdminsAndOperatorsRunWhatIsNoVerb(t *testing.T) {
	t.Parallel()
	r := guestRig(t, func(c *Config) { c.Policy.Shell = true })
	r.addKey("robot", `command="echo only this"`)
	r.addKey("reader", "restrict")
	user := r.invite("--terminal build --role operator gina")
	for _, tty := range []bool{false, true} {
		args := []string{}
		if tty {
			args = append(args, "-tt")
		}
		run := func(key, command string) outcome {
			return r.runSSH("", append(r.sshArgs(key, args...), command)...)
		}
		if got := run("bob", "echo $((40+2))"); got.status != 0 || !strings.HasPrefix(got.stdout, "42") {
			t.Errorf("an operator: %+v", got)
		}
		if got := run("robot", "echo $((40+2))"); !strings.HasPrefix(got.stdout, "only this") {
			t.Errorf("a forced command: %+v", got)
		}
		for name, got := range map[string]outcome{
			"an observer": run("olga", "echo $((40+2))"),
			"restrict":    run("reader", "echo $((40+2))"),
			"a guest": r.runSSH("", append(r.sshArgs("guest",
				append(args, "-l", user)...), "echo $((40+2))")...),
		} {
			if got.status == 0 || strings.Contains(got.stdout, "42") {
				t.Errorf("%s, tty %v: %+v", name, tty, got)
			}
		}
	}
}

// named returns the NAME that a command has printed, which has ended it with a dot.
func (p *person) named() string {
	p.t.Helper()
	p.sees(".\r\n")
	name, _, _ := strings.Cut(p.out.all(), ".\r\n")
	return name
}

// What an agent starts and types waits for a person's yes here as it does elsewhere.
func TestAnAgentsCommandOnATerminalIsGuarded(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{host: func(c *host.Config) { c.GuardAgents = true },
		door: func(c *Config) { c.Policy.Shell = true }})
	s, err := r.dial("alice").NewSession()
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, s: s, out: newTranscript()}
	if p.in, err = s.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	s.Stdout, s.Stderr = p.out, p.out
	if err := s.Start("run -- exec ssh -tt " + r.client(r.addr) +
		" 'echo up.; read x; echo \"<$x>\"; read x; echo \"<$x>\"'"); err != nil {
		t.Fatal(err)
	}
	ask := func(what string) (name string) {
		t.Helper()
		hosttest.Eventually(t, what, func() bool {
			_, rest, _ := strings.Cut(r.ssh("alice", "", "asks").stdout, "\n")
			name, _, _ = strings.Cut(rest, " ")
			return name != ""
		})
		return name
	}
	p.sees("waits for a person's approval")
	r.ssh("alice", "", "approve "+ask("the start is asked for"))
	p.sees(".\r\n")
	p.typeIn("good\r")
	name := ask("the keys are asked for")
	r.ssh("alice", "", "approve "+name)
	p.sees("<good>")
	p.typeIn("evil\r")
	ask("the keys are asked for")
	r.ssh("alice", "", "refuse "+name+" not today")
	p.sees("not today")
	p.typeIn("better\r")
	ask("the keys are asked for")
	r.ssh("alice", "", "approve "+name)
	p.sees("<better>")
	if strings.Contains(p.out.all(), "<evil>") {
		t.Error("what was refused was typed")
	}
}

// TestAnAgentsCommandOnPipesIsGuarded as that of `run`: it is a terminal while it waits.
func TestAnAgentsCommandOnPipesIsGuarded(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{host: func(c *host.Config) { c.GuardAgents = true },
		door: func(c *Config) { c.Policy.Shell = true }})
	r.ssh("alice", "", "new -d -n outer -- ssh "+r.client(r.addr)+
		" 'cat; echo err >&2; kill -9 $$' >"+r.path("out")+" 2>"+r.path("err")+
		" </etc/hostname; echo $? >"+r.path("status")+"; exec sleep 1000")
	asked := ""
	hosttest.Eventually(t, "it is held", func() bool {
		asked = r.ssh("alice", "", "asks").stdout
		return strings.Contains(asked, "cat; echo err")
	})
	if _, err := os.Stat(r.path("status")); err == nil {
		t.Error("it has run already")
	}
	_, row, _ := strings.Cut(asked, "\n")
	name, _, _ := strings.Cut(row, " ")
	r.ssh("alice", "", "approve "+name)
	hosttest.Eventually(t, "it ends", func() bool {
		text, err := os.ReadFile(r.path("status"))
		return err == nil && string(text) == "255\n" // its exit-signal, as with sshd
	})
	want, err := os.ReadFile("/etc/hostname")
	if err != nil {
		t.Fatal(err)
	}
	if got := r.read("out"); got != string(want) {
		t.Errorf("the output is %q", got)
	}
	if got := r.read("err"); !strings.HasSuffix(got, "err\n") {
		t.Errorf("the error output is %q", got)
	}
}
