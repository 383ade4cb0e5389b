package sshd

import (
	"io"
	"net"
	"testing"
	"time"

	"termhost/ahp/hosttest"
)

func TestSilentSocketsDoNotKeepPeopleOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{door: func(c *Config) { c.HandshakeTimeout = 2 * time.Second }})
	var silent []net.Conn
	for i := range 600 {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%100))}}
		nc, err := d.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		silent = append(silent, nc)
	}
	hosttest.Eventually(t, "no more than 100 are held", func() bool {
		return r.server.gate.Pending() <= 100
	})
	hosttest.Eventually(t, "somebody real gets in", func() bool {
		c, err := r.tryDial("alice")
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	for _, nc := range silent {
		if err := nc.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, nc); err != nil {
			if ne, ok := err.(net.Error); ok && ne.Timeout() {
				t.Fatal("a silent socket is still held")
			}
		}
	}
}

// Loopback stands for everybody on this machine: one of them who fails keeps nobody out.
func TestWhoeverFailsOnThisMachineKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.newKey("mallory")
	for range 20 {
		if _, err := r.tryDial("mallory"); err == nil {
			t.Fatal("mallory got in")
		}
	}
	r.dial("alice").Close()
}
