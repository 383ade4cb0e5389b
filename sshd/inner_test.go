package sshd

import (
	"io"
	"net"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"
)

// innerConn is SSH inside of SSH, as the client has it.
type innerConn struct {
	net.Conn // nil
	gossh.Channel
}

func (c *innerConn) Read(p []byte) (int, error)  { return c.Channel.Read(p) }
func (c *innerConn) Write(p []byte) (int, error) { return c.Channel.Write(p) }
func (c *innerConn) Close() error                { return c.Channel.Close() }
func (c *innerConn) LocalAddr() net.Addr         { return &net.TCPAddr{} }
func (c *innerConn) RemoteAddr() net.Addr        { return &net.TCPAddr{} }

// inner opens SSH inside of SSH, without a key.
func (r *rig) inner(outer *gossh.Client) *gossh.Client {
	r.t.Helper()
	ch, reqs, err := outer.OpenChannel("session", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	go gossh.DiscardRequests(reqs)
	name := struct{ Name string }{"ssh"}
	if ok, err := ch.SendRequest("subsystem", true, gossh.Marshal(&name)); err != nil || !ok {
		r.t.Fatalf("the subsystem is refused: %v", err)
	}
	c, chans, more, err := gossh.NewClientConn(&innerConn{Channel: ch}, "inner", &gossh.ClientConfig{
		User: "anybody", HostKeyCallback: gossh.InsecureIgnoreHostKey(),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return gossh.NewClient(c, chans, more)
}

func runOn(t *testing.T, c *gossh.Client, command string) string {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	out, _ := s.CombinedOutput(command)
	return string(out)
}

// SSH inside of SSH is the same peer, whatever it calls itself, with the rights of its key, and ends
// with them.
func TestSSHInsideOfSSHIsTheSamePeer(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": "restrict"}})
	for _, key := range []string{"alice", "bob"} {
		outer := r.dial(key)
		inner := r.inner(outer)
		for _, command := range []string{"whoami", "rm nothing", "invites"} {
			if in, out := runOn(t, inner, command), runOn(t, outer, command); in != out {
				t.Errorf("%s, %s: %q, and outside %q", key, command, in, out)
			}
		}
		s, err := inner.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		said, err := s.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RequestSubsystem("ssh"); err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(said)
		if !strings.Contains(string(text), errInner.Error()) {
			t.Errorf("inside of that it says %q", text)
		}
	}
}

// When the key goes, whoever came with it is told inside as well.
func TestSSHInsideOfSSHEndsWithItsKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": ""}})
	outer := r.dial("bob")
	inner := r.inner(outer)
	p := r.open(inner, 80, 24, "new -n mine")
	p.typeIn("echo here-$((1+1))\r")
	p.sees("here-2")
	r.removeKey("bob")
	p.sees("your key is no longer authorised; mine goes on running")
	if status := p.status(); status != 255 {
		t.Errorf("the viewer ends with %d", status)
	}
	if err := inner.Wait(); err == nil {
		t.Error("the connection ends without an error")
	}
}
