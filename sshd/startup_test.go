package sshd

import (
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"
)

func TestSilentSocketsDoNotKeepPeopleOut(t *testing.T) {
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
	r.server.gate.mu.Lock()
	held := r.server.gate.pending
	r.server.gate.mu.Unlock()
	if held > 100 {
		t.Errorf("%d are held, want at most 100", held)
	}
	eventually(t, "somebody real gets in", func() bool {
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

func TestOneSourceHoldsTenStartups(t *testing.T) {
	r := newRig(t, rigOptions{door: func(c *Config) { c.MaxStartups = Startups{100, 1, 200} }})
	for range 50 {
		nc, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
	}
	eventually(t, "all are accepted or refused", func() bool {
		r.server.gate.mu.Lock()
		defer r.server.gate.mu.Unlock()
		return r.server.gate.pending == startupsPerSource
	})
}

func TestASourceThatFailsAgainAndAgainWaits(t *testing.T) {
	var later atomic.Int64 // how far the door's clock is ahead
	r := newRig(t, rigOptions{door: func(c *Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	}})
	r.newKey("mallory")
	fail := func(times int) {
		for range times {
			if _, err := r.tryDial("mallory"); err == nil {
				t.Fatal("mallory got in")
			}
		}
	}
	fail(4)
	r.dial("alice").Close() // who comes from the same machine, and is forgiven
	fail(int(penaltyMinLoopback/penaltyAuth) + 1)
	eventually(t, "the penalty counts", func() bool {
		r.server.gate.mu.Lock()
		defer r.server.gate.mu.Unlock()
		return r.server.gate.refusedLocked(netip.MustParseAddr("127.0.0.1"))
	})
	if _, err := r.tryDial("alice"); err == nil {
		t.Error("the penalty does not keep anybody out")
	}
	later.Store(int64(penaltyLoopback))
	eventually(t, "the penalty passes", func() bool { // a late failure of mallory's may still count
		c, err := r.tryDial("alice")
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}
