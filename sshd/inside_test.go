package sshd

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

// listenAt has the server listen at another address, too, and returns its port.
func (r *rig) listenAt(addr string) (port string) {
	r.t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		r.t.Skipf("%s: %v", addr, err)
	}
	served := make(chan error, 1)
	go func() { served <- r.server.Serve(l) }()
	r.t.Cleanup(func() { // before the server is shut down
		l.Close()
		if err := <-served; err != nil && !errors.Is(err, net.ErrClosed) {
			r.t.Errorf("Serve returned %v", err)
		}
	})
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		r.t.Fatal(err)
	}
	return port
}

// inside runs a command in a terminal of the host's, as alice.
func (r *rig) inside(command string) outcome {
	r.t.Helper()
	return r.ssh("alice", "", "run", "--", command)
}

// client is the arguments of ssh to an address, with alice's key.
func (r *rig) client(addr string) string {
	r.t.Helper()
	own := r.addr
	defer func() { r.addr = own }()
	if r.addr = addr; addr != own {
		line := knownHostsLine(addr, r.signer("hostkey").PublicKey())
		r.write("known_hosts", r.read("known_hosts")+line)
	}
	return strings.Join(r.sshArgs("alice"), " ")
}

// TestFromInsideATerminalEveryKeyIsAnAgents: a program of a guarded terminal that reads its user's
// key approves nothing of its own, however it reaches the door.
func TestFromInsideATerminalEveryKeyIsAnAgents(t *testing.T) {
	t.Parallel()
	r := newRig(t, forwarding(ForwardLoopback, crew()))
	r.ssh("alice", "", "new -d --guard -n work -- stty raw -echo; printf ready; exec cat -v")
	answer := r.agentOf()("deploy\r")
	hosttest.Eventually(t, "it is held", func() bool {
		return strings.Contains(r.ssh("eve", "", "ls").stdout, "waits: approval")
	})
	both := r.listenAt("[::]:0")
	v4, master := r.client(r.addr), "-S "+r.path("master")
	for name, client := range map[string]string{
		"IPv4":            "ssh " + v4,
		"IPv6":            "ssh " + r.client(net.JoinHostPort("::1", both)),
		"IPv4 to both":    "ssh " + r.client(net.JoinHostPort("127.0.0.1", both)),
		"mapped":          "ssh " + r.client(net.JoinHostPort("::ffff:127.0.0.1", both)),
		"another session": "setsid -w ssh " + v4,
		"no environment":  "env -i setsid -w $(command -v ssh) " + v4,
		"a proxy command": "ssh -o ProxyCommand='socat - TCP:" + r.addr + "' " + v4,
		"the host itself": "ssh -o ProxyCommand='ssh -W " + r.addr + " " + v4 + "' " + v4,
		"the host, mapped": "ssh -o ProxyCommand='ssh -W 127.0.0.1:" + both + " " + v4 + "' " +
			r.client(net.JoinHostPort("::ffff:127.0.0.1", both)),
		"the host twice": "ssh -o ProxyCommand=\"ssh -o ProxyCommand='ssh -W " + r.addr + " " + v4 +
			"' -W " + r.addr + " " + v4 + "\" " + v4,
		"a master": "ssh -MNf " + master + " " + v4 + "; ssh " + master + " " + v4,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("socat"); name == "a proxy command" && err != nil {
				slowtest.Missing(t, "socat is not installed")
			}
			got := r.inside(client + " approve work")
			if got.status == 0 || !strings.Contains(got.stderr, authz.RuleInside) {
				t.Errorf("approve: %+v", got)
			}
		})
	}
	for _, verb := range []string{"refuse work", "guard work off", "token",
		"invite --terminal work x"} {
		got := r.inside("ssh " + v4 + " " + verb)
		if got.status == 0 || !strings.Contains(got.stderr, authz.RuleInside) {
			t.Errorf("%s: %+v", verb, got)
		}
	}
	r.inside("ssh -O exit " + master + " " + v4)
	if got := r.screen(); got != "ready" {
		t.Errorf("the program was typed %q", got)
	}
	r.ssh("alice", "", "asks")
	if got := r.ssh("alice", "", "approve work"); got.status != 0 {
		t.Errorf("from outside: %+v", got)
	}
	if err := <-answer; err != nil {
		t.Errorf("the agent is told %v", err)
	}
}

// An MCP client is an operator at most, and so is what it starts, with whatever key that comes in:
// also from a terminal that a program of its terminal has created.
func TestWhatAnMCPClientStartsIsNoMoreThanTheClient(t *testing.T) {
	t.Parallel()
	r := newRig(t, forwarding(ForwardLoopback, crew()))
	r.ssh("alice", "", "new -d -n work -- exec cat")
	client := "ssh " + r.client(r.addr)
	l := r.mcp(r.dial("alice"))
	id := 0
	started := func(command string) string {
		id++
		text, err := json.Marshal(command)
		hosttest.Check(t, err)
		return r.mcpCall(l, id, "terminal_run", fmt.Sprintf(`{"command":%s,"wait_s":45}`, text))
	}
	own := started(client + " whoami --json")
	nested := started(client + ` run -- "` + client + ` whoami --json"`)
	inner := started("ssh -F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null " +
		"-o ProxyCommand='" + client + " -s ssh' anybody@inner whoami --json")
	for by, text := range map[string]string{"by itself": own, "from another terminal": nested,
		"by SSH inside of SSH": inner} {
		if !strings.Contains(text, `"operator"`) || !strings.Contains(text, `"alice/claude-code"`) {
			t.Errorf("%s: %s", by, text)
		}
	}
	if text := started(client + " rm work"); !strings.Contains(text, "alice has the keyboard") {
		t.Errorf("it ends a terminal that a person holds: %s", text)
	}
	if got := r.inside(client + " whoami --json"); !strings.Contains(got.stdout, `"admin"`) {
		t.Errorf("inside a person's own terminal: %+v", got)
	}
}

// TestWhatIsTypedFromInsideATerminalIsHeldAsAnAgents: it is shown as such, and has its key's name.
func TestWhatIsTypedFromInsideATerminalIsHeldAsAnAgents(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	r.ssh("alice", "", "new -d --guard -n work -- stty raw -echo; printf ready; exec cat -v")
	args := "ssh " + r.client(r.addr)
	if got := r.inside(args + " whoami"); !strings.Contains(got.stdout, "alice") {
		t.Errorf("whoami: %+v", got)
	}
	r.ssh("alice", "", "new -d -n inner -- "+args+" send work evil")
	hosttest.Eventually(t, "it is held", func() bool {
		return strings.Contains(r.ssh("alice", "", "asks").stdout, "inside a terminal")
	})
	if got := r.screen(); got != "ready" {
		t.Errorf("the program was typed %q", got)
	}
}
