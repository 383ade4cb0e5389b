package sshd

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/authz/admit"
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

// A peer that has sent its version has come further than a silent one, even before its algorithms.
func TestHalfAHandshakeIsNotResetForWhoSaysNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{door: func(c *Config) {
		c.MaxStartups = admit.Startups{Start: 5, Rate: 100, Full: 10}
	}})
	dial := func() net.Conn {
		nc, err := net.Dial("tcp", r.addr)
		hosttest.Check(t, err)
		t.Cleanup(func() { nc.Close() })
		return nc
	}
	first := dial()
	say(first, strangerName)
	hosttest.Eventually(t, "it is known to have come further", func() bool {
		return r.server.gate.Reached(named) == 1
	})
	for range 2 * 10 * startupBurst {
		dial()
	}
	say(first, strangerLists("curve25519-sha256", false), strangerKey(32))
	hosttest.Check(t, first.SetReadDeadline(time.Now().Add(patience)))
	const keyed = 700 // bytes: more than the host's algorithms, and less than its half of the keys
	if n, err := io.ReadAtLeast(first, make([]byte, 1<<10), keyed); err != nil {
		t.Errorf("its handshake ends after %d bytes: %v", n, err)
	}
}

func TestWhatHasComeAndIsNotReadIsNoticed(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	hosttest.Check(t, err)
	defer l.Close()
	far, err := net.Dial("tcp", l.Addr().String())
	hosttest.Check(t, err)
	defer far.Close()
	near, err := l.Accept()
	hosttest.Check(t, err)
	defer near.Close()
	if unread(near) {
		t.Error("it has come before it was sent")
	}
	say(far, "x")
	hosttest.Eventually(t, "it has come", func() bool { return unread(near) })
	_, err = near.Read(make([]byte, 10))
	hosttest.Check(t, err)
	if unread(near) {
		t.Error("it has come twice")
	}
}

// Whoever stops behind its keys is waited for: the host owes it nothing, and drops it before others.
func TestWhoStopsBehindItsKeysIsWaitedFor(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	gate := admit.NewGate(admit.GateOptions{Startups: admit.Startups{Start: 1, Rate: 1, Full: 1},
		Burst: 1, Stages: int(stages), Now: time.Now})
	var owed atomic.Bool
	h := &handshake{Conn: near, admission: gate.Proven(), turns: newTurns(1), owed: &owed}
	go say(far, strangerName, strangerPacket([]byte{msgNewKeys}))
	for buf := make([]byte, 1<<10); !h.over; {
		if _, err := h.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
	if owed.Load() {
		t.Error("the host owes it an answer")
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
