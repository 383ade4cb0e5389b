package sshd

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
	"termhost/authz"
	"termhost/authz/admit"
)

// What a command has no use for is thrown away, so that it takes no memory. An SSH channel takes
// 2 MiB that nobody reads.
func TestACommandWithoutInputTakesAllOfIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "olga": asObserver}})
	if got := r.ssh("alice", "", "new -d -n build -- sleep 1000"); got.status != 0 {
		t.Fatalf("%+v", got)
	}
	c := r.dial("olga")
	const much = 8 << 20
	var sending sync.WaitGroup
	for _, command := range []string{"wait build", "wait --timeout 1h build"} {
		s, err := c.NewSession()
		hosttest.Check(t, err)
		in, err := s.StdinPipe()
		hosttest.Check(t, err)
		hosttest.Check(t, s.Start(command))
		sending.Go(func() {
			n, err := io.Copy(in, io.LimitReader(zeros{}, much))
			if n != much || err != nil {
				t.Errorf("%s took %d bytes: %v", command, n, err)
			}
		})
	}
	sending.Wait()
	if got := r.ssh("alice", "", "rm build"); got.status != 0 {
		t.Errorf("%+v", got)
	}
}

// zeros is an endless stream.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// A program that takes nothing has the host keep what fits into the budget, and no more.
func TestUnreadInputKeepsToItsBudget(t *testing.T) {
	t.Parallel()
	r := newRigBeforeServe(t, rigOptions{
		people: map[string]string{"alice": ""},
		door:   func(c *Config) { c.Policy.Forwarding = ForwardLoopback },
	}, func(r *rig) { r.server.patience = time.Second }) // much is unread by then
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	hosttest.Check(t, err)
	defer deaf.Close()
	c := r.dial("alice")
	var sending sync.WaitGroup
	cut := make(chan struct{}, 100)
	for range 16 {
		nc, err := c.Dial("tcp", deaf.Addr().String())
		hosttest.Check(t, err)
		sending.Go(func() {
			if _, err := io.Copy(nc, io.LimitReader(zeros{}, 64<<20)); err != nil {
				cut <- struct{}{}
			}
		})
	}
	held := func() int64 {
		own, _ := r.server.unread.Add(r.fingerprint("alice"), 0)
		return own
	}
	most := int64(0)
	hosttest.Eventually(t, "much is unread, and channels are closed", func() bool {
		most = max(most, held())
		return most >= unreadPerAccount/2 && len(cut) > 4
	})
	if most > unreadPerAccount+2*unreadStep {
		t.Errorf("%d bytes were unread, of a budget of %d", most, unreadPerAccount)
	}
	if got := r.ssh("alice", "", "whoami"); got.stdout == "" {
		t.Errorf("others are held up: %+v", got)
	}
	c.Close()
	sending.Wait()
	hosttest.Eventually(t, "all is forgotten", func() bool { return held() == 0 })
}

// Whoever sends fast to a program that is slow, but reads, loses nothing.
func TestASlowReaderGetsAll(t *testing.T) {
	t.Parallel()
	r := newRigBeforeServe(t, rigOptions{}, func(r *rig) { r.server.patience = 20 * time.Second }) // all eight have begun by then
	const parts, much = 8, 4 << 20
	c := r.dial("alice")
	var sending sync.WaitGroup
	for range parts {
		sending.Go(func() {
			s, err := c.NewSession()
			hosttest.Check(t, err)
			s.Stdin = io.LimitReader(zeros{}, much)
			out, err := s.Output("run -- sleep 0.5; wc -c")
			if got := strings.TrimSpace(string(out)); err != nil || got != "4194304" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	sending.Wait()
}

// A peer that sends error output, which only servers do, cannot fill the host's memory with it.
func TestErrorOutputOfAPeerIsThrownAway(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	ch, reqs, err := r.dial("alice").OpenChannel("session", nil)
	hosttest.Check(t, err)
	go gossh.DiscardRequests(reqs)
	if _, err := io.Copy(ch.Stderr(), io.LimitReader(zeros{}, 8<<20)); err != nil {
		t.Error(err)
	}
}

// A guest counts with whoever invited it, and a token with its key.
func TestAccounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    authz.Principal
		want string
	}{
		{authz.Principal{ID: "SHA256:a", Fingerprint: "SHA256:a"}, "SHA256:a"},
		{authz.Principal{ID: "SHA256:a/t", Fingerprint: "SHA256:a", Token: "t"}, "SHA256:a"},
		{authz.Principal{ID: "guest:x", Fingerprint: "SHA256:b", Inviter: "SHA256:a"}, "SHA256:a"},
		{authz.ForUID(7), "uid:7"},
	} {
		if got := c.p.Account(); got != c.want {
			t.Errorf("%s is %s's", c.p.ID, got)
		}
	}
}

// The forwards of one account are bounded on all its connections together.
func TestForwardsAreCountedByAccount(t *testing.T) {
	t.Parallel()
	var b admit.Places
	enter := func(p authz.Principal) bool { return b.Take(p, forwardLimit) == nil }
	key := authz.Principal{ID: "SHA256:a", Fingerprint: "SHA256:a", Role: authz.Observer}
	other, admin := key, key
	other.Fingerprint, admin.Role = "SHA256:b", authz.Admin
	for i := range forwardsPerAccount {
		if !enter(key) {
			t.Fatalf("number %d is refused", i)
		}
	}
	if enter(key) || !enter(other) || !enter(admin) {
		t.Error("one too many, somebody else's or an admin's is not treated as such")
	}
	b.Leave(admin)
	b.Leave(key)
	b.Leave(other)
	if !enter(key) || enter(key) {
		t.Error("what has ended is counted")
	}
}

// An observer sends at the pace of its account, also what is thrown away.
func TestAnObserverSendsAtAPace(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"olga": asObserver}})
	c := r.dial("olga")
	ch, reqs, err := c.OpenChannel("session", nil)
	hosttest.Check(t, err)
	go gossh.DiscardRequests(reqs)
	start := time.Now()
	if _, err := io.Copy(ch.Stderr(), io.LimitReader(zeros{}, 16<<20)); err != nil {
		t.Error(err)
	}
	// 8 MiB may come at once, the rest takes a second. 2 MiB of it may still be on the way.
	if took := time.Since(start); took < 500*time.Millisecond {
		t.Errorf("16 MiB were taken in %v", took)
	}
}
