package host_test

import (
	"fmt"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
	"termhost/ptypool/foreground"
)

// warned waits until what is held first has a warning that holds reports true of.
func (g *guarded) warned(what string, holds func(warning string) bool) {
	g.t.Helper()
	hosttest.Eventually(g.t, what, func() bool {
		list, err := g.ann.Asks()
		return err == nil && len(list) > 0 && holds(list[0].Warning)
	})
}

// unlooked has nothing looked at what is held from now on, as if the next look took its time.
func (g *guarded) unlooked() {
	host.LookAtHeld(g.term, false)
}

// refusesYes checks that a yes is refused because the terminal has changed since the question was
// shown: first as the yes itself finds, and then as was listed for ann.
func (g *guarded) refusesYes(ask string) {
	g.t.Helper()
	for range 2 {
		if _, err := g.ann.Decide(g.term, nil, ask, host.ApproveOnce, ""); message(err) != actsNow {
			g.t.Fatalf("a yes to what is true no more: %v", err)
		}
	}
}

func TestAYesIsForTheProgramThatAnAskWasMeantFor(t *testing.T) {
	t.Parallel()
	for _, integrated := range []bool{false, true} {
		t.Run(fmt.Sprintf("integrated %v", integrated), func(t *testing.T) {
			t.Parallel()
			g := newGuardedShell(t, integrated)
			g.person("cat\r")
			hosttest.Eventually(t, "cat runs", func() bool {
				c := g.term.Info(alice).LastCommand
				return foreground.Name(foregroundGroup(g.term)) == "cat" &&
					(c != nil && c.Running || !integrated)
			})
			g.asks("rm -rf x\r")
			g.warned("cat is to read it", func(warning string) bool { return warning == "" })
			ask := g.first()
			g.unlooked()
			g.person("\x04")
			hosttest.Eventually(t, "cat ends", func() bool {
				return foregroundGroup(g.term) == host.Pid(g.term)
			})
			g.refusesYes(ask)
			g.warned("people are told", func(warning string) bool {
				return warning == "it was meant for cat, which has ended"
			})
			g.decides(g.ann, ask, host.ApproveOnce, "") // she knows now
		})
	}
}

func TestAnAskSaysThatAnotherProgramReads(t *testing.T) {
	t.Parallel()
	g := newGuardedShell(t, false)
	g.asks("ls\r")
	g.person("cat\r")
	g.runs()
	g.warned("the shell does not read it", func(warning string) bool {
		return strings.HasPrefix(warning, "it was meant for ") &&
			strings.HasSuffix(warning, ", which does not read it now")
	})
	g.person("\x04")
	g.warned("it does again", func(warning string) bool { return warning == "" })
}

func TestAnAskSaysWhichHalfLineItJoins(t *testing.T) {
	t.Parallel()
	g := newGuardedShell(t, false)
	g.asks("x\r")
	g.warned("nothing is typed", func(warning string) bool { return warning == "" })
	ask := g.first()
	g.unlooked()
	g.person("rm -rf /tmp/half")
	awaitOutput(t, g.h, g.term, "/tmp/half")
	g.refusesYes(ask)
	g.warned("people are told", func(warning string) bool {
		return strings.HasPrefix(warning, "it continues what is typed already: ") &&
			strings.HasSuffix(warning, "rm -rf /tmp/half")
	})
	host.LookAtHeld(g.term, true)
	g.person("\x03")
	g.warned("the line is gone", func(warning string) bool { return warning == "" })
}

func TestAsksOfOneTerminalShowNoOther(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "exec cat")
	second := newGuardedIn(t, g.h, "y")
	g.asks("one\r")
	second.asks("two\r")
	c := door(t, g.h, hosttest.Principal("carol", authz.Admin), host.DoorSSH)
	list, err := c.Asks(second.term)
	if err != nil || len(list) != 1 || list[0].Terminal != "y" {
		t.Fatalf("asks y: %+v, %v", list, err)
	}
	if _, err := c.Decide(g.term, nil, "", host.ApproveOnce, ""); err == nil {
		t.Error("what was not shown is approved")
	}
	if _, err := c.Decide(second.term, nil, "", host.ApproveOnce, ""); err != nil {
		t.Error(err)
	}
}
