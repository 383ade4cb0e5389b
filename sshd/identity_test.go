package sshd

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
	"termhost/authz"
)

type whoami struct{ Name, Role, Fingerprint string }

func (r *rig) whoami(key string, options ...string) whoami {
	r.t.Helper()
	got := r.runSSH("", append(r.sshArgs(key, options...), "whoami", "--json")...)
	var w whoami
	if err := json.Unmarshal([]byte(got.stdout), &w); err != nil {
		r.t.Fatalf("whoami: %v: %+v", err, got)
	}
	return w
}

// The client asks about the admin's public key, whose private half it does not have, and then signs
// with its own key.
func TestIdentityIsOfTheKeyThatSigned(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"admin": "", "mine": asObserver}})
	// A public key alone: ssh offers it, the host says it would do, and nothing can sign.
	if err := os.Rename(r.path("admin"), r.path("admin.elsewhere")); err != nil {
		t.Fatal(err)
	}
	got := r.whoami("mine", "-i", r.path("admin.pub"))
	if want := (whoami{"mine", "observer", r.fingerprint("mine")}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// This attacker asks about the admin's key, is told that it would do, and then signs with its own
// key on the same connection.
func TestAskingAboutAKeyGivesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"admin": "", "mine": asObserver}})
	cfg := r.clientConfig("mine")
	mine := r.signer("mine")
	pretended := pretender{r.signer("admin").PublicKey(), mine}
	cfg.Auth = []gossh.AuthMethod{gossh.PublicKeys(pretended, mine)}
	c, err := gossh.Dial("tcp", r.addr, cfg)
	if err != nil {
		// A forged signature may also end the connection, which is as good.
		t.Logf("refused: %v", err)
		return
	}
	defer c.Close()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Output("whoami --json")
	if err != nil || strings.Contains(string(out), r.fingerprint("admin")) {
		t.Errorf("whoami: %s, %v", out, err)
	}
}

// pretender offers one key and signs with another.
type pretender struct {
	shown gossh.PublicKey
	gossh.Signer
}

func (p pretender) PublicKey() gossh.PublicKey { return p.shown }

func TestAnUnknownKeyIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.newKey("mallory")
	got := r.runSSH("", append(r.sshArgs("mallory"), "whoami")...)
	if got.status != 255 || !strings.Contains(got.stderr, "Permission denied (publickey)") {
		t.Errorf("got %+v", got)
	}
}

func TestCertificatesOfATrustedAuthority(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"ca": "cert-authority,principals=\"me\""}})
	r.newKey("dora")
	keygen := func(args ...string) {
		t.Helper()
		cmd := exec.Command("ssh-keygen", args...)
		cmd.Dir = r.dir
		if out, err := hosttest.Output(cmd); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	keygen("-q", "-s", "ca", "-I", "dora@work", "-n", "me", "-V", "+1h", "dora.pub")
	if got := r.whoami("dora"); got.Fingerprint != r.fingerprint("dora") {
		t.Errorf("got %+v", got)
	}
	keygen("-q", "-s", "ca", "-I", "dora@work", "-n", "somebody", "-V", "+1h", "dora.pub")
	if got := r.runSSH("", append(r.sshArgs("dora"), "whoami")...); got.status != 255 {
		t.Errorf("a certificate for somebody else was let in: %+v", got)
	}
}

func TestNoWeakAlgorithmIsOffered(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	args := append([]string{"-vv"}, r.sshArgs("alice", "-o", "LogLevel=DEBUG2")...)
	got := r.runSSH("", append(args, "whoami")...)
	_, offer, ok := strings.Cut(got.stderr, "peer server KEXINIT proposal")
	if !ok {
		t.Fatalf("no proposal in:\n%s", got.stderr)
	}
	offer, _, _ = strings.Cut(offer, "compression stoc")
	for _, weak := range []string{
		"sha1", "ssh-rsa", "ssh-dss", "cbc", "md5", "group1-", "arcfour", "3des",
	} {
		if strings.Contains(offer, weak) {
			t.Errorf("%s is offered:\n%s", weak, offer)
		}
	}
	if !strings.Contains(offer, "kex-strict-s-v00@openssh.com") {
		t.Errorf("strict key exchange is not offered:\n%s", offer)
	}
	if !strings.Contains(got.stderr, "remote software version OpenSSH_9.9 termhost") {
		t.Error("the version says something else")
	}
}

func TestARemovedKeyEndsItsConnections(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": ""}})
	p := r.open(r.dial("bob"), 80, 24, "new -n bobs")
	p.typeIn("echo here-$((1+1))\r")
	p.sees("here-2")
	idle := r.dial("bob")
	r.removeKey("bob")
	p.sees("your key is no longer authorised")
	if err := idle.Wait(); err == nil {
		t.Error("the idle connection ended without an error")
	}
	if _, err := r.tryDial("bob"); err == nil {
		t.Error("the removed key still gets in")
	}
	if got := r.ssh("alice", "", "ls"); !strings.Contains(got.stdout, "bobs") {
		t.Errorf("the terminal is gone: %+v", got)
	}
}

func TestAForcedCommandIsAllThatRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{
		"robot": `command="echo only-this $SSH_ORIGINAL_COMMAND"`,
	}})
	for _, command := range []string{"whoami", "run -- id", "token"} {
		got := r.ssh("robot", "", command)
		if strings.TrimSpace(got.stdout) != "only-this "+command || got.status != 0 {
			t.Errorf("%s: %+v", command, got)
		}
	}
	got := r.runSSH("", append(r.sshArgs("robot", "-s"), "ahp")...)
	if got.status == 0 || !strings.Contains(got.stderr, "forced command") {
		t.Errorf("subsystem: %+v", got)
	}
}

func TestAForcedCommandsTerminalEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{
		"alice": "", "robot": `command="trap '' HUP; echo up; while :; do sleep 1; done"`,
	}})
	c := r.dial("robot")
	r.open(c, 80, 24, "anything").sees("up")
	if got := r.ssh("alice", "", "ls"); !strings.Contains(got.stdout, "running") {
		t.Errorf("while it runs: %+v", got)
	}
	c.Close()
	hosttest.Eventually(t, "its end", func() bool {
		return r.host.Stats().Terminals == 0
	})
}

func TestAReadOnlyKeyListsAndLooks(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "guest": "restrict"}})
	r.ssh("alice", "", "new -d -n work -- echo shown; sleep 1000")
	hosttest.Eventually(t, "output", func() bool {
		return strings.Contains(r.ssh("guest", "", "peek work").stdout, "shown")
	})
	for _, command := range []string{"run -- id", "new -d", "rm work", "send --enter work hello"} {
		got := r.ssh("guest", "", command)
		const rule = "not permitted: a read-only key may only list and read"
		if got.status != 1 || !strings.Contains(got.stderr, rule) {
			t.Errorf("%s: %+v", command, got)
		}
	}
	if got := r.ssh("guest", "", "ls"); !strings.Contains(got.stdout, "work") {
		t.Errorf("ls: %+v", got)
	}
	got := r.runSSH("", append(r.sshArgs("guest", "-tt"), "ls")...)
	const refused = "PTY allocation request failed" // and newer clients give up, as with sshd
	if !strings.Contains(got.stderr, refused) {
		t.Errorf("ls with a pty: %+v, want %q", got, refused)
	}
}

func TestAnExpiringCertificateEndsItsConnection(t *testing.T) {
	t.Parallel()
	now := time.Now()
	end := now.Add(8 * time.Second).UTC().Format("20060102150405Z")
	r := newRig(t, rigOptions{people: map[string]string{"brief": `expiry-time="` + end + `"`}})
	c := r.dial("brief")
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the connection outlives the key")
	}
}

func TestRolesOfPrincipals(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	r.ssh("alice", "", "new -d -n work -- cat")
	got := r.ssh("eve", "", "rm work")
	if got.status != 1 || !strings.Contains(got.stderr, "observers may only look") {
		t.Errorf("rm: %+v", got)
	}
	if got := r.ssh("eve", "", "run -- id"); got.status != 1 {
		t.Errorf("run: %+v", got)
	}
	if got := r.ssh("eve", "", "token"); got.status != 1 ||
		!strings.Contains(got.stderr, "hint: an agent of yours needs none: `ssh HOST -s ahp`") {
		t.Errorf("token: %+v", got)
	}
	if got := r.ssh("bob", "", "token --role admin"); got.status != 1 ||
		!strings.Contains(got.stderr, "hint: `ssh HOST token` makes one with the role operator") {
		t.Errorf("token --role admin: %+v", got)
	}
	if p := r.whoami("eve"); p.Role != authz.Observer.String() {
		t.Errorf("role %s", p.Role)
	}
}

func TestATokenIsAloneOnStdout(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	got := r.ssh("alice", "", "token --name agent --ttl 1h --role observer")
	secret := strings.TrimSuffix(got.stdout, "\n")
	if got.status != 0 || strings.ContainsAny(secret, " \n") || !strings.HasPrefix(secret, "tht_") {
		t.Fatalf("got %+v", got)
	}
	grant, err := r.authority.AuthenticateToken(secret, nil)
	if err != nil || grant.Principal.Name != "alice/agent" || grant.Principal.Role != authz.Observer {
		t.Errorf("the token is %+v, %v", grant.Principal, err)
	}
	if got := r.ssh("alice", "", "tokens"); !strings.Contains(got.stdout, "agent") {
		t.Errorf("tokens: %+v", got)
	}
	if got := r.ssh("alice", "", "token --revoke agent"); got.status != 0 {
		t.Errorf("revoke: %+v", got)
	}
	if _, err := r.authority.AuthenticateToken(secret, nil); err == nil {
		t.Error("the revoked token is still good")
	}
	if strings.Contains(r.log.String(), secret) {
		t.Error("the log holds the token")
	}
}

// While the SSH sessions of a removed key are being told so, nothing more is done for it.
func TestNothingIsDoneForARemovedKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": ""}})
	c := r.dial("bob")
	ready, _ := rawSession(t, c)
	agent, _ := rawSession(t, c)
	if !request(t, agent, "subsystem", stringMsg{"ahp"}) {
		t.Fatal("the subsystem was refused")
	}
	told := newTranscript()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(told, agent.Stderr())
	}()
	r.removeKey("bob")
	if _, ok := told.await("termhost: your key is no longer authorised\n"); !ok {
		t.Errorf("the agent was told %q", told.all())
	}
	if ok, _ := ready.SendRequest("exec", true, gossh.Marshal(stringMsg{"new -d -n late"})); ok {
		t.Error("a command was accepted")
	}
	if _, _, err := c.OpenChannel("session", nil); err == nil {
		t.Error("a channel was accepted")
	}
	_ = c.Wait()
	<-copied
	if got := r.ssh("alice", "", "ls --json"); strings.Contains(got.stdout, "late") {
		t.Error("a command ran")
	}
}
