package sshd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// withAgent connects with an agent that holds the key "agentkey".
func (r *rig) withAgent(key string) *gossh.Client {
	r.t.Helper()
	private, err := gossh.ParseRawPrivateKey([]byte(r.read("agentkey")))
	if err != nil {
		r.t.Fatal(err)
	}
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: private}); err != nil {
		r.t.Fatal(err)
	}
	c := r.dial(key)
	if err := agent.ForwardToAgent(c, ring); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// askAgent runs a command in an SSH session that asks for agent forwarding.
func (r *rig) askAgent(c *gossh.Client, command string) (output string, forwarded bool) {
	r.t.Helper()
	s, err := c.NewSession()
	if err != nil {
		r.t.Fatal(err)
	}
	defer s.Close()
	forwarded = agent.RequestAgentForwarding(s) == nil
	out, err := s.Output(command)
	var exit *gossh.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(string(out)), forwarded
}

func TestAgentForwarding(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": ""},
		door: func(c *Config) { c.Policy.AgentForwarding = true }})
	r.newKey("agentkey")
	c := r.withAgent("alice")
	out, _ := r.askAgent(c, "run -- ssh-add -l")
	if !strings.Contains(out, r.fingerprint("agentkey")) {
		t.Errorf("the agent's keys: %q", out)
	}
	ended, _ := r.askAgent(c, "run -- printenv SSH_AUTH_SOCK")
	if _, err := os.Stat(ended); !errors.Is(err, fs.ErrNotExist) || ended == "" {
		t.Errorf("the socket %q of a program that has ended: %v", ended, err)
	}
	r.askAgent(c, `new -d -n x -- sh -c 'echo "<$SSH_AUTH_SOCK>"; exec cat'`)
	r.ssh("alice", "", "wait --match '>' x")
	_, rest, _ := strings.Cut(r.ssh("alice", "", "log --text x").stdout, "<")
	socket, _, _ := strings.Cut(rest, ">")
	if st, err := os.Stat(socket); err != nil || st.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("its socket: %v, %v", st, err)
	}
	for _, other := range []string{"alice", "bob"} {
		if got := r.ssh(other, "", "run -- printenv SSH_AUTH_SOCK"); got.stdout != "" {
			t.Errorf("a connection without an agent, %s's, gets %q", other, got.stdout)
		}
	}
	if nc, err := net.Dial("unix", socket); err != nil {
		t.Error(err)
	} else {
		nc.Close()
	}
	outside := exec.Command("ssh-add", "-l")
	outside.Env = []string{"SSH_AUTH_SOCK=" + socket, "PATH=" + os.Getenv("PATH")}
	if out, err := hosttest.Output(outside); err == nil || strings.Contains(out, "SHA256") {
		t.Errorf("a process outside of all terminals reaches an agent: %s", out)
	}
}

// keyAgent runs OpenSSH's ssh-agent with a key of its own, as on somebody's machine.
func (r *rig) keyAgent(name string) (socket string) {
	r.t.Helper()
	r.newKey(name)
	socket = r.path(name + ".agent")
	cmd := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	hosttest.Eventually(r.t, "the agent has the key", func() bool {
		add := exec.Command("ssh-add", "-q", r.path(name))
		add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+socket)
		_, err := hosttest.Output(add)
		return err == nil
	})
	return socket
}

// sshOnPty runs OpenSSH's client on a pty, with -A if there is an agent, until the test ends or
// leave is called.
func (r *rig) sshOnPty(key, agent, command string) (p *person, leave func()) {
	r.t.Helper()
	options := []string{"-tt"}
	if agent != "" {
		options = append(options, "-A", "-o", "IdentityAgent="+agent)
	}
	cmd := exec.Command("ssh", append(append(options, r.sshArgs(key)...), command)...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 100, Rows: 30})
	if err != nil {
		r.t.Fatal(err)
	}
	p = &person{t: r.t, in: tty, out: newTranscript()}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(p.out, tty)
	}()
	leave = sync.OnceFunc(func() {
		cmd.Process.Kill()
		cmd.Wait()
		<-copied
		tty.Close()
	})
	r.t.Cleanup(leave)
	return p, leave
}

// TestATerminalHasOneSocketForTheAgentOfWhoeverHoldsIt: that of the newest connection with -A, also
// in a terminal that was made without one. While there is none, a program cannot even connect.
// agents returns how many connections have one.
func (r *rig) agents() (n int) {
	a := &r.server.agents
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, of := range a.by {
		n += len(of)
	}
	return n
}

func TestATerminalHasOneSocketForTheAgentOfWhoeverHoldsIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": ""},
		door: func(c *Config) { c.Policy.AgentForwarding = true }})
	laptop, desk, bobs := r.keyAgent("laptop"), r.keyAgent("desk"), r.keyAgent("bobs")
	// ssh-add exits with 1 if an agent has no key, and with 2 if there is none.
	const look = `stty -echo; while read x; do ssh-add -l >list 2>&1; echo "<$x $? ` +
		`$(cut -d' ' -f2 list) $SSH_AUTH_SOCK>"; done`
	r.ssh("alice", "", "new -d -n x -C "+r.path("")+" -- "+look)
	path, asked := "", 0
	check := func(p *person, when, key string) {
		t.Helper()
		asked++
		begin := fmt.Sprintf("<%d", asked)
		p.typeIn(strconv.Itoa(asked) + "\r")
		got := ""
		hosttest.Eventually(t, when+": there is an answer", func() bool {
			_, got, _ = strings.Cut(r.ssh("alice", "", "log --text x").stdout, begin)
			return strings.Contains(got, ">")
		})
		got = strings.ReplaceAll(got[:strings.Index(got, ">")], "\n", "")
		f := strings.Fields(got)
		at := f[len(f)-1]
		if path == "" {
			path = at
		}
		want := "2"
		if key != "" {
			want = "0 " + r.fingerprint(key)
		}
		if at != path || path[0] != '/' || !strings.HasPrefix(strings.Join(f, " "), want) {
			t.Errorf("%s: got %q, want %s and the path %s", when, got, want, path)
		}
	}
	p, leave := r.sshOnPty("alice", "", "attach x")
	check(p, "nobody has an agent", "")
	leave()
	p, leave = r.sshOnPty("alice", laptop, "attach x")
	check(p, "with -A", "laptop")
	_, leaveDesk := r.sshOnPty("alice", desk, "new -n y -- cat")
	r.shows("y", "")
	hosttest.Eventually(t, "y is attached", func() bool {
		return strings.Contains(r.ssh("alice", "", "who y").stdout, "alice")
	})
	check(p, "a newer one, at another terminal", "desk")
	leaveDesk()
	hosttest.Eventually(t, "the connection has ended, which is later than the attach", func() bool {
		return r.agents() == 1
	})
	check(p, "the newer one has left", "laptop")

	bob, leaveBob := r.sshOnPty("bob", "", "attach x")
	check(bob, "bob takes the keyboard and has no agent", "")
	check(p, "alice takes it again", "laptop")
	leaveBob()
	bob, leaveBob = r.sshOnPty("bob", bobs, "attach x")
	check(bob, "bob takes it, and has one", "bobs")
	check(p, "alice takes it again, though bob's is newer", "laptop")
	r.server.SetPolicy(Policy{})
	check(p, "agent_forwarding = false", "")
	r.server.SetPolicy(Policy{AgentForwarding: true})
	check(p, "agent_forwarding = true", "laptop")
	leave()
	check(bob, "alice has left, and bob takes it", "bobs")
	leaveBob()
	p, _ = r.sshOnPty("alice", "", "attach x")
	check(p, "nobody has one again", "")
}

// Between fork(2) and execve(2) a process has all that the host has.
func TestACopyOfAnAgentsSocketRefusesWithIt(t *testing.T) {
	t.Parallel()
	dir, err := openPath(t.TempDir())
	hosttest.Check(t, err)
	defer dir.Close()
	l, err := bindIn(t.Context(), dir, "socket")
	hosttest.Check(t, err)
	duplicate, err := l.File()
	hosttest.Check(t, err)
	defer duplicate.Close()
	s := &agentSocket{listen: l}
	s.refuse()
	c, err := net.Dial("unix", descriptorPath(dir)+"/socket")
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("it is not refused: %v, %v", c, err)
	}
}

// A program that is led to an agent is cut off when another person takes the keyboard.
func TestNobodyGoesOnToUseTheAgentOfAFormerHolder(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": ""},
		door: func(c *Config) { c.Policy.AgentForwarding = true }})
	if _, err := exec.LookPath("python3"); err != nil {
		slowtest.Missing(t, "python3 is not installed")
	}
	r.newKey("agentkey")
	r.askAgent(r.withAgent("alice"), "new -d -n x -- "+
		`python3 -c 'import os,socket; s=socket.socket(socket.AF_UNIX); `+
		`s.connect(os.environ["SSH_AUTH_SOCK"]); s.sendall(b"\0\0\0\1\x0b"); s.recv(1); `+
		`print("led", flush=True); `+
		`exec("while s.recv(4096): pass"); print("cut off", flush=True); input()'`)
	if got := r.ssh("alice", "", "wait --timeout 1m --match led x"); got.status != 0 {
		t.Fatalf("%+v: %s", got, r.ssh("alice", "", "log --text x").stdout)
	}
	bob := r.open(r.dial("bob"), 80, 24, "attach x")
	bob.sees("led")
	bob.typeIn(" ")
	bob.sees("cut off")
}

// TestTheNextDoorLeadsWhatTheOneBeforeHasLeft: to the same path, and removes what nobody needs.
func TestTheNextDoorLeadsWhatTheOneBeforeHasLeft(t *testing.T) {
	t.Parallel()
	var cfg Config
	state := t.TempDir()
	r := newRig(t, rigOptions{door: func(c *Config) {
		c.Policy.AgentForwarding, c.StateDir = true, state
		cfg = *c
	}})
	r.newKey("agentkey")
	r.ssh("alice", "", "new -d -n x -- "+
		`sh -c 'while read x; do ssh-add -l; echo "$x $SSH_AUTH_SOCK."; done'`)
	stale := filepath.Join(state, agentFolder, "stale")
	hosttest.Check(t, os.WriteFile(stale, nil, 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	hosttest.Check(t, r.server.Shutdown(ctx))
	var err error
	if r.server, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	r.serve("127.0.0.1:0")
	r.askAgent(r.withAgent("alice"), "send --enter x led "+filepath.Join(state, agentFolder))
	hosttest.Eventually(t, "it is answered", func() bool {
		return strings.Contains(r.ssh("alice", "", "log --text x").stdout, ".\n")
	})
	got := r.ssh("alice", "", "log --text x").stdout
	if !strings.Contains(got, r.fingerprint("agentkey")) || !strings.Contains(got, "led "+
		filepath.Join(state, agentFolder)+" "+filepath.Join(state, agentFolder)+"/") {
		t.Errorf("it is led to %q", got)
	}
	if _, err := os.Stat(stale); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what nobody needs stays: %v", err)
	}
}

// TestAnAgentIsNotForwardedFromInsideATerminal: it would be led to itself.
func TestAnAgentIsNotForwardedFromInsideATerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{door: func(c *Config) { c.Policy.AgentForwarding = true }})
	laptop := r.keyAgent("laptop")
	p, _ := r.sshOnPty("alice", laptop, "new -n x -- sh")
	p.typeIn("ssh -n -A -o IdentityAgent=SSH_AUTH_SOCK " + r.client(r.addr) +
		" run -- sh -c '\"echo in${SSH_AUTH_SOCK}side\"'; ssh-add -l\r")
	p.sees("inside")
	p.sees(r.fingerprint("laptop"))
}

// TestACommandThatIsNoTerminalHasItsPeersAgent: as under sshd.
func TestACommandThatIsNoTerminalHasItsPeersAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{door: func(c *Config) {
		c.Policy.AgentForwarding, c.Policy.Shell = true, true
	}})
	r.newKey("agentkey")
	c := r.withAgent("alice")
	out, _ := r.askAgent(c, "ssh-add -l; echo; echo $SSH_AUTH_SOCK")
	keys, socket, _ := strings.Cut(out, "\n\n")
	if !strings.Contains(keys, r.fingerprint("agentkey")) {
		t.Errorf("its agent's keys: %q", out)
	}
	if _, err := os.Stat(socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket %q after its end: %v", socket, err)
	}
	if got := r.ssh("alice", "", "echo $SSH_AUTH_SOCK"); got.stdout != "\n" {
		t.Errorf("without an agent it has %+v", got)
	}
}

// A terminal's SSH_AUTH_SOCK leads to the newest connection of whoever holds it, and to nobody
// else.
func TestTheAgentOfATerminalIsItsHoldersNewest(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": ""},
		door: func(c *Config) { c.Policy.AgentForwarding = true }})
	r.newKey("agentkey")
	asked := 0
	ask := func(by string) string {
		t.Helper()
		asked++
		end := fmt.Sprintf("end %d", asked)
		var log string
		for _, command := range []string{"send --enter x " + end, "wait --timeout 1m --match '^" + end + "' x",
			"log --text x"} {
			done := r.ssh(by, "", command)
			if log = done.stdout; done.status != 0 {
				t.Fatalf("%s: %+v", command, done)
			}
		}
		log = log[:strings.LastIndex(log, end)]
		if i := strings.LastIndex(log, "begin\n"); i >= 0 {
			log = log[i:]
		}
		return log
	}
	const loop = "stty -echo; while read x; do echo begin; ssh-add -l; echo \"$x\"; done"
	c := r.withAgent("alice")
	if _, ok := r.askAgent(c, "new -d -n x -- "+loop); !ok {
		t.Fatal("no agent is forwarded")
	}
	key := r.fingerprint("agentkey")
	if out := ask("alice"); !strings.Contains(out, key) {
		t.Errorf("its maker's agent has %q", out)
	}
	c.Close()
	hosttest.Eventually(t, "without a connection it is refused", func() bool {
		return !strings.Contains(ask("alice"), "SHA256:")
	})
	bob := r.withAgent("bob")
	r.askAgent(bob, "whoami")
	if out := ask("alice"); strings.Contains(out, "SHA256:") {
		t.Errorf("it reaches bob's agent, who does not hold it: %q", out)
	}
	r.askAgent(r.withAgent("alice"), "whoami")
	if out := ask("alice"); !strings.Contains(out, key) {
		t.Errorf("a newer connection's agent has %q", out)
	}
	r.server.SetPolicy(Policy{})
	if out := ask("alice"); strings.Contains(out, "SHA256:") {
		t.Errorf("with agent_forwarding = false it reaches %q", out)
	}
}

func TestWhoMayForwardAnAgent(t *testing.T) {
	t.Parallel()
	people := map[string]string{"alice": "", "oscar": asOperator, "olga": asObserver,
		"no": "no-agent-forwarding", "strict": "restrict,pty"}
	r := newRig(t, rigOptions{people: people,
		door: func(c *Config) { c.Policy.AgentForwarding = true }})
	r.newKey("agentkey")
	for name := range people {
		c := r.withAgent(name)
		_, forwarded := r.askAgent(c, "whoami")
		if want := name == "alice" || name == "oscar"; forwarded != want {
			t.Errorf("%s: %v, want %v", name, forwarded, want)
		}
		c.Close()
	}
	r.server.SetPolicy(Policy{})
	out, forwarded := r.askAgent(r.withAgent("alice"), "run -- printenv SSH_AUTH_SOCK")
	if forwarded || out != "" {
		t.Errorf("with agent_forwarding = false: %v, %q", forwarded, out)
	}
}
