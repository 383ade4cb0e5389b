package main

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/cmd/termhost/bench"
)

// besieged is a host with people of every role, and what others do to it.
type besieged struct {
	t         *testing.T
	dir       string
	host      *bench.Host
	signers   map[string]gossh.Signer
	addr, url string
}

// besiege starts a host with max connections, WebSockets and terminals.
func besiege(t *testing.T, most int) *besieged {
	t.Helper()
	b := &besieged{t: t, dir: hosttest.Dir(t), signers: map[string]gossh.Signer{}}
	config := bench.Config(b.dir) + fmt.Sprintf("state_dir = %q\n", filepath.Join(b.dir, "state")) +
		fmt.Sprintf("ssh.max_connections = %d\nhttp.max_connections = %[1]d\n", most) +
		fmt.Sprintf("terminal.max_terminals = %d\nssh.authorized_keys_files = []\n", most/2)
	for name, role := range map[string]string{
		"alice": "admin", "bob": "operator", "olga": "observer"} {
		b.signers[name] = newSigner(t)
		line := strings.TrimSpace(string(gossh.MarshalAuthorizedKey(b.signers[name].PublicKey())))
		config += fmt.Sprintf("[[principal]]\nname = %q\nrole = %q\nkeys = [%q]\n", name, role, line)
	}
	file := filepath.Join(b.dir, "config.toml")
	writeFile(t, file, hosttest.OwnedConfig(t.Name(), config))
	h, err := bench.StartHost("termhost", file, append(os.Environ(), "SHELL=/bin/sh",
		slowtest.Owner(t)), hosttest.LogFile(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Kill)
	b.host = h
	name, port := h.SSHAddress()
	b.addr, b.url = net.JoinHostPort(name, port), h.Find("ws://")
	return b
}

// dial logs in.
func (b *besieged) dial(name string) (*gossh.Client, error) {
	c, err := gossh.Dial("tcp", b.addr, &gossh.ClientConfig{User: "me",
		Auth:            []gossh.AuthMethod{gossh.PublicKeys(b.signers[name])},
		HostKeyCallback: gossh.InsecureIgnoreHostKey(), Timeout: patience})
	if err == nil {
		b.t.Cleanup(func() { c.Close() })
	}
	return c, err
}

// runOn runs a command and returns its output, or else what it says on stderr.
func runOn(c *gossh.Client, command string) (string, error) {
	s, err := c.NewSession()
	if err != nil {
		return "", err
	}
	defer s.Close()
	var errs strings.Builder
	s.Stderr = &errs
	out, err := s.Output(command)
	if err != nil {
		return errs.String(), err
	}
	return strings.TrimSpace(string(out)), nil
}

// silent opens connections that say something, or nothing, and then wait.
func (b *besieged) silent(addr, say string, n int) {
	for i := range n {
		// As many sources as the machine has loopback addresses.
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, byte(i/200), byte(1+i%200))}}
		c, err := d.Dial("tcp", addr)
		if err != nil {
			b.t.Fatal(err)
		}
		b.t.Cleanup(func() { c.Close() })
		if _, err := io.WriteString(c, say); err != nil {
			b.t.Fatal(err)
		}
	}
}

// attack does all that keeps people out, at once, until nothing more is let in.
func (b *besieged) attack(most int) {
	t := b.t
	t.Helper()
	bob, err := b.dial("bob")
	if err != nil {
		t.Fatal(err)
	}
	token, err := runOn(bob, "token")
	if err != nil {
		t.Fatal(token, err)
	}
	terminals := 0
	for ; ; terminals++ {
		if out, err := runOn(bob, "new -d -- sleep 1000"); err != nil {
			t.Logf("terminal %d is refused: %s", terminals+1, out)
			break
		}
	}
	connections := 0
	for ; ; connections++ {
		if _, err := b.dial("olga"); err != nil {
			break
		}
	}
	sockets := 0
	for ; ; sockets++ {
		c, _, err := websocket.DefaultDialer.Dial(b.url,
			http.Header{"Authorization": {"Bearer " + token}})
		if err != nil {
			break
		}
		t.Cleanup(func() { c.Close() })
		stay(c, fmt.Sprint("squatter-", sockets))
	}
	if terminals != max(16, most/8) || connections != most/4 || sockets != most/4 {
		t.Errorf("%d terminals, %d connections and %d WebSockets are somebody's", terminals,
			connections, sockets)
	}
	web := strings.TrimSuffix(strings.TrimPrefix(b.url, "ws://"), "/ahp")
	b.silent(web, "", most)
	b.silent(web, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", most)
	b.silent(b.addr, "", 2*most)
	b.silent(b.addr, "SSH-2.0-Silent\r\n", 2*most)
	for range 50 {
		b.silent(b.addr, "", 1)
	}
}

// stay has the host keep a connection: one that says nothing ends after some seconds, which a busy
// machine may need for all of them.
func stay(c *websocket.Conn, id string) {
	_ = c.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize",`+
		`"params":{"channel":"ahp-root://","protocolVersions":["0.5.0"],"clientId":"`+id+`"}}`))
	go func() { // answers pings
		for {
			if _, _, err := c.NextReader(); err != nil {
				return
			}
		}
	}()
}

// serves checks that everybody else is let in while the attack goes on, and says how long it took.
func (b *besieged) serves() {
	t := b.t
	t.Helper()
	timed := func(what string, f func() error) {
		start := time.Now()
		if err := f(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		t.Logf("%s: %v", what, time.Since(start).Round(100*time.Microsecond))
	}
	var alice *gossh.Client
	timed("an admin's login", func() (err error) {
		alice, err = b.dial("alice")
		return err
	})
	if alice == nil {
		return
	}
	timed("a terminal for it", func() error {
		_, err := runOn(alice, "new -d -n mine -- sleep 1000")
		return err
	})
	token, err := runOn(alice, "token --name mine")
	if err != nil {
		t.Fatal(err)
	}
	timed("a WebSocket of its agent", func() error {
		c, _, err := websocket.DefaultDialer.Dial(b.url,
			http.Header{"Authorization": {"Bearer " + token}})
		if err == nil {
			c.Close()
		}
		return err
	})
	timed("the door through its forward", func() error {
		c, err := alice.Dial("tcp", "ahp:80")
		if err != nil {
			return err
		}
		return healthy(c)
	})
	timed("the unix socket", func() error {
		c, err := net.Dial("unix", filepath.Join(b.dir, "state", "ahp.sock"))
		if err != nil {
			return err
		}
		return healthy(c)
	})
}

// healthy asks for /healthz.
func healthy(c net.Conn) error {
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	context.AfterFunc(ctx, func() { c.Close() })
	if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return nil
}

// However much an observer, an operator, an agent and people without a key take, they keep nobody
// else out.
func TestNobodyIsLockedOut(t *testing.T) {
	t.Parallel()
	const most = 64
	b := besiege(t, most)
	b.attack(most)
	b.serves()
}

// The same at the size of a host without a configuration.
func TestNobodyIsLockedOutOfALargeHost(t *testing.T) {
	slow(t)
	const most = 1000
	b := besiege(t, most)
	b.attack(most)
	b.serves()
}

// newSigner makes a key.
func newSigner(t testing.TB) gossh.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := gossh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}
