package acp

import (
	"fmt"
	"strings"
	"testing"

	"termhost/ahp/acp/wire"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// listed waits until n terminals are listed. An exit is told a moment before the terminal is counted
// among the exited ones.
func listed(t testing.TB, h *host.Host, n int) {
	t.Helper()
	hosttest.Eventually(t, fmt.Sprint(n, " terminals are listed"), func() bool {
		list, err := hosttest.List(h, alice)
		check(t, err)
		return len(list) == n
	})
}

func TestReleasedTerminalsStayListedForAWhile(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a := connect(t, h, alice)
	for range keepReleased + 5 {
		id, _ := a.sh("echo x")
		a.wait(id)
		a.must(wire.MethodRelease, of(id), nil)
	}
	listed(t, h, keepReleased)
}

func TestWhatIsNotReleasedStaysListedBesideWhatIs(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a := connect(t, h, alice)
	held, name := a.sh("echo held")
	a.wait(held)
	for range keepReleased + 1 {
		id, _ := a.sh("true")
		a.wait(id)
		a.must(wire.MethodRelease, of(id), nil)
	}
	listed(t, h, keepReleased+1)
	if _, err := hosttest.Find(h, alice, name); err != nil {
		t.Fatalf("the agent still has it: %v", err)
	}
	a.must(wire.MethodRelease, of(held), nil)
	listed(t, h, keepReleased)
	if _, err := hosttest.Find(h, alice, name); err != nil {
		t.Errorf("it was released last: %v", err)
	}
}

func TestExitedTerminalsOfAnAgentDoNotPushOthersOut(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t) // in whose list there is room for fewer than the agents run
	theirs, err := hosttest.Create(h, carol, host.CreateOptions{Name: "carols", Argv: []string{"true"}})
	check(t, err)
	<-theirs.Done()
	m := NewMethods(h, nil)
	var first, last, running string
	for n := range 3 { // agents of one principal, one after the other
		a := join(t, h, m, alice)
		for i := range keepHeld + 1 {
			id, name := a.sh(fmt.Sprintf("echo number %d", i))
			a.wait(id)
			if i == 0 {
				first = id
			}
			last = name
		}
		id, name := a.create(command("cat")) // which runs until the connection ends
		running = name
		listed(t, h, keepHeld+2+min(n, 1)*keepReleased)
		// What is not listed any more keeps its output.
		if out := a.output(first); out.Output != "number 0\r\n" || out.ExitStatus == nil {
			t.Fatalf("got %+v", out)
		}
		if out := a.output(id); out.Meta != nil {
			t.Fatalf("it says that it is gone: %+v", out.Meta)
		}
		a.leave()
		listed(t, h, keepReleased+1)
	}
	for _, name := range []string{"carols", last, running} {
		if _, err := hosttest.Find(h, alice, name); err != nil {
			t.Error(err)
		}
	}
}

// TestOfWhatAnAgentLeavesTheLastToExitStaysListed: all of it is released at once, so that the
// order of the exits decides.
func TestOfWhatAnAgentLeavesTheLastToExitStaysListed(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a := connect(t, h, alice)
	var exited []string
	running, _ := a.create(command("cat")) // made first, and the last to exit
	for range keepHeld {
		id, name := a.sh("true")
		a.wait(id)
		exited = append(exited, name)
	}
	a.leave()
	list, err := hosttest.List(h, alice)
	check(t, err)
	want := exited[len(exited)-keepReleased+1:]
	if len(list) != keepReleased || !strings.HasPrefix(running, list[0].Name+"-") {
		const why = "%d are listed, from %s on; want %d, from %s on"
		t.Fatalf(why, len(list), list[0].Name, keepReleased, running)
	}
	for i, name := range want {
		if list[i+1].Name != name {
			t.Errorf("%s is listed instead of %s", list[i+1].Name, name)
		}
	}
}

func TestWhatIsNotListedAnyMoreSaysSo(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a := connect(t, h, alice)
	id, _ := a.sh(leaving)
	pids := a.pids(id, 1)
	a.wait(id)
	for range keepHeld {
		id, _ := a.sh("true")
		a.wait(id)
	}
	listed(t, h, keepHeld)
	if out := a.output(id); out.Meta == nil || !out.Meta.Termhost.Gone {
		t.Fatalf("got %+v", out)
	}
	if !alive(pids[0]) {
		t.Error("what it left in the background was ended")
	}
	a.must(wire.MethodRelease, of(id), nil)
	dies(t, pids[0])
}
