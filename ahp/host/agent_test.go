package host_test

import (
	"errors"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// sessionClaim is that of an agent session.
var sessionClaim = ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/s1"}

func TestAnAgentsTerminalGoesByItsNameUntilAPersonTakesItAndAgainAfterwards(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term, err := hosttest.Create(h, bot, host.CreateOptions{Name: "work", Argv: []string{"cat"},
		Claim: sessionClaim, Agent: "gem\x1bini"})
	if err != nil {
		t.Fatal(err)
	}
	agents := func() {
		t.Helper()
		if got := term.Info(alice); got.Holder != "alice/bot/gem_ini" || got.Claim != sessionClaim {
			t.Fatalf("it is held by %+v", got)
		}
	}
	agents()
	v := attach(t, h, alice, "work", host.AttachOptions{})
	if err := v.a.Input([]byte("x\x7f")); err != nil {
		t.Fatal(err)
	}
	if got := term.Info(alice); !got.Mine || got.Holder != alice.Name {
		t.Fatalf("a person holds it, and it is %+v", got)
	}
	if who, err := v.handBack(); err != nil || who != "alice/bot/gem_ini" {
		t.Fatalf("handed back to %q, %v", who, err)
	}
	agents()
	if err := v.a.Input([]byte("x\x7f")); err != nil {
		t.Fatal(err)
	}
	v.a.Close()
	agents()
}

func TestAnExitedTerminalIsForgottenByWhoMayDisposeIt(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term, err := hosttest.Create(h, bot, host.CreateOptions{Name: "work", Argv: []string{"cat"}, Claim: sessionClaim})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Forget(bot, term); err != nil || lookup(h, term.URI()) == nil {
		t.Fatalf("one that runs was forgotten, %v", err)
	}
	if err := h.Hangup(bot, term, 0); err != nil {
		t.Fatal(err)
	}
	wait(t, "its exit", term.Done())
	var denied *authz.Denied
	if err := h.Forget(carol, term); !errors.As(err, &denied) || lookup(h, term.URI()) == nil {
		t.Fatalf("somebody else has it forgotten, %v", err)
	}
	if err := h.Forget(bot, term); err != nil || lookup(h, term.URI()) != nil {
		t.Fatalf("it is listed still, %v", err)
	}
}
