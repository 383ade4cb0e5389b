package host_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// TestTheFirstProcessOfATerminalMayUseItsHoldersAgent: it may ask before anybody finds the terminal.
func TestTheFirstProcessOfATerminalMayUseItsHoldersAgent(t *testing.T) {
	t.Parallel()
	h, said := hosttest.New(t), filepath.Join(t.TempDir(), "pid")
	if err := syscall.Mkfifo(said, 0o600); err != nil {
		t.Fatal(err)
	}
	conn := hosttest.Conn(t, h, alice)
	for range 20 {
		made := make(chan error, 1)
		go func() {
			_, err := conn.Create(host.CreateOptions{Argv: sh("echo $$ >" + said + "; exec cat")})
			made <- err
		}()
		text, err := os.ReadFile(said)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if p, _, _ := h.CreatorOf(pid); p != alice {
			t.Errorf("it belongs to %+v", p)
		}
		if holder := h.AgentHolder(pid); holder != alice.ID {
			t.Errorf("it is led to the agent of %q", holder)
		}
		if err := <-made; err != nil {
			t.Fatal(err)
		}
	}
}

func TestCreatorOf(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, bot, "x", "exec cat")
	if p, _, ok := h.CreatorOf(host.Pid(term)); !ok || p != bot {
		t.Errorf("%+v %v", p, ok)
	}
	if p, _, ok := h.CreatorOf(os.Getpid()); ok {
		t.Errorf("this process belongs to %+v", p)
	}
	// What comes through a forward is proven by the SSH connection that it goes through.
	followed := false
	carries, err := h.Connect(alice, host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	defer carries.Close()
	carries.Prove(func(func(error)) func() { followed = true; return func() {} })
	forwarded := run(t, h, alice.AtMost(authz.Operator), "y", "exec cat")
	p, proof, ok := h.CreatorOf(host.Pid(forwarded))
	if !ok || p.Role != authz.Operator || proof == nil {
		t.Errorf("%+v %v", p, ok)
	} else if proof(nil); !followed {
		t.Error("it is another's proof")
	}
	other := run(t, h, carol, "z", "exec cat")
	if _, proof, _ := h.CreatorOf(host.Pid(other)); proof != nil {
		t.Error("carol's terminal goes with alice's key")
	}
}

// Whoever comes with a key of its own from a terminal that is not known may be an agent's.
func TestWhoHidesItsTerminalHoldsNothingOfThePersonWhoseKeyItHas(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	person, agent := run(t, h, alice, "x", "exec cat"), run(t, h, bot, "y", "exec cat")
	_, _, theirs := h.CreatorWithin(host.Pid(person))
	_, _, its := h.CreatorWithin(host.Pid(agent))
	for name, c := range map[string]struct {
		marker, who string
		role        authz.Role
	}{
		"a person's terminal":   {theirs, "alice", authz.Admin},
		"an agent's":            {its, "alice/bot", authz.Operator},
		"unknown":               {"", "alice/unknown", authz.Operator},
		"forgotten, or made up": {"realm-x", "alice/unknown", authz.Operator},
	} {
		p := h.Counts(alice, c.marker)
		if p.Name != c.who || p.Role != c.role || (p.ID == alice.ID) != (c.who == "alice") {
			t.Errorf("%s: it is %+v", name, p)
		}
	}
}

// A process that a terminal left behind counts as the creator's for as long as the creator is
// remembered, and then as nobody's: never as an admin's.
func TestTheCreatorOfAnEndedTerminalIsForgottenAndNotMistaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := hosttest.New(t, func(c *host.Config) { c.StateDir = dir })
	left := filepath.Join(dir, "left")
	term := run(t, h, bot, "x",
		`trap "" HUP; setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >`+left)
	<-term.Done()
	text, err := os.ReadFile(left)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if p, _, inside := h.CreatorOf(pid); !inside || p != bot {
		t.Errorf("it is %+v, %v", p, inside)
	}
	host.EndCreators(h, maxEndedCreators)
	later := hosttest.New(t, func(c *host.Config) { c.StateDir = dir })
	for name, h := range map[string]*host.Host{"long after": h, "a later host": later} {
		if p, _, inside := h.CreatorOf(pid); !inside || p != (authz.Principal{}) {
			t.Errorf("%s: it is %+v, %v", name, p, inside)
		}
	}
	if err := hosttest.Dispose(h, bot, term); err != nil {
		t.Error(err)
	}
}
