package viewtest

import (
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"strings"
	"sync"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/page"

	"termhost/ahp/ws"
	"termhost/authz"
	"termhost/keys"
	"termhost/sshd"
)

// canary is in all that alice's agent wants to do and that others must not read.
const canary = "kanarienvogel"

// The terminals of alice's agent.
const (
	typed   = "typed"   // where it wants to type, and to do what its editor has to permit
	started = "started" // whose program has not been started
)

var (
	alice = hosttest.Principal("alice", authz.Admin)
	agent = authz.Principal{ID: "SHA256:alice/bot", Name: "alice/bot", Role: authz.Operator,
		Fingerprint: "SHA256:alice", Token: "bot"}
)

// site is a host with its doors, on which an agent of alice's waits for approvals.
type site struct {
	t      *testing.T
	host   *host.Host
	web    *ws.Server
	ssh    *sshd.Server
	routes []ws.Route
	alice  *host.Conn
	agent  *line
}

func newSite(t *testing.T) *site {
	dir := t.TempDir()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	hosttest.Check(t, err)
	key, err := gossh.NewSignerFromKey(private)
	hosttest.Check(t, err)
	authority := hosttest.Authority(t, keys.Options{Home: dir, StateDir: dir})
	s := &site{t: t}
	s.host = hosttest.New(t, func(c *host.Config) {
		c.StateDir, c.Env, c.GuardAgents = dir, map[string]string{"HOME": dir}, true
		c.Shell, c.Authority = "/bin/sh", authority
	})
	s.routes = page.Routes(page.Config{Authority: authority, AHPPath: "/ahp",
		Room: func(authz.Grant, ws.Peer) error { return nil }})
	s.web = ws.New(ws.Config{Host: s.host, Authority: authority, Routes: s.routes})
	s.ssh, err = sshd.New(sshd.Config{Host: s.host, Authority: authority, StateDir: dir,
		HostKeys: []gossh.Signer{key}})
	hosttest.Check(t, err)
	s.alice = hosttest.Conn(t, s.host, alice)
	s.agent = s.dial(agent).ahp()
	for _, name := range []string{"first", typed} {
		s.agent.create(name, "")
	}
	s.agent.types("first", "echo "+canary)
	s.holds("first", 1)
	list, err := s.alice.Asks(s.find("first"))
	hosttest.Check(t, err)
	_, err = s.alice.Decide(s.find("first"), nil, list[0].Ask, host.RefuseOnce, "no "+canary)
	hosttest.Check(t, err)
	s.agent.types(typed, "echo "+canary+`\r`)
	s.holds(typed, 1)
	editor := hosttest.Conn(t, s.host, agent)
	hosttest.Check(t, editor.AskPermission(s.find(typed), "key", "permit "+canary))
	s.holds(typed, 2)
	s.agent.sends(started, `"command":"/bin/sh","args":["-c","echo `+canary+`"]`)
	s.holds(started, 1)
	return s
}

func (s *site) find(name string) *host.Terminal {
	s.t.Helper()
	t, err := s.alice.Find(name)
	hosttest.Check(s.t, err)
	return t
}

// holds waits until so much of the agent's is held in a terminal, with the canary.
func (s *site) holds(name string, n int) {
	s.t.Helper()
	hosttest.Eventually(s.t, "something is held in "+name, func() bool {
		var t *host.Terminal
		if t, _ = s.alice.Find(name); t == nil {
			return false
		}
		list, err := s.alice.Asks(t)
		hosttest.Check(s.t, err)
		for _, is := range list {
			if !strings.Contains(is.Text, canary) {
				s.t.Fatalf("held in %s: %+v", name, is)
			}
		}
		return len(list) == n
	})
}

// pipe returns the two ends of a connection.
func pipe(t *testing.T) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	hosttest.Check(t, err)
	defer l.Close()
	far, err = net.Dial("tcp", l.Addr().String())
	hosttest.Check(t, err)
	near, err = l.Accept()
	hosttest.Check(t, err)
	return near, far
}

// client is an SSH connection of a principal.
type client struct {
	*gossh.Client
	s *site
	p authz.Principal
}

func (s *site) dial(p authz.Principal) *client {
	s.t.Helper()
	near, far := pipe(s.t)
	var serving sync.WaitGroup
	serving.Go(func() { s.ssh.ServeConn(near, p, "") })
	c, channels, requests, err := gossh.NewClientConn(far, "host", &gossh.ClientConfig{
		User: "me", HostKeyCallback: gossh.InsecureIgnoreHostKey()})
	hosttest.Check(s.t, err)
	made := &client{gossh.NewClient(c, channels, requests), s, p}
	s.t.Cleanup(func() {
		made.Close()
		serving.Wait()
	})
	return made
}

// audiences are the principals that must not read the input of alice's agent.
func (s *site) audiences() map[string]authz.Principal {
	of := func(name string) authz.Reach {
		t := s.find(name)
		return authz.ReachOf(t.ID(), t.Info(alice).CreatedAt)
	}
	return map[string]authz.Principal{
		"observer": hosttest.Principal("olga", authz.Observer),
		"guest": {ID: "guest:gwen:1", Name: "guest:gwen", Role: authz.Operator, Guest: "1",
			Fingerprint: "SHA256:gwen", Reach: of("first") + of(typed) + of(started), NoForward: true},
		"operator's agent": {ID: "SHA256:oscar/bot", Name: "oscar/bot", Role: authz.Operator,
			Fingerprint: "SHA256:oscar", Token: "bot"},
	}
}
