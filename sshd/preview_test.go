package sshd

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"termhost/ahp/hosttest"
)

func TestOpenSSHIsOfferedTheCheaperCipher(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for _, c := range []struct{ options, cipher string }{
		{"", "aes128-gcm@openssh.com"},
		{"Ciphers=chacha20-poly1305@openssh.com", "chacha20-poly1305@openssh.com"},
		{"Ciphers=aes256-ctr", "aes256-ctr"},
		{"Ciphers=chacha20-poly1305@openssh.com,aes256-gcm@openssh.com", "aes256-gcm@openssh.com"},
	} {
		args := []string{"-v"}
		if c.options != "" {
			args = append(args, "-o", c.options)
		}
		args = append(args, r.sshArgs("alice", "-o", "LogLevel=DEBUG")...)
		got := r.runSSH("", append(args, "whoami")...)
		if got.status != 0 || !strings.Contains(got.stderr, "cipher: "+c.cipher) {
			t.Errorf("%s: %+v", c.options, got)
		}
	}
}

func TestAClientThatWaitsForOurKeyExchangeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	nc, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := nc.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(nc, "SSH-2.0-libssh_0.10\r\n"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, len(identification)+6)
	_, err = io.ReadFull(nc, b)
	version, first := string(b[:len(identification)]), b[len(b)-1]
	if err != nil || version != identification || first != msgKexInit {
		t.Errorf("got %q, %v", b, err)
	}
}

func TestGarbageInsteadOfAHandshake(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{door: func(c *Config) {
		c.HandshakeTimeout = 300 * time.Millisecond
		c.NoPenalties = true
	}})
	for _, garbage := range []string{
		"GET / HTTP/1.1\r\n\r\n",
		strings.Repeat("x", 5000),
		"SSH-2.0-OpenSSH_9.2\r\n\xff\xff\xff\xff" + strings.Repeat("x", 50000),
		"SSH-2.0-OpenSSH_9.2\r\n\x00\x00\x00\x06\xff\x14ab",
		"SSH-2.0-OpenSSH_9.2\r\n\x00\x00\x00\x00",
		"SSH-2.0-OpenSSH_9.2\r\n\x00\x00\x00\x05\x04\x14\x00\x00\x00",
		"\x00",
	} {
		nc, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = nc.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(nc, garbage)
		if _, err := io.Copy(io.Discard, nc); err != nil {
			if ne, ok := err.(net.Error); ok && ne.Timeout() {
				t.Errorf("%.30q: still open", garbage)
			}
		}
		nc.Close()
	}
	// A machine that is too slow for the short handshake gets another try.
	hosttest.Eventually(t, "somebody real gets in", func() bool {
		c, err := r.tryDial("alice")
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	if strings.Contains(r.log.String(), "panic") {
		t.Error("something panicked")
	}
}
