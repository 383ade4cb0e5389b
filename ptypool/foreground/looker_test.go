package foreground

import "testing"

// TestALookerSeesWhatRuns looks at programs that read a line, and then do not read any more: by themselves, in a child,
// and in another thread.
func TestALookerSeesWhatRuns(t *testing.T) {
	t.Parallel()
	for name, argv := range map[string][]string{
		"the program":    {"sh", "-c", "read x; exec sleep 1000"},
		"its child":      {"sh", "-c", "head -n 1; sleep 1000"},
		"another thread": {"python3", "-c", "import sys, threading\nthreading.Thread(target=sys.stdin.readline).start()\nthreading.Event().wait()"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, master := start(t, argv[0], argv[1:]...)
			at := Terminal{Leader: p.pid, Group: p.pid, Canonical: true, Echo: true}
			var l Looker
			eventually(t, "does not read", func() bool { return l.Look(at) == Input })
			eventually(t, "does not rest", func() bool { return l.Look(at) == Input && len(l.ran) > 0 && l.ran[0].holds() })
			if _, err := master.WriteString("\n"); err != nil {
				t.Fatal(err)
			}
			eventually(t, "still reads", func() bool { return l.Look(at) == Busy })
		})
	}
}

// TestALookerDoesNotLookAgainAtWhatSleeps has it return what it saw, which is made up here.
func TestALookerDoesNotLookAgainAtWhatSleeps(t *testing.T) {
	t.Parallel()
	p, _ := start(t, "sleep", "1000")
	at := Terminal{Leader: p.pid, Group: p.pid}
	var l Looker
	eventually(t, "runs", func() bool {
		l.Look(at)
		l.state = Secret
		return l.Look(at) == Secret
	})
	at.Text = "another"
	if got := l.Look(at); got != Busy {
		t.Errorf("what is on the screen now is looked at as before: %d", got)
	}
}

func TestALookerNotesAllOrNothing(t *testing.T) {
	t.Parallel()
	p, _ := start(t, "sleep", "1000")
	n := &notes{}
	for range maxNoted {
		n.thread(p.pid)
	}
	if n.facts() == nil {
		t.Fatal("nothing is noted")
	}
	if n.thread(p.pid); n.facts() != nil {
		t.Fatal("a part of the threads is noted")
	}
	n = &notes{}
	n.thread(1 << 30)
	if n.facts() != nil {
		t.Error("a thread that is not there is left out")
	}
}
