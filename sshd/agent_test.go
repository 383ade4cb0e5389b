package sshd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	folder := filepath.Dir(socket)
	if st, err := os.Stat(folder); err != nil || st.Mode() != fs.ModeDir|0o700 {
		t.Errorf("its folder: %v, %v", st, err)
	}
	if st, err := os.Stat(socket); err != nil || st.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("its socket: %v, %v", st, err)
	}
	if again, _ := r.askAgent(c, "run -- printenv SSH_AUTH_SOCK"); again != socket {
		t.Errorf("a second socket of one connection: %q", again)
	}
	for _, other := range []string{"alice", "bob"} {
		if got := r.ssh(other, "", "run -- printenv SSH_AUTH_SOCK"); got.stdout != "" {
			t.Errorf("another connection, %s's, gets %q", other, got.stdout)
		}
	}
	c.Close()
	hosttest.Eventually(t, "the folder goes with the connection", func() bool {
		_, err := os.Lstat(folder)
		return errors.Is(err, fs.ErrNotExist)
	})
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
