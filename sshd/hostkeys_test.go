package sshd

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"os/exec"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
)

// newRSAKey makes the RSA key pair name and name.pub.
func (r *rig) newRSAKey(name string) {
	r.t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 3072)
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

// rotating is a rig that has two keys of one type and one of another. Its clients know the first.
func rotating(t *testing.T) (r *rig, reconfigure func(names ...string)) {
	t.Helper()
	var cfg Config
	r = newRigBeforeServe(t, rigOptions{door: func(c *Config) { cfg = *c }}, func(r *rig) {
		r.newKey("next")
		r.newRSAKey("rsa")
	})
	reconfigure = func(names ...string) {
		t.Helper()
		next := cfg
		next.HostKeys = nil
		for _, name := range names {
			next.HostKeys = append(next.HostKeys, r.signer(name))
		}
		if err := r.server.Configure(next); err != nil {
			t.Fatal(err)
		}
	}
	return r, reconfigure
}

// knows reports whether OpenSSH's client has learnt a host key.
func (r *rig) knows(name string) bool {
	key, _, _ := strings.Cut(r.publicLine(name), " "+name)
	return strings.Contains(r.read("known_hosts"), key)
}

func TestClientsLearnHostKeysBeforeTheOldOnesGo(t *testing.T) {
	t.Parallel()
	r, reconfigure := rotating(t)
	updating := r.sshArgs("alice", "-o", "UpdateHostKeys=yes")
	if got := r.runSSH("", append(updating, "whoami")...); got.status != 0 || r.knows("next") {
		t.Fatalf("with one key: %+v", got)
	}
	reconfigure("hostkey", "next", "rsa")
	// A command that is over at once may end the connection before that.
	hosttest.Eventually(t, "the client has learnt all keys", func() bool {
		if got := r.runSSH("", append(updating, "whoami")...); got.status != 0 || got.stderr != "" {
			t.Fatalf("with three keys: %+v", got)
		}
		return r.knows("hostkey") && r.knows("next") && r.knows("rsa")
	})
	for _, names := range [][]string{{"next", "rsa"}, {"rsa"}} {
		reconfigure(names...)
		if got := r.runSSH("", append(updating, "whoami")...); got.status != 0 || got.stderr != "" {
			t.Errorf("with %v: %+v", names, got)
		}
	}
	hosttest.Eventually(t, "the client has forgotten the keys that have gone", func() bool {
		r.runSSH("", append(updating, "whoami")...)
		return !r.knows("hostkey") && !r.knows("next")
	})
}

// An RSA key proves itself as it did in the key exchange, whichever algorithm that was.
func TestClientsLearnHostKeysFromAnRSAKey(t *testing.T) {
	t.Parallel()
	r, reconfigure := rotating(t)
	reconfigure("rsa", "next")
	for _, algorithm := range []string{"rsa-sha2-256", "rsa-sha2-512"} {
		r.write("known_hosts", knownHostsLine(r.addr, r.signer("rsa").PublicKey()))
		hosttest.Eventually(t, "the client has learnt the next key by "+algorithm, func() bool {
			got := r.runSSH("", append(r.sshArgs("alice", "-o", "UpdateHostKeys=yes",
				"-o", "HostKeyAlgorithms="+algorithm+",ssh-ed25519"), "whoami")...)
			if got.status != 0 || got.stderr != "" {
				t.Fatalf("%s: %+v", algorithm, got)
			}
			return r.knows("next")
		})
	}
}

func TestAClientWithoutAnSSHSessionLearnsHostKeys(t *testing.T) {
	t.Parallel()
	r, reconfigure := rotating(t)
	reconfigure("hostkey", "next")
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "ssh", r.sshArgs("alice", "-N", "-o", "UpdateHostKeys=yes")...)
	if err := hosttest.Start(cmd); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cancel()
	hosttest.Eventually(t, "the client has learnt the next key", func() bool { return r.knows("next") })
}

func TestOnlyTheHostsOwnKeysAreProven(t *testing.T) {
	t.Parallel()
	r, reconfigure := rotating(t)
	reconfigure("hostkey", "next")
	c := r.dial("alice")
	prove := func(payload []byte) bool {
		t.Helper()
		ok, _, err := c.SendRequest("hostkeys-prove-00@openssh.com", true, payload)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	blob := func(name string) []byte { return sshString(r.signer(name).PublicKey().Marshal()) }
	for name, payload := range map[string][]byte{
		"nothing": nil, "garbage": []byte("garbage"), "another's": blob("alice"),
		"one that it has no more": blob("rsa"), "an empty one": sshString(nil),
		"its own and another's": append(blob("hostkey"), blob("alice")...),
	} {
		if prove(payload) {
			t.Errorf("%s is proven", name)
		}
	}
	n := 0
	for prove(blob("next")) {
		if n++; n > 1000 {
			t.Fatal("there is no end of proofs")
		}
	}
	if n == 0 {
		t.Error("its own key is not proven")
	}
	if _, err := c.NewSession(); err != nil {
		t.Error("the connection has ended")
	}
}
