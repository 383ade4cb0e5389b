package host_test

import (
	"errors"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/authz/admit"
)

// Two people with keys of their own.
var (
	worker = authz.Principal{ID: "SHA256:worker", Fingerprint: "SHA256:worker", Role: authz.Operator}
	chief  = authz.Principal{ID: "SHA256:chief", Fingerprint: "SHA256:chief", Role: authz.Admin}
)

// of returns a token's and a guest's principal of the key of p.
func of(p authz.Principal) (token, guest authz.Principal) {
	token, guest = p, p
	token.ID, token.Token = p.ID+"/t", "t"
	guest.ID, guest.Fingerprint, guest.Inviter = "guest:g", "SHA256:guest", p.ID
	guest.Role = authz.Observer
	return token, guest
}

func TestAKeyItsTokensAndItsGuestsShareTheirConnections(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.MaxConnections, c.MaxWebSockets = 100, 80 })
	token, guest := of(worker)
	var open []*host.Conn
	enter := func(p authz.Principal, door string) error {
		c, err := h.Connect(p, door)
		if err == nil {
			t.Cleanup(c.Close)
			open = append(open, c)
		}
		return err
	}
	for i := range 20 { // a quarter of 80
		who := []authz.Principal{worker, token, guest}[i%3]
		if err := enter(who, host.DoorWebSocket); err != nil {
			t.Fatalf("number %d: %v", i, err)
		}
	}
	var quota *admit.QuotaError
	for _, p := range []authz.Principal{worker, token, guest} {
		for _, door := range []string{host.DoorWebSocket, host.DoorUnix, host.DoorForward, host.DoorSubsystem} {
			if err := enter(p, door); !errors.As(err, &quota) || quota.Limit != 20 {
				t.Errorf("%s by %s: %v", p.ID, door, err)
			}
		}
	}
	for _, p := range []authz.Principal{worker, token} {
		if err := enter(p, host.DoorSSH); err != nil {
			t.Errorf("SSH is counted with the rest: %v", err)
		}
	}
	other := worker
	other.ID, other.Fingerprint = "SHA256:other", "SHA256:other"
	for i := range 80 {
		if err := enter(chief, host.DoorWebSocket); err != nil {
			t.Fatalf("an admin's number %d: %v", i, err)
		}
	}
	if err := enter(other, host.DoorWebSocket); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	open[0].Close()
	if err := enter(guest, host.DoorWebSocket); err != nil {
		t.Errorf("there is room again: %v", err)
	}
}

// An entry of the configuration counts for admins, too.
func TestLimitsOfAPrincipal(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	boss := chief
	boss.Limits = authz.Limits{Connections: 2, Terminals: 1}
	var c *host.Conn
	for range 2 {
		var err error
		c, err = h.Connect(boss, host.DoorSSH)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
	}
	var quota *admit.QuotaError
	if _, err := h.Connect(boss, host.DoorSSH); !errors.As(err, &quota) || quota.Limit != 2 {
		t.Errorf("a third connection: %v", err)
	}
	first, err := c.Create(host.CreateOptions{Argv: []string{"/bin/cat"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Create(host.CreateOptions{Argv: []string{"/bin/cat"}}); !errors.As(err, &quota) {
		t.Errorf("a second terminal: %v", err)
	}
	dispose(t, h, first.Terminal)
	if _, err := c.Create(host.CreateOptions{Argv: []string{"/bin/cat"}}); err != nil {
		t.Errorf("when the first is gone: %v", err)
	}
}

// The last terminals are for admins.
func TestTerminalsAreKeptForAdmins(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.MaxTerminals = 17 })
	cat := host.CreateOptions{Argv: []string{"/bin/cat"}}
	for i := range 8 {
		p := worker
		if i%2 > 0 {
			p.ID, p.Fingerprint = "SHA256:other", "SHA256:other"
		}
		for range 2 {
			if _, err := hosttest.Create(h, p, cat); err != nil {
				t.Fatal(err)
			}
		}
	}
	var quota *admit.QuotaError
	if _, err := hosttest.Create(h, worker, cat); !errors.As(err, &quota) || quota.Own {
		t.Errorf("an operator's: %v", err)
	}
	if _, err := hosttest.Create(h, chief, cat); err != nil {
		t.Errorf("an admin's: %v", err)
	}
}

func TestSubscriptionsOfAnAccountAreCountedTogether(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	token, guest := of(worker)
	n := 0
	for _, p := range []authz.Principal{worker, token, guest, chief} {
		c, err := h.Connect(p, host.DoorWebSocket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		if e := c.Subscribe("ahp-root://", func(dst []byte, _ store.View) []byte { return dst }); e == nil {
			n++
		}
		if got := c.AccountSubscriptions(); p != chief && got != n {
			t.Errorf("%s: %d, want %d", p.ID, got, n)
		}
	}
}
