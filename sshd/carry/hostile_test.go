package carry_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest/slowtest"
	"termhost/sshd/typed"
	"termhost/sshd/wire"
)

// serves has a box serve the channels of every connection as it likes.
func (b *box) serves(f func(<-chan gossh.NewChannel)) {
	b.serve = func(_ fleet.Kind, _ roster.Member, nc net.Conn) {
		config := &gossh.ServerConfig{NoClientAuth: true}
		config.AddHostKey(b.fleet.Signer())
		_, chans, reqs, err := gossh.NewServerConn(nc, config)
		if err != nil {
			return
		}
		go gossh.DiscardRequests(reqs)
		f(chans)
	}
}

// brokenInto has a box serve what attack does with the session of a viewer that was carried there.
func (b *box) brokenInto(attack func(gossh.Channel)) {
	b.serves(func(chans <-chan gossh.NewChannel) {
		for nch := range chans {
			ch, reqs, err := nch.Accept()
			if err != nil {
				return
			}
			for req := range reqs {
				_ = req.Reply(true, nil)
				if req.Type == "exec" && strings.Contains(string(req.Payload), "attach") {
					go attack(ch)
				}
			}
		}
	})
}

// TestAHostThatStopsWhenItIsConnectedHoldsUpNobody: it still looks alive.
func TestAHostThatStopsWhenItIsConnectedHoldsUpNobody(t *testing.T) {
	slowtest.Skip(t)
	_, home, boxes := newTown(t, "box1")
	boxes[0].serves(func(chans <-chan gossh.NewChannel) {
		for range chans { // it opens none, and refuses none
		}
	})
	type end struct {
		out    string
		status int
	}
	ended := make(chan end, 1)
	for _, line := range []string{"peek box1/one", "ls"} {
		go func() {
			out, status := home.run(line)
			ended <- end{out, status}
		}()
		if got := slowtest.Receive(t, line, ended); !strings.Contains(got.out,
			"box1 is unreachable since ") {
			t.Errorf("%s: %q, status %d", line, got.out, got.status)
		}
	}
}

// A host that was broken into says everything that hosts say to each other, and more, without being
// asked. Nothing leads the person elsewhere, and what they type stays there.
func TestABrokenHostSendsNobodyElsewhere(t *testing.T) {
	_, home, boxes := newTown(t, "box1")
	home.makes("home", "secret", "home-")
	got := make(chan string, 1)
	boxes[0].brokenInto(func(ch gossh.Channel) {
		defer ch.Close()
		for _, name := range []string{"one", "home/secret", "../secret", "secret", "", "one"} {
			_, _ = ch.SendRequest(wire.ShowsTerminal, false, gossh.Marshal(&wire.Shows{Name: name}))
		}
		for n := range uint32(3) {
			_, _ = ch.SendRequest(wire.WantElsewhere, true, gossh.Marshal(&wire.Count{Count: n}))
		}
		for _, kind := range []string{"switch@termhost", wire.Arrives, wire.Listed, "exec", "shell", "subsystem",
			"window-change", "signal", "tcpip-forward"} {
			for _, key := range []string{"n", "l", "\t", "home/secret"} {
				_, _ = ch.SendRequest(kind, true, gossh.Marshal(&wire.Shows{Name: key}))
			}
		}
		_, _ = io.WriteString(ch, "\x1cn\x1c\t\x1clready\r\n")
		buf := make([]byte, 6)
		early := func(uint64) time.Duration { return -time.Second }
		_, _ = io.ReadFull(typed.NewReader(ch, early, nil), buf)
		got <- string(buf)
		_, _ = ch.SendRequest("exit-status", false, gossh.Marshal(&struct{ Status uint32 }{7}))
	})
	p := home.sits("attach box1/one")
	p.Sees("ready")
	p.Types("passwd")
	if text := slowtest.Receive(t, "what is typed", got); text != "passwd" {
		t.Errorf("the host gets %q", text)
	}
	p.SeesAll()
	if status := <-p.Status; status != 7 {
		t.Errorf("status %d", status)
	}
	if out, _ := home.run("peek home/secret"); strings.TrimSpace(out) != "home-" {
		t.Errorf("another terminal has got %q", out)
	}
	if out, _ := home.run("who home/secret"); !strings.Contains(out, "nobody") {
		t.Errorf("somebody watches: %s", out)
	}
}
