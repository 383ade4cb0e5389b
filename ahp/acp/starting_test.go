package acp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termhost/ahp/acp/wire"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// asked returns what a person is to decide about in a terminal.
func asked(t *testing.T, person *host.Conn, name string) host.HeldInput {
	t.Helper()
	list, err := person.Asks()
	check(t, err)
	for _, is := range list {
		if is.Terminal == name {
			return is
		}
	}
	t.Fatalf("nothing is asked in %s: %+v", name, list)
	return host.HeldInput{}
}

// With guard_agents an agent's commands wait for a person's yes, while its requests are answered.
func TestAnAgentsCommandWaitsForAYes(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.GuardAgents = true })
	person, err := h.Connect(alice, host.DoorSSH)
	check(t, err)
	defer person.Close()
	a := connect(t, h, bot)
	dir := t.TempDir()
	decide := func(name string, d host.Decision, reason string) {
		t.Helper()
		is := asked(t, person, name)
		term, err := hosttest.Find(h, alice, name)
		check(t, err)
		_, err = person.Decide(term, nil, is.Ask, d, reason)
		check(t, err)
	}
	create := func() (id, name string) {
		t.Helper()
		id, name = a.create(command("touch", "ran").with("cwd", dir))
		if out := a.output(id); out.ExitStatus != nil || out.Output != "" {
			t.Errorf("before the decision: %+v", out)
		}
		return id, name
	}
	file := filepath.Join(dir, "ran")

	id, name := create()
	if is := asked(t, person, name); is.Text != "cd "+dir+"\ntouch ran" || is.Does != "starts" {
		t.Errorf("asked %+v", is)
	}
	decide(name, host.RefuseOnce, "not now")
	wantCode(t, a.wait(id), exitNotExecutable)
	out := a.output(id)
	wantCode(t, *out.ExitStatus, exitNotExecutable)
	if !strings.Contains(out.Output, "not started: refused by alice: not now") {
		t.Errorf("the output is %q", out.Output)
	}

	killed, _ := create()
	a.must(wire.MethodKill, of(killed), nil)
	wantCode(t, a.wait(killed), exitNotExecutable)

	released, gone := create()
	a.must(wire.MethodRelease, of(released), nil)
	hosttest.Eventually(t, "the released one asks no more", func() bool {
		list, err := person.Asks()
		check(t, err)
		for _, is := range list {
			if is.Terminal == gone {
				return false
			}
		}
		return true
	})
	if _, err := os.Stat(file); err == nil {
		t.Error("it ran without a yes")
	}

	id, name = create()
	decide(name, host.ApproveOnce, "")
	wantCode(t, a.wait(id), 0)
	_, err = os.Stat(file)
	check(t, err)
}
