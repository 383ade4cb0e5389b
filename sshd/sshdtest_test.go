package sshd

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
	"termhost/keys"
)

func TestMain(m *testing.M) {
	hosttest.Main(m, hosttest.Program{Variable: crowdVariable, Run: crowdMain},
		hosttest.Program{Variable: filesVariable, Run: filesMain},
		hosttest.Program{Variable: stormVariable, Run: stormMain},
		hosttest.Program{Variable: passedVariable, Run: passedMain})
}

// patience bounds every wait of the tests. It is reached by failures only.
const patience = hosttest.Patience

// rig is a host with an SSH door, and people with keys.
type rig struct {
	t         testing.TB
	host      *host.Host
	authority *authz.Authority
	server    *Server
	addr      string
	dir       string
	log       hosttest.Log
}

// rigOptions change what a rig is made from.
type rigOptions struct {
	host func(*host.Config)
	door func(*Config)
	// people are authorized_keys lines' options by key name; default: alice.
	people  map[string]string
	entries []authz.Entry
	// everywhere has the server listen on all addresses, not only on loopback.
	everywhere bool
}

func newRig(t testing.TB, o rigOptions) *rig {
	t.Helper()
	return newRigBeforeServe(t, o, func(*rig) {})
}

// newRigBeforeServe is newRig with a last change before the server accepts.
func newRigBeforeServe(t testing.TB, o rigOptions, change func(*rig)) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	log := r.log.Logger()
	if o.people == nil {
		o.people = map[string]string{"alice": ""}
	}
	for name, options := range o.people {
		r.addKey(name, options)
	}
	r.newKey("hostkey")
	authorized := keys.Options{AuthorizedKeysFiles: []string{r.path("authorized_keys")},
		Home: r.dir, StateDir: r.dir, Interval: 20 * time.Millisecond}
	r.authority = hosttest.Authority(t, authorized, o.entries...)
	// Shells have a home of their own: the user's .bashrc is no part of the test.
	r.host = hosttest.New(t, func(c *host.Config) {
		c.Env, c.StateDir = map[string]string{"HOME": r.dir}, r.dir
		c.Authority, c.Log = r.authority, log
		if o.host != nil {
			o.host(c)
		}
	})
	cfg := Config{Host: r.host, Authority: r.authority, Version: "test", Log: log,
		HostKeys: []gossh.Signer{r.signer("hostkey")}}
	if o.door != nil {
		o.door(&cfg)
	}
	var err error
	if r.server, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	change(r)
	listen := "127.0.0.1:0"
	if o.everywhere {
		listen = "0.0.0.0:0"
	}
	r.serve(listen)
	return r
}

// serve runs the server until the test's end.
func (r *rig) serve(listen string) {
	r.t.Helper()
	l, err := net.Listen("tcp4", listen)
	if err != nil {
		r.t.Fatal(err)
	}
	r.addr = fmt.Sprintf("127.0.0.1:%d", l.Addr().(*net.TCPAddr).Port)
	served := make(chan error, 1)
	go func() { served <- r.server.Serve(l) }()
	r.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.host.Shutdown(ctx); err != nil {
			r.t.Errorf("host: %v", err)
		}
		if err := r.server.Shutdown(ctx); err != nil {
			r.t.Errorf("server: %v", err)
		}
		if err := <-served; !errors.Is(err, ErrServerClosed) {
			r.t.Errorf("Serve returned %v", err)
		}
		if r.t.Failed() {
			r.t.Logf("log:\n%s", &r.log)
		}
	})
	line := knownHostsLine(r.addr, r.signer("hostkey").PublicKey())
	r.write("known_hosts", line)
}

func knownHostsLine(addr string, key gossh.PublicKey) string {
	hostname, port, _ := net.SplitHostPort(addr)
	return fmt.Sprintf("[%s]:%s %s", hostname, port, gossh.MarshalAuthorizedKey(key))
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }

func (r *rig) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(r.path(name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) read(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(r.path(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.t.Fatal(err)
	}
	return string(b)
}

// newKey makes the key pair name and name.pub.
func (r *rig) newKey(name string) {
	r.t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		r.t.Fatal(err)
	}
	block, err := gossh.MarshalPrivateKey(private, name)
	if err != nil {
		r.t.Fatal(err)
	}
	r.write(name, string(pem.EncodeToMemory(block)))
	r.write(name+".pub", r.publicLine(name))
}

func (r *rig) publicLine(name string) string {
	key := gossh.MarshalAuthorizedKey(r.signer(name).PublicKey())
	return strings.TrimSpace(string(key)) + " " + name + "\n"
}

// addKey makes a key and authorises it.
func (r *rig) addKey(name, options string) {
	r.newKey(name)
	line := strings.TrimSpace(options+" "+r.publicLine(name)) + "\n"
	r.write("authorized_keys", r.read("authorized_keys")+line)
}

// removeKey takes a key's authorisation away.
func (r *rig) removeKey(name string) {
	var kept []string
	for _, line := range strings.SplitAfter(r.read("authorized_keys"), "\n") {
		if !strings.HasSuffix(line, " "+name+"\n") {
			kept = append(kept, line)
		}
	}
	r.write("authorized_keys", strings.Join(kept, ""))
}

func (r *rig) signer(name string) gossh.Signer {
	r.t.Helper()
	s, err := gossh.ParsePrivateKey([]byte(r.read(name)))
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func (r *rig) fingerprint(name string) string {
	return gossh.FingerprintSHA256(r.signer(name).PublicKey())
}

// sshArgs are the arguments of OpenSSH's client for a key, up to the command.
func (r *rig) sshArgs(key string, options ...string) []string {
	hostname, port, _ := net.SplitHostPort(r.addr)
	args := []string{"-F", "none", "-i", r.path(key), "-p", port,
		"-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none",
		"-o", "UserKnownHostsFile=" + r.path("known_hosts"), "-o", "StrictHostKeyChecking=yes",
		"-o", "BatchMode=yes", "-o", "LogLevel=ERROR"}
	args = append(args, options...)
	return append(args, "me@"+hostname)
}

// outcome is what a client's run came to.
type outcome struct {
	stdout, stderr string
	status         int
}

// ssh runs OpenSSH's client with a command and standard input.
func (r *rig) ssh(key, stdin string, command ...string) outcome {
	r.t.Helper()
	return r.runSSH(stdin, append(r.sshArgs(key), command...)...)
}

func (r *rig) runSSH(stdin string, args ...string) outcome {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ssh", args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := hosttest.Run(cmd)
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		r.t.Fatalf("ssh %s: %v\n%s%s", strings.Join(args, " "), err, &out, &errs)
	}
	return outcome{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// dial connects with x/crypto's client.
func (r *rig) dial(key string) *gossh.Client {
	r.t.Helper()
	c, err := r.tryDial(key)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return c
}

func (r *rig) tryDial(key string) (*gossh.Client, error) {
	return gossh.Dial("tcp", r.addr, r.clientConfig(key))
}

func (r *rig) clientConfig(key string) *gossh.ClientConfig {
	return &gossh.ClientConfig{User: "me", Auth: []gossh.AuthMethod{gossh.PublicKeys(r.signer(key))},
		HostKeyCallback: gossh.FixedHostKey(r.signer("hostkey").PublicKey()), Timeout: patience}
}
