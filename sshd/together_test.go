package sshd

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
)

// As many as a loop of a script, or `make -j`, starts.
func TestTwentyClientsAtOnceAllGetIn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for range 3 {
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				cmd := exec.CommandContext(t.Context(), "ssh",
					append(r.sshArgs("alice"), "run", "--", fmt.Sprintf("echo %d", i))...)
				if got, err := hosttest.Output(cmd); got != fmt.Sprintf("%d\n", i) || err != nil {
					t.Errorf("client %d: %q, %v", i, got, err)
				}
			})
		}
		all.Wait()
	}
}

// rekeyAfter is how many bytes are sent before keys are exchanged anew.
const rekeyAfter = 256 << 10

// Both sides send while keys are exchanged anew, with the ciphers that OpenSSH 10 prefers.
func TestKeysAreExchangedAnewUnderLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	data := make([]byte, 12*rekeyAfter)
	_, _ = rand.Read(data)
	for _, cipher := range []string{gossh.CipherAES128GCM, gossh.CipherChaCha20Poly1305} {
		args := r.sshArgs("alice", "-v", "-o", fmt.Sprintf("RekeyLimit=%d", rekeyAfter), "-o", "Ciphers="+cipher)
		cmd := exec.CommandContext(t.Context(), "ssh", append(args, "run", "--", "cat")...)
		var out, errs bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(data), &out, &errs
		if err := hosttest.Run(cmd); err != nil || !bytes.Equal(out.Bytes(), data) {
			t.Errorf("%s: %d bytes came back, or others; %v\n%s", cipher, out.Len(), err, &errs)
		}
		if n := strings.Count(errs.String(), "SSH2_MSG_NEWKEYS received"); n < 10 {
			t.Errorf("%s: keys were exchanged %d times", cipher, n)
		}
	}
}

// OpenSSH 10's own key exchange is a hybrid one (its release notes, 10.0), which a client that is
// older does not have.
func TestHybridKeysAreExchangedAnewUnderLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	data := make([]byte, 24*rekeyAfter)
	_, _ = rand.Read(data)
	cfg := r.clientConfig("alice")
	cfg.Config = gossh.Config{KeyExchanges: []string{gossh.KeyExchangeMLKEM768X25519},
		Ciphers: []string{gossh.CipherChaCha20Poly1305}, RekeyThreshold: rekeyAfter}
	c, err := gossh.Dial("tcp", r.addr, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var all sync.WaitGroup
	for range 3 { // at once on one connection
		all.Go(func() {
			s, err := c.NewSession()
			if err != nil {
				t.Error(err)
				return
			}
			s.Stdin = bytes.NewReader(data)
			if out, err := s.Output("run -- cat"); err != nil || !bytes.Equal(out, data) {
				t.Errorf("%d bytes came back, or others; %v", len(out), err)
			}
		})
	}
	all.Wait()
}
