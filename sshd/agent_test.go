package sshd

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"termhost/ahp/hosttest"
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
	socket, _ := r.askAgent(c, "run -- printenv SSH_AUTH_SOCK")
	if st, err := os.Stat(socket); err != nil || st.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("its socket: %v, %v", st, err)
	}
	if another, _ := r.askAgent(r.withAgent("bob"), "run -- printenv SSH_AUTH_SOCK"); another != socket {
		t.Errorf("bob's socket is another one: %q", another)
	}
	for _, other := range []string{"alice", "bob"} {
		if got := r.ssh(other, "", "run -- printenv SSH_AUTH_SOCK"); got.stdout != "" {
			t.Errorf("a connection without an agent, %s's, gets %q", other, got.stdout)
		}
	}
	if _, err := net.Dial("unix", socket); err != nil {
		t.Error(err)
	}
	outside := exec.Command("ssh-add", "-l")
	outside.Env = []string{"SSH_AUTH_SOCK=" + socket, "PATH=" + os.Getenv("PATH")}
	if out, err := hosttest.Output(outside); err == nil || strings.Contains(out, "SHA256") {
		t.Errorf("a process outside of all terminals reaches an agent: %s", out)
	}
}

// A terminal's SSH_AUTH_SOCK leads to the newest connection of whoever holds it, and to nobody else.
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
