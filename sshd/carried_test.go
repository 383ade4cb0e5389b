package sshd

import (
	"bytes"
	"errors"
	"net"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/authz"
)

// carry serves a connection from another host, and connects to it as that host does.
func (r *rig) carry(by Carried, client *gossh.ClientConfig) (*gossh.Client, error) {
	r.t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	defer l.Close()
	nc, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { nc.Close() })
	served, err := l.Accept()
	if err != nil {
		r.t.Fatal(err)
	}
	go r.server.ServeCarried(served, by)
	c, chans, reqs, err := gossh.NewClientConn(nc, "box", client)
	if err != nil {
		return nil, err
	}
	return gossh.NewClient(c, chans, reqs), nil
}

// The assertion is the user name, and only the door's key signs it.
func TestOnlyTheDoorsSignatureMakesAPrincipal(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "door": "", "thief": ""}})
	door := r.signer("door").PublicKey().Marshal()
	by := Carried{Host: "box", Signer: r.signer("hostkey"),
		Authenticate: func(user string, key gossh.PublicKey) (authz.Principal, string, error) {
			switch {
			case !bytes.Equal(key.Marshal(), door):
				return authz.Principal{}, "", ErrStranger
			case user != "assertion":
				return authz.Principal{}, "", errors.New("the clocks differ")
			}
			return authz.Principal{ID: "host:home/x", Name: "carol@home", Role: authz.Operator},
				"home", nil
		}}
	told := "" // to the peer
	login := func(user string, auth ...gossh.AuthMethod) (*gossh.Client, error) {
		told = ""
		return r.carry(by, &gossh.ClientConfig{User: user, Auth: auth,
			BannerCallback:  func(text string) error { told = text; return nil },
			HostKeyCallback: gossh.FixedHostKey(r.signer("hostkey").PublicKey())})
	}
	for name, refused := range map[string]func() (*gossh.Client, error){
		"another key": func() (*gossh.Client, error) {
			return login("assertion", gossh.PublicKeys(r.signer("thief")))
		},
		"another's key, signed with one's own": func() (*gossh.Client, error) {
			return login("assertion", gossh.PublicKeys(&masked{r.signer("thief"),
				r.signer("door").PublicKey()}))
		},
		"a key of this host's people": func() (*gossh.Client, error) {
			return login("alice", gossh.PublicKeys(r.signer("alice")))
		},
		"another assertion": func() (*gossh.Client, error) {
			return login("admin", gossh.PublicKeys(r.signer("door")))
		},
		"no key": func() (*gossh.Client, error) { return login("assertion") },
	} {
		if c, err := refused(); err == nil {
			c.Close()
			t.Errorf("%s is let in", name)
		}
		if why := name == "another assertion"; why != (told == "the clocks differ") {
			t.Errorf("%s is told %q", name, told)
		}
	}
	c, err := login("assertion", gossh.PublicKeys(r.signer("door")))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Output("whoami")
	if err != nil || !strings.HasPrefix(string(out), "carol@home") {
		t.Errorf("it is %q (%v)", out, err)
	}
	for _, verb := range []string{"token", "invite --terminal x", "page", "mcp"} {
		s, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		if out, err := s.CombinedOutput(verb); err == nil ||
			!strings.Contains(string(out), "is not for other hosts") {
			t.Errorf("%s: %q (%v)", verb, out, err)
		}
	}
	for _, name := range []string{"sftp", "mcp"} {
		s, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		if s.RequestSubsystem(name) == nil {
			t.Errorf("a carried connection has the subsystem %s", name)
		}
		s.Close()
	}
	for _, kind := range []string{"direct-tcpip", "direct-streamlocal@openssh.com", "x11"} {
		if _, _, err := c.OpenChannel(kind, nil); err == nil {
			t.Errorf("a carried connection has %s", kind)
		}
	}
	if ok, _, _ := c.SendRequest("tcpip-forward", true, nil); ok {
		t.Error("a carried connection has forwards")
	}
}

// masked shows another's public key.
type masked struct {
	gossh.Signer
	as gossh.PublicKey
}

func (m *masked) PublicKey() gossh.PublicKey { return m.as }
